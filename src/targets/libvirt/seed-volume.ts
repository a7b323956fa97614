// The cloud-init volume of a machine, written and read back: files on an ISO 9660 image, or in a directory for containers. Its digest is in
// the domain's metadata, which others may read; so one of the files is nothing but chance, and nobody can try passwords
// until the digest fits.

import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, rm, rmdir, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HoldfastError } from '../../lib/errors.ts'
import { isLeftover, replaceFile } from '../../lib/atomic-file.ts'
import { ORPHAN_RECORD, SEED_RECORD } from './cloud-init/seed-record.ts'
import type { Hypervisor, Volume } from './hypervisor.ts'
import { buildIso, extractFromIso } from './iso-image.ts'
import type { PlacedDisk } from './placement.ts'
import { withTemporaryDirectory } from './temporary-directory.ts'
import { createVolumeOf, volumeOf } from './volume-of.ts'

/** By name. */
export type SeedFiles = ReadonlyMap<string, string>

export interface Seed {
  readonly digest: string
  readonly files: SeedFiles
}

export interface SeedPlace {
  readonly hypervisor: Hypervisor
  readonly disk: PlacedDisk
  /** For files that are gone when we are done. */
  readonly temporary: string
  readonly signal: AbortSignal
}

const LABEL = 'cidata'
const CHANCE = 'chance'
/** All that is ever written. */
const OUR_NAMES: readonly string[] = ['user-data', 'meta-data', 'network-config', SEED_RECORD, ORPHAN_RECORD, CHANCE]
/** Room to grow: a volume that is large enough is written over, and stays the one that a running machine has. */
const GRAIN_BYTES = 4 * 1024 ** 2

/** Resolves to its digest. `onNewVolume` is told when there was none, or one that was too small. */
export async function writeSeed(place: SeedPlace, files: SeedFiles, onNewVolume: () => Promise<void>): Promise<string> {
  const all = new Map([...files, [CHANCE, randomBytes(16).toString('hex')]])
  if (place.disk.format === 'dir') await writeDirectory(place.disk.path, all)
  else await writeImage(place, all, onNewVolume)
  return digestOf(all)
}

/** Undefined when there is none, or none that can be read. */
export async function readSeed(place: SeedPlace): Promise<Seed | undefined> {
  const files = place.disk.format === 'dir' ? await readFiles(place.disk.path) : await readImage(place)
  if (files === undefined) return undefined
  const digest = digestOf(files)
  files.delete(CHANCE)
  return { digest, files }
}

export async function removeSeed({ hypervisor, disk }: Pick<SeedPlace, 'hypervisor' | 'disk'>): Promise<void> {
  if (disk.format === 'dir') {
    if (!(await isForeign(disk.path))) await removeDirectory(disk.path)
    return
  }
  const volume = await volumeOf(hypervisor, disk)
  if (volume !== undefined) await hypervisor.deleteVolume(volume)
}

function digestOf(files: SeedFiles): string {
  const hash = createHash('sha256')
  for (const [name, text] of [...files].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(JSON.stringify([name, text]))
  return hash.digest('base64url')
}

async function writeDirectory(path: string, files: SeedFiles): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  if (await isForeign(path))
    throw new HoldfastError(
      'VolumeForeign',
      `Cannot write cloud-init's files to "${path}": it has other files in it, and no ${SEED_RECORD} that would say it is ours`,
      { hint: 'remove or rename it' },
    )
  await chmod(path, 0o700)
  // First what says whose it is.
  const inOrder = [...files].toSorted(([a], [b]) => Number(b === SEED_RECORD) - Number(a === SEED_RECORD))
  for (const [name, text] of inOrder) await replaceFile(join(path, name), text, 0o600)
  for (const name of await readdir(path)) if (isOurName(name) && !files.has(name)) await rm(join(path, name))
}

/** Whatever else is in it stays, and so does the directory then. What says whose it is goes last. */
async function removeDirectory(path: string): Promise<void> {
  const names = existsSync(path) ? (await readdir(path)).filter(isOurName) : []
  const inOrder = names.toSorted((a, b) => Number(a === SEED_RECORD) - Number(b === SEED_RECORD))
  for (const name of inOrder) await rm(join(path, name), { force: true })
  await rmdir(path).catch((error: unknown) => {
    if (!['ENOTEMPTY', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  })
}

function isOurName(name: string): boolean {
  return OUR_NAMES.includes(name) || isLeftover(name)
}

/** A directory with something in it that we have not written. */
async function isForeign(path: string): Promise<boolean> {
  const names = existsSync(path) ? await readdir(path) : []
  return !names.includes(SEED_RECORD) && names.some((name) => !isLeftover(name))
}

async function writeImage(place: SeedPlace, files: SeedFiles, onNewVolume: () => Promise<void>): Promise<void> {
  const { hypervisor, disk, signal } = place
  await withTemporaryDirectory(place.temporary, async (directory) => {
    const [file, content] = [join(directory, 'seed.iso'), join(directory, 'seed')]
    await mkdir(content, 0o700)
    for (const [name, text] of files) await writeFile(join(content, name), text, { mode: 0o600 })
    await buildIso({ file, label: LABEL, directory: content }, signal)
    const bytes = Math.ceil((await stat(file)).size / GRAIN_BYTES) * GRAIN_BYTES
    const there = await volumeOf(hypervisor, disk)
    const isLargeEnough = there !== undefined && there.capacityBytes >= bytes
    const volume = isLargeEnough ? there : await createVolume(place, there, bytes)
    // Nothing of what was on it before is left behind the end.
    await truncate(file, volume.capacityBytes)
    await hypervisor.upload(volume, file)
    if (!isLargeEnough) await onNewVolume()
  })
}

async function createVolume({ hypervisor, disk }: SeedPlace, old: Volume | undefined, bytes: number): Promise<Volume> {
  if (old !== undefined) await hypervisor.deleteVolume(old)
  return createVolumeOf(hypervisor, disk, { format: 'raw', capacityBytes: bytes })
}

async function readImage(place: SeedPlace): Promise<Map<string, string> | undefined> {
  const { hypervisor, disk, temporary, signal } = place
  const volume = await volumeOf(hypervisor, disk)
  if (volume === undefined) return undefined
  return withTemporaryDirectory(temporary, async (directory) => {
    const [file, content] = [join(directory, 'seed.iso'), join(directory, 'seed')]
    await writeFile(file, '', { mode: 0o600 })
    await hypervisor.download(volume, file)
    try {
      await extractFromIso(file, '/', content, signal)
    } catch (error) {
      // What was cut while it was written is no image.
      if (error instanceof HoldfastError && !signal.aborted) return undefined
      throw error
    }
    return readFiles(content)
  })
}

async function readFiles(directory: string): Promise<Map<string, string> | undefined> {
  try {
    const entries = await readdir(directory, { withFileTypes: true })
    const names = entries.filter((entry) => entry.isFile() && isOurName(entry.name)).map(({ name }) => name)
    if (names.length === 0) return undefined
    return new Map(
      await Promise.all(names.map(async (name) => [name, await readFile(join(directory, name), 'utf8')] as const)),
    )
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
