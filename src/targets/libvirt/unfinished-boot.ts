// A machine whose first boot did not come to its end, as cloud-init says: power was lost, or something failed. Booting it again mends nothing, for
// cloud-init takes what it has begun for done. So it begins anew, as another instance, on a root disk that is new where it is ours.

import { HoldfastError, messageOf } from '../../lib/errors.ts'
import type { MachineRecord } from './machine-record.ts'
import { isRunning, type PresentMachine } from './present-machine.ts'
import { volumeOf } from './volume-of.ts'

/** It was switched on, and nobody saw it come up. Of one that was kept for its data, they count more. */
export function isUnfinished({ hasBooted = false, appliedDigest, isKept = false }: MachineRecord): boolean {
  return hasBooted && appliedDigest === undefined && !isKept
}

/** Why it never will come to its end; undefined as long as it may. `untilBooted` rejects when cloud-init has failed. */
export async function whyUnfinished(
  present: PresentMachine,
  untilBooted: () => Promise<unknown>,
): Promise<string | undefined> {
  // One that is off may have come up without anybody seeing it, and been used: it is started first, and then says so itself.
  if (!isUnfinished(present.record) || !isRunning(present)) return undefined
  try {
    await untilBooted()
    return undefined
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'CloudInitFailed')
      return messageOf(error).replaceAll(/\s*\n\s*/gu, ' ')
    throw error
  }
}

/** Switched off, and without a root disk of ours. */
export async function discardBoot(present: PresentMachine): Promise<PresentMachine> {
  const { hypervisor, domain, record } = present
  if (isRunning(present)) await hypervisor.destroy(domain.name)
  const { root } = record.disks
  const volume = root.isOurs ? await volumeOf(hypervisor, root) : undefined
  if (volume !== undefined) await hypervisor.deleteVolume(volume)
  return { ...present, domain: { ...domain, state: 'shut off', live: undefined } }
}

/** As it was before it was switched on for the first time. */
export function unborn(record: MachineRecord): MachineRecord {
  const { hasBooted: _, appliedDigest: __, started: ___, pending: ____, leftovers: _____, ...rest } = record
  return rest
}
