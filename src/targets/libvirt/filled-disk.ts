// Whether there are data on the disks of a machine, as far as that can be told from outside.

import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hardware } from '../../machine/hardware.ts'
import type { Hypervisor, Volume } from './hypervisor.ts'
import { isRunning, type PresentMachine } from './present-machine.ts'
import { withTemporaryDirectory } from './temporary-directory.ts'
import { isUnfinished } from './unfinished-boot.ts'
import { volumeOf } from './volume-of.ts'

/** A file system takes more, an empty volume less. */
const EMPTY_BYTES = 1024 ** 2

/** Of a machine that is there, or of which the disks were kept. */
export async function hasFilledDisk({
  hypervisor,
  record,
  domain,
}: Pick<PresentMachine, 'hypervisor' | 'record'> & Partial<PresentMachine>): Promise<boolean> {
  const { hasBooted = false, disks } = record
  if (disks.data !== undefined) return hasBooted || isFilled(hypervisor, disks.data.path)
  if (domain !== undefined && isUnfinished(record) && !isRunning({ hypervisor, record, domain })) return false
  return hasBooted && (!disks.root.isOurs || (await volumeOf(hypervisor, disks.root)) !== undefined)
}

/** Of one that is not there: its data volume may be, with the data of the one before. */
export async function hasFilledVolume(hypervisor: Hypervisor, { dataVolumeId }: Hardware): Promise<boolean> {
  return dataVolumeId !== undefined && isFilled(hypervisor, dataVolumeId)
}

/** One that has all its room from the beginning tells by its first bytes, if they are those that a machine sees. */
async function isFilled(hypervisor: Hypervisor, id: string): Promise<boolean> {
  if (hypervisor.kind === 'lxc') return hasEntries(id)
  const volume = await hypervisor.findVolume(id)
  if (volume === undefined || volume.allocationBytes <= EMPTY_BYTES) return false
  return volume.format !== 'raw' || !(await isBlank(hypervisor, volume))
}

/** No file system, table of partitions or other label that would not be seen there. */
function isBlank(hypervisor: Hypervisor, volume: Volume): Promise<boolean> {
  return withTemporaryDirectory(tmpdir(), async (directory) => {
    const file = join(directory, 'beginning')
    const length = Math.min(EMPTY_BYTES, volume.capacityBytes)
    await hypervisor.download(volume, file, { offset: 0, length })
    return (await readFile(file)).every((byte) => byte === 0)
  })
}

/** Containers have directories, on this host. */
async function hasEntries(directory: string): Promise<boolean> {
  try {
    return (await readdir(directory)).length > 0
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
