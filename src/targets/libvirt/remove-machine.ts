// Switches a machine off, and takes away what it is made of. Volumes go first and the definition last: as long as something is left, it
// says whose that is. What others gave us, volumes with data above all, is never touched.
//
// A machine without a data volume has its data on its root disk. To keep them, disks and definition stay, marked as kept: when the
// machine is written again, it is the one that it was, with the same instance id, and cloud-init does nothing a second time.

import { setTimeout as sleep } from 'node:timers/promises'
import { isOn } from './domain-state.ts'
import { type MachineRecord, UNKNOWN_DIGEST } from './machine-record.ts'
import type { PresentMachine } from './present-machine.ts'
import { removeProgram } from './program-volume.ts'
import { recordElement } from './record-xml.ts'
import { removeSeed } from './seed-volume.ts'
import { volumeOf } from './volume-of.ts'

export interface StopOptions {
  /** Then it is ended, whatever it does. */
  readonly timeoutMs: number
  readonly onKill: () => void
  readonly signal: AbortSignal
}

const LOOK_MS = 300

/** Resolves when it is off. */
export async function stopMachine({ hypervisor, domain }: PresentMachine, options: StopOptions): Promise<void> {
  const { timeoutMs, onKill, signal } = options
  const deadline = performance.now() + timeoutMs
  await hypervisor.shutdown(domain.name)
  for (;;) {
    const now = await hypervisor.state(domain.name)
    if (now === undefined || !isOn(now)) return
    if (performance.now() > deadline) {
      onKill()
      await hypervisor.destroy(domain.name)
    }
    await sleep(LOOK_MS, undefined, { signal })
  }
}

/** What it has may be less than what was written for it. */
export async function forgetApplied({ hypervisor, domain, record }: PresentMachine): Promise<void> {
  await hypervisor.setMetadata(domain.name, recordElement({ ...record, ...unknownApplied(record) }))
}

/** One whose first boot came to no end begins anew. */
function unknownApplied({ appliedDigest }: MachineRecord): Pick<MachineRecord, 'appliedDigest'> {
  return appliedDigest === undefined ? {} : { appliedDigest: UNKNOWN_DIGEST }
}

/** Of one that is off. `hasServices`: it still has those that it had, and starts them when it starts. */
export async function keepMachine(
  { hypervisor, domain, record }: PresentMachine,
  { hasServices }: { readonly hasServices: boolean },
): Promise<void> {
  await hypervisor.autostart(domain.name, false)
  const { started = [] } = record
  const kept = {
    ...{ ...record, ...unknownApplied(record) },
    ...{ started: hasServices ? started : [], pending: {}, isKept: true },
  }
  await hypervisor.setMetadata(domain.name, recordElement(kept))
}

/** Whether its disks have data that would go with it. */
export function holdsData({ record: { hasBooted = false, disks } }: PresentMachine): boolean {
  return hasBooted && disks.data === undefined
}

/** Of one that is off. */
export async function deleteMachine(present: PresentMachine): Promise<void> {
  await deleteVolumes(present, present.domain.uuid)
  await present.hypervisor.undefine(present.domain.name)
}

/** `uuid`: of its domain, where there is one. */
export async function deleteVolumes(
  { hypervisor, record }: Pick<PresentMachine, 'hypervisor' | 'record'>,
  uuid?: string,
): Promise<void> {
  const { root, seed, program } = record.disks
  const volume = root.isOurs ? await volumeOf(hypervisor, root) : undefined
  if (volume !== undefined) await hypervisor.deleteVolume(volume)
  if (seed.isOurs) await removeSeed({ hypervisor, disk: seed })
  if (program !== undefined) {
    const others = (await hypervisor.domains()).filter((each) => each.uuid !== uuid)
    await removeProgram(hypervisor, program, others)
  }
}
