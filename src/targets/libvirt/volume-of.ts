// The volume that is the disk of a machine, if it is there.

import { basename } from 'node:path'
import { HoldfastError } from '../../lib/errors.ts'
import type { Hypervisor, NewVolume, Volume } from './hypervisor.ts'
import type { PlacedDisk } from './placement.ts'

export function volumeOf(hypervisor: Hypervisor, { pool, path }: PlacedDisk): Promise<Volume | undefined> {
  return hypervisor.findVolume(pool === undefined ? path : `${pool}/${basename(path)}`)
}

export function createVolumeOf(
  hypervisor: Hypervisor,
  { pool, path }: PlacedDisk,
  how: Pick<NewVolume, 'format' | 'capacityBytes' | 'backing'>,
): Promise<Volume> {
  if (pool === undefined)
    throw new HoldfastError('VolumeMissing', `Cannot make volume "${path}": it is in no pool of ours`)
  return hypervisor.createVolume({ pool, name: basename(path), ...how })
}
