// Whether pools have room: for what is written at once, and for root disks that grow to their full size later.

import { type Finding, ok, problem, warning } from '../../finding.ts'
import { baseVolumeId, type PlaceFacts } from '../place-facts.ts'
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
  for (const { machine, placement } of placed) {
    const { seed, root, program } = placement.disks
    if (seed.pool === pool) atOnce += SEED_BYTES
    if (program?.pool === pool) programs.add(program.path)
    // What is there has its part of the pool already.
    if (root.pool === pool && !facts.domains.has(placement.domain)) later += rootBytes(machine.hardware, facts)
  }
  atOnce += programs.size * PROGRAM_BYTES
  return { atOnce, later: atOnce + later }
}

function rootBytes(hardware: PlacedMachine['machine']['hardware'], { volumes, pools }: PlaceFacts): number {
  if (hardware.volumeSizeGib !== undefined) return hardware.volumeSizeGib * GIB
  return volumes.get(baseVolumeId(hardware, pools) ?? '')?.capacityBytes ?? 0
}

function gib(bytes: number): string {
  return `${(bytes / GIB).toFixed(1)} GiB`
}
