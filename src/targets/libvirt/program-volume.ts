// Our own program for machines that run it: a volume that is put on a hypervisor once for each version, and that goes when no
// machine has it any more. The same version is the same bytes, so whoever finds it half written writes it again.

import { mkdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { installProgram, programCommand } from '../program.ts'
import type { Domain, Hypervisor } from './hypervisor.ts'
import { buildIso } from './iso-image.ts'
import { type PlacedDisk, PROGRAM } from './placement.ts'
import { readAnyRecord } from './record-xml.ts'
import { withTemporaryDirectory } from './temporary-directory.ts'
import { createVolumeOf, volumeOf } from './volume-of.ts'

export interface ProgramPlace {
  readonly hypervisor: Hypervisor
  readonly disk: PlacedDisk
  /** For files that are gone when we are done. */
  readonly temporary: string
  readonly signal: AbortSignal
}

/** Part of the path of what runs, `/opt/holdfast/program/HASH/node`. */
export function programHash(): string {
  return dirname(programCommand(PROGRAM.home)[0]).split('/').at(-1) as string
}

export async function ensureProgram({ hypervisor, disk, temporary, signal }: ProgramPlace): Promise<void> {
  if (disk.format === 'dir') {
    await mkdir(disk.path, { recursive: true, mode: 0o755 })
    await installProgram(disk.path)
    return
  }
  const there = await volumeOf(hypervisor, disk)
  // What was not written yet takes no room.
  if (there !== undefined && there.allocationBytes >= there.capacityBytes) return
  await withTemporaryDirectory(temporary, async (parent) => {
    const [file, directory] = [join(parent, 'program.iso'), join(parent, 'volume')]
    await mkdir(directory, 0o755)
    await installProgram(directory)
    await buildIso({ file, label: PROGRAM.label, directory }, signal)
    const { size } = await stat(file)
    const isOfItsSize = there?.capacityBytes === size
    if (there !== undefined && !isOfItsSize) await hypervisor.deleteVolume(there)
    const volume = isOfItsSize ? there : await createVolumeOf(hypervisor, disk, { format: 'raw', capacityBytes: size })
    await hypervisor.upload(volume, file)
  })
}

/** Unless one of the domains has it. */
export async function removeProgram(
  hypervisor: Hypervisor,
  disk: PlacedDisk,
  domains: readonly Domain[],
): Promise<void> {
  if (domains.some((domain) => readAnyRecord(domain)?.disks.program?.path === disk.path)) return
  if (disk.format === 'dir') return rm(disk.path, { recursive: true, force: true })
  const volume = await volumeOf(hypervisor, disk)
  if (volume !== undefined) await hypervisor.deleteVolume(volume)
}
