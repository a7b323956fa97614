// Putting what was built where it was asked for, with its .json beside it: whole from the moment it can be seen, through a
// power cut, too. A disk that is there is never replaced: disks of machines may be made from it, and hold only what is different.

import { constants, copyFileSync, existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { replaceFile } from '../lib/atomic-file.ts'
import { HoldfastError, reasonOf } from '../lib/errors.ts'
import { type Build, runStep } from './build-step.ts'
import type { Image, Place } from './image.ts'
import { moveIntoPlace } from './move-into-place.ts'
import { packRoot } from './root-directory.ts'
import { formatImage, type ImageStore } from './store.ts'

export interface Delivered {
  readonly image: Image
  readonly path: string
}

type Unmeasured = Omit<Image, 'sizeBytes'>

/** Without an output it stays where it is. */
export async function deliverDisk(store: ImageStore, image: Image, output: string | undefined): Promise<Delivered> {
  const stored = store.pathOf(image.hash)
  if (output === undefined) return { image, path: stored }
  return putInPlace(
    image,
    output,
    () => image.sizeBytes,
    (temporary) => copyFileSync(stored, temporary, constants.COPYFILE_FICLONE),
  )
}

export async function deliverRoot(build: Build, root: string, about: Unmeasured, place: Place): Promise<Delivered> {
  const { format, output } = place
  if (output === undefined) throw new TypeError(`a ${format} without a place`)
  build.onProgress(`writing ${output}`)
  if (format === 'tar') return putInPlace(about, output, sizeOf, (temporary) => packRoot(build, root, temporary))
  return putInPlace(about, output, sizeOf, (temporary) => moveDirectory(build, root, temporary))
}

/** A directory is not replaced: it may be in use. */
export function checkPlace({ format, output }: Place): void {
  if (format !== 'directory' || output === undefined || !existsSync(output)) return
  throw new HoldfastError('FileUnwritable', `Cannot write "${output}": it is there already; expected a new directory`)
}

/** The disk with that hash, if the place has it already. Throws when another one is there. */
export function findDelivered({ format, output }: Place, hash: string): Delivered | undefined {
  if (format !== 'qcow2' || output === undefined || !existsSync(output)) return undefined
  const image = readImage(`${output}.json`)
  if (image?.hash === hash) return { image, path: output }
  const extension = extname(output)
  const another = join(dirname(output), `${basename(output, extension)}-${hash}${extension}`)
  throw new HoldfastError(
    'ImageExists',
    `Cannot write "${output}": another image is there, and it may be the base of disks; expected another name`,
    { hint: `for instance --output ${another}` },
  )
}

function readImage(path: string): Image | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Image
  } catch {
    return undefined
  }
}

/** The .json comes first: a disk that can be seen can also be told from others. */
async function putInPlace(
  about: Unmeasured,
  output: string,
  measure: (path: string) => number,
  make: (temporary: string) => unknown,
): Promise<Delivered> {
  const temporary = join(dirname(output), `.${basename(output)}.${about.hash}.tmp`)
  try {
    // Of a build that was killed.
    rmSync(temporary, { recursive: true, force: true })
    await make(temporary)
    const image = { ...about, sizeBytes: measure(temporary) }
    await replaceFile(`${output}.json`, formatImage(image), 0o644)
    await moveIntoPlace(temporary, output)
    return { image, path: output }
  } catch (error) {
    if (error instanceof HoldfastError) throw error
    throw new HoldfastError('FileUnwritable', `Cannot write "${output}": ${reasonOf(error)}`, { cause: error })
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

/** To another file system it is copied. */
async function moveDirectory(build: Build, from: string, to: string): Promise<void> {
  try {
    renameSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    await runStep(build, ['cp', '--archive', from, to])
  }
  await runStep(build, ['sync', '--file-system', to])
}

function sizeOf(path: string): number {
  const found = lstatSync(path)
  if (!found.isDirectory()) return found.size
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
}
