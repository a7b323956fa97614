// A machine whose domain somebody removed while its volumes were left. Its cloud-init volume says whose it is, so it is
// taken up again with everything on its disks; without that, nobody can tell a disk of ours from another of the same name.

import { HoldfastError } from '../../lib/errors.ts'
import type { Machine } from '../../machine/machine.ts'
import { ORPHAN_RECORD, readSeedJson, SEED_RECORD, type WrittenMachine } from './cloud-init/seed-record.ts'
import type { Hypervisor, Pool } from './hypervisor.ts'
import type { MachineRecord } from './machine-record.ts'
import { defaultSeedName, poolNameOf, seedVolumeName } from './place-facts.ts'
import { directoryIn, type PlacedDisk } from './placement.ts'
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

/** Where it has its cloud-init volume under the name that is not given by anybody, in whatever pool. Containers have directories. */
export async function findAbandoned(
  hypervisor: Hypervisor,
  { stack, machine }: Pick<MachineRecord, 'stack' | 'machine'>,
  reading: SeedReading,
): Promise<MachineRecord | undefined> {
  const name = defaultSeedName(stack, machine)
  for (const { name: pool, path, isActive } of await hypervisor.pools()) {
    if (!isActive || path === undefined) continue
    const disk =
      hypervisor.kind === 'lxc' ? directoryIn({ name: pool, path }, name) : await seedIn(hypervisor, pool, name)
    const files = disk && (await readSeed({ hypervisor, disk, ...reading }))?.files
    const record = tryReadRecord({ metadata: files?.get(ORPHAN_RECORD) }, { of: '', hint: '' })
    if (record === undefined || record instanceof HoldfastError) continue
    if (record.stack === stack && record.machine === machine) return record
  }
  return undefined
}

async function seedIn(hypervisor: Hypervisor, pool: string, name: string): Promise<PlacedDisk | undefined> {
  const volume = await hypervisor.findVolume(`${pool}/${name}`)
  return volume && { path: volume.path, format: 'raw', pool, isOurs: true }
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
  const disk = await seedIn(hypervisor, pool, name)
  if (disk === undefined) return undefined
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
