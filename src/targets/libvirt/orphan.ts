// A machine whose domain somebody removed while its volumes were left. Its cloud-init volume says whose it is, so it is
// taken up again with everything on its disks; without that, nobody can tell a disk of ours from another of the same name.

import { HoldfastError } from '../../lib/errors.ts'
import type { Machine } from '../../machine/machine.ts'
import { ORPHAN_RECORD, readSeedJson, SEED_RECORD, type WrittenMachine } from './cloud-init/seed-record.ts'
import type { Hypervisor, Pool } from './hypervisor.ts'
import type { MachineRecord } from './machine-record.ts'
import { poolNameOf, seedVolumeName } from './place-facts.ts'
import type { SeedReading } from './present-machine.ts'
import { tryReadRecord } from './record-xml.ts'
import { readSeed } from './seed-volume.ts'

/** As it was written last. */
export async function orphanMachine(
  { disks }: MachineRecord,
  reading: SeedReading & { readonly hypervisor: Hypervisor },
): Promise<WrittenMachine | undefined> {
  const seed = await readSeed({ disk: disks.seed, ...reading })
  return readSeedJson(seed?.files.get(SEED_RECORD) ?? '')
}

/** Undefined when there is none, or when it is not of this machine. Containers have their files in the open. */
export async function findOrphan(
  hypervisor: Hypervisor,
  machine: Pick<Machine, 'name' | 'hardware'>,
  stack: string,
  { pools, ...reading }: SeedReading & { readonly pools: readonly Pool[] },
): Promise<MachineRecord | undefined> {
  const pool = poolNameOf(machine.hardware.cloudInitVolumePool, pools)
  if (pool === undefined || hypervisor.kind === 'lxc') return undefined
  const name = seedVolumeName(stack, machine)
  const volume = await hypervisor.findVolume(`${pool}/${name}`)
  if (volume === undefined) return undefined
  const disk = { path: volume.path, format: 'raw', pool, isOurs: true }
  const metadata = (await readSeed({ hypervisor, disk, ...reading }))?.files.get(ORPHAN_RECORD)
  const record = tryReadRecord(
    { metadata },
    {
      of: `"${ORPHAN_RECORD}" on volume "${pool}/${name}"`,
      hint: `if the machine that it is of may go, remove it and the disk that goes with it: virsh -c ${hypervisor.uri} vol-delete --pool ${pool} ${name}`,
    },
  )
  if (record instanceof HoldfastError) throw record
  if (record?.stack !== stack || record.machine !== machine.name) return undefined
  // Where it was found is where it is, however the address was spelled when it was made.
  return { ...record, hardware: { ...record.hardware, hypervisor: hypervisor.uri } }
}
