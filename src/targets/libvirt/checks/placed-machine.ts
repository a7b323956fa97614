// A machine that has found its place, as checks look at it.

import type { Machine } from '../../../machine/machine.ts'
import { isOn } from '../domain-state.ts'
import { domainName } from '../identity.ts'
import type { PlaceFacts } from '../place-facts.ts'
import type { Placement } from '../placement.ts'

export interface PlacedMachine {
  readonly machine: Machine
  readonly placement: Placement
}

/** What it takes from the host it has already. */
export function hasItsShare({ name }: Machine, { stack, domains }: PlaceFacts): boolean {
  const domain = domains.get(domainName(stack, name))
  return domain !== undefined && isOn(domain)
}

/** `"a", "b" and 3 others` */
export function namesOf(machines: readonly Machine[]): string {
  const [shown, others] = [machines.slice(0, 3), machines.length - 3]
  const names = shown.map(({ name }) => `"${name}"`).join(', ')
  return others > 0 ? `${names} and ${others} other${others === 1 ? '' : 's'}` : names
}
