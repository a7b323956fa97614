// Our own program for machines that run it: a volume that is put on a hypervisor once for each version, and that goes when no
// machine has it any more. The same version is the same bytes, so whoever finds it half written writes it again: what is
// written last, behind the image, says that all of it is there.

import { appendFile, mkdir, readFile, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { installProgram, programCommand } from '../program.ts'
import type { Domain, Hypervisor, Volume } from './hypervisor.ts'
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

/** A sector of a CD-ROM, so that the image has whole ones. */
const END = Buffer.alloc(2048, 'holdfast: all is written\n')

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
  if (there !== undefined && (await isWhole(hypervisor, there, temporary))) return
  await withTemporaryDirectory(temporary, async (parent) => {
    const [file, directory] = [join(parent, 'program.iso'), join(parent, 'volume')]
    await mkdir(directory, 0o755)
    await installProgram(directory)
    await buildIso({ file, label: PROGRAM.label, directory }, signal)
    await appendFile(file, END)
    const { size } = await stat(file)
    const isOfItsSize = there?.capacityBytes === size
    if (there !== undefined && !isOfItsSize) await hypervisor.deleteVolume(there)
    const volume = isOfItsSize ? there : await createOrFind(hypervisor, disk, size)
    await hypervisor.upload(volume, file)
  })
}

/** Another stack may have made it in between: what it writes is the same. */
async function createOrFind(hypervisor: Hypervisor, disk: PlacedDisk, capacityBytes: number): Promise<Volume> {
  try {
    return await createVolumeOf(hypervisor, disk, { format: 'raw', capacityBytes })
  } catch (error) {
    const there = await volumeOf(hypervisor, disk)
    if (there?.capacityBytes !== capacityBytes) throw error
    return there
  }
}

async function isWhole(hypervisor: Hypervisor, volume: Volume, temporary: string): Promise<boolean> {
  const offset = volume.capacityBytes - END.length
  if (offset < 0) return false
  return withTemporaryDirectory(temporary, async (directory) => {
    const file = join(directory, 'end')
    await hypervisor.download(volume, file, { offset, length: END.length })
    return (await readFile(file)).equals(END)
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
