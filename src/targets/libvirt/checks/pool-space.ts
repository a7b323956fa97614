// Whether pools have room: for what is written at once, and for root disks that grow to their full size later.

import { type Finding, ok, problem, warning } from '../../finding.ts'
import { baseVolumeId, type PlaceFacts } from '../place-facts.ts'
import { readAnyRecord } from '../record-xml.ts'
import type { PlacedMachine } from './placed-machine.ts'

const MIB = 1024 ** 2
const GIB = 1024 ** 3
/** The cloud-init volume with all files of a machine. */
const SEED_BYTES = 4 * MIB
/** Our own program with its runtime. */
const PROGRAM_BYTES = 200 * MIB

export function checkPoolSpace(placed: readonly PlacedMachine[], facts: PlaceFacts): readonly Finding[] {
  return facts.pools.flatMap((pool) => {
    const { atOnce, later } = wantedOf(pool.name, placed, facts)
    if (atOnce === 0) return []
    const message = `pool "${pool.name}" has ${gib(pool.availableBytes)} left; disks that are made there may grow to ${gib(later)}`
    const fix = 'free space there, or name another "volume_pool"'
    if (pool.availableBytes < atOnce) return [problem('disk', message, fix)]
    return [pool.availableBytes < later ? warning('disk', message, fix) : ok('disk', message)]
  })
}

function wantedOf(
  pool: string,
  placed: readonly PlacedMachine[],
  facts: PlaceFacts,
): { atOnce: number; later: number } {
  let [atOnce, later] = [0, 0]
  const programs = new Set<string>()
  const there = new Set([...facts.domains.values()].map((domain) => readAnyRecord(domain)?.disks.program?.path))
  for (const { machine, placement } of placed) {
    const { seed, root, program } = placement.disks
    // What is there has its part of the pool already.
    const isNew = !facts.domains.has(placement.domain)
    if (seed.pool === pool && isNew) atOnce += SEED_BYTES
    if (program?.pool === pool && !there.has(program.path)) programs.add(program.path)
    if (root.pool === pool && isNew) later += rootBytes(machine.hardware, facts)
  }
  atOnce += programs.size * PROGRAM_BYTES
  return { atOnce, later: atOnce + later }
}

function rootBytes(hardware: PlacedMachine['machine']['hardware'], { volumes, pools }: PlaceFacts): number {
  if (hardware.volumeSizeGib !== undefined) return hardware.volumeSizeGib * GIB
  return volumes.get(baseVolumeId(hardware, pools) ?? '')?.capacityBytes ?? 0
}

function gib(bytes: number): string {
  return bytes < GIB ? `${Math.floor(bytes / MIB)} MiB` : `${(bytes / GIB).toFixed(1)} GiB`
}
