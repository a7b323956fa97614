// Putting what was built where it was asked for, with its .json beside it: whole from the moment it can be seen.

import { constants, copyFileSync, existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { replaceFile } from '../lib/atomic-file.ts'
import { HoldfastError, reasonOf } from '../lib/errors.ts'
import { type Build, runStep } from './build-step.ts'
import type { Image, ImageFormat } from './image.ts'
import { packRoot } from './root-directory.ts'
import { formatImage, type ImageStore } from './store.ts'

export interface Delivered {
  readonly image: Image
  readonly path: string
}

/** Without an output it stays where it is. */
export async function deliverDisk(store: ImageStore, image: Image, output: string | undefined): Promise<Delivered> {
  const stored = store.pathOf(image.hash)
  if (output === undefined) return { image, path: stored }
  await putInPlace(image, output, (temporary) => copyFileSync(stored, temporary, constants.COPYFILE_FICLONE))
  return { image, path: output }
}

/** As a directory, which must not be there yet, or as a tar. */
export async function deliverRoot(
  build: Build,
  root: string,
  about: Omit<Image, 'sizeBytes'>,
  { format, output }: { readonly format: ImageFormat; readonly output: string | undefined },
): Promise<Delivered> {
  if (output === undefined)
    throw new HoldfastError('Usage', `Cannot build a ${format}: no place for it is given; --output is wanted`)
  if (format === 'directory' && existsSync(output))
    throw new HoldfastError(
      'FileUnwritable',
      `Cannot write "${output}": it is there already; a new directory is wanted`,
    )
  build.onProgress(`writing ${output}`)
  const image = { ...about, sizeBytes: 0 }
  await putInPlace(image, output, (temporary) =>
    format === 'tar'
      ? packRoot(build, root, temporary)
      : // Often on another file system.
        rename(root, temporary).catch(() => runStep(build, ['cp', '--archive', root, temporary])),
  )
  return { image: { ...image, sizeBytes: statSync(output).size }, path: output }
}

async function putInPlace(image: Image, output: string, make: (temporary: string) => unknown): Promise<void> {
  const temporary = join(dirname(output), `.${basename(output)}.${image.hash}.tmp`)
  try {
    await make(temporary)
    renameSync(temporary, output)
    await replaceFile(`${output}.json`, formatImage(image), 0o644)
  } catch (error) {
    if (error instanceof HoldfastError) throw error
    throw new HoldfastError('FileUnwritable', `Cannot write "${output}": ${reasonOf(error)}`, { cause: error })
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}
