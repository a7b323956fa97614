// A machine that is not found may still run where nobody can see it: made a second time, both would have its address and its name.

import { HoldfastError } from '../lib/errors.ts'
import type { Machine } from '../machine/machine.ts'
import type { ExistingMachine, Unread } from '../targets/target.ts'

interface Sight {
  /** By machine. */
  readonly homes: Readonly<Record<string, string>>
  readonly unread: readonly Unread[]
}

export function refuseUnseen(
  machines: readonly Machine[],
  existing: ReadonlyMap<string, ExistingMachine>,
  { homes, unread }: Sight,
): void {
  for (const { name, hardware } of machines) {
    const home = homes[name]
    const silent = unread.find(({ where }) => where === home)
    if (silent === undefined || existing.has(name)) continue
    throw new HoldfastError(
      'MachineUnseen',
      `Cannot make "${name}" on ${hardware.hypervisor}: it was on ${home}, which does not answer, and may still run there`,
      {
        hint: `once ${home} answers, it is removed there and made anew; if that host is gone for good, "--without ${home}" goes on`,
        retryable: true,
        cause: silent.error,
      },
    )
  }
}
