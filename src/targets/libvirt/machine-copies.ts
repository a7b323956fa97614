// A machine may be found more than once: by two addresses of one hypervisor, and as a copy that stayed on a host which did not answer
// when the machine was made elsewhere. What was made at the same time is the same machine, whatever the address: instance ids tell.

import type { PresentMachine } from './present-machine.ts'

export interface Copies {
  readonly current: PresentMachine
  /** Of no use any more. Not those whose data somebody wanted to keep. */
  readonly leftovers: readonly PresentMachine[]
}

export interface Belonging {
  /** Address of the hypervisor that it was on when all was well the last time. */
  readonly home: string | undefined
  /** Of the one that it is to be on. */
  readonly wanted: string | undefined
}

/** Each machine once; by the address that it is wanted at, where it is found by that one, too. */
export function instancesOf(found: readonly PresentMachine[], wanted: string | undefined): readonly PresentMachine[] {
  return sightings(found).map((seen) => seen.find(isAt(wanted)) ?? seen[0])
}

/** `found`: all copies of one machine. */
export function sortCopies(found: readonly PresentMachine[], { home, wanted }: Belonging): Copies {
  const all = sightings(found)
  const whole = all.filter(([{ record }]) => record.isKept !== true)
  const candidates = whole.length > 0 ? whole : all
  // Of what the file says nobody knows whether it has come true: what was at home has the data.
  const chosen =
    candidates.find((seen) => seen.some(isAt(home))) ??
    candidates.find((seen) => seen.some(isAt(wanted))) ??
    candidates[0]
  return {
    current: chosen.find(isAt(wanted)) ?? chosen[0],
    leftovers: whole.filter((seen) => seen !== chosen).map(([present]) => present),
  }
}

function sightings(found: readonly PresentMachine[]): readonly (readonly PresentMachine[])[] {
  return [...Map.groupBy(found, ({ record: { machine, instanceId } }) => `${machine} ${instanceId}`).values()]
}

function isAt(uri: string | undefined): (present: PresentMachine) => boolean {
  return ({ hypervisor }) => hypervisor.uri === uri
}
