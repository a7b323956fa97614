// Whether there are data on the disks of a machine, as far as that can be told from outside.

import type { Hardware } from '../../machine/hardware.ts'
import type { Hypervisor } from './hypervisor.ts'
import type { PresentMachine } from './present-machine.ts'
import { volumeOf } from './volume-of.ts'

/** A file system takes more, an empty volume less. */
const EMPTY_BYTES = 1024 ** 2

/** Of a machine that is there, or of which the disks were kept. */
export async function hasFilledDisk({
  hypervisor,
  record,
}: Pick<PresentMachine, 'hypervisor' | 'record'>): Promise<boolean> {
  const { hasBooted = false, disks } = record
  return hasBooted && (!disks.root.isOurs || (await volumeOf(hypervisor, disks.root)) !== undefined)
}

/** Of one that is not there: its data volume may be, with the data of the one before. */
export async function hasFilledVolume(hypervisor: Hypervisor, { dataVolumeId }: Hardware): Promise<boolean> {
  const volume = dataVolumeId === undefined ? undefined : await hypervisor.findVolume(dataVolumeId)
  if (volume === undefined) return false
  // One that has all its room from the beginning does not tell.
  return volume.allocationBytes > EMPTY_BYTES && volume.allocationBytes < volume.capacityBytes
}
