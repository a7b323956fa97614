// The images that machines of tests boot from, built with the code of src/image and kept in the cache of the user. As long as
// that code stays as it is they are taken from there, without a look at the archive for newer packages.

import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { buildImage, type ImageRequest } from '../../src/image/build-image.ts'
import { ImageStore } from '../../src/image/store.ts'

/** For whoever waits for one: it may have to be built. */
export const IMAGE_MS = 900_000

const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'holdfast/test-images')

/** A root directory, for containers. Our own program is not in it: they get it from a volume. */
export function containerRoot(): Promise<string> {
  return cached('root', { format: 'directory', plain: false, withProgram: false })
}

/** A disk for virtual machines, without our own program. */
export function diskImage(): Promise<string> {
  return cached('disk.qcow2', { format: 'qcow2', plain: false, withProgram: false })
}

/** A disk with the distribution alone. */
export function plainImage(): Promise<string> {
  return cached('plain.qcow2', { format: 'qcow2', plain: true, withProgram: false })
}

async function cached(name: string, request: Pick<ImageRequest, 'format' | 'plain' | 'withProgram'>): Promise<string> {
  const directory = join(CACHE, codeHash())
  const output = join(directory, name)
  if (existsSync(output)) return output
  mkdirSync(directory, { recursive: true })
  await buildImage(
    { ...request, output, list: undefined, morePackages: [] },
    {
      store: new ImageStore(CACHE),
      env: process.env,
      signal: new AbortController().signal,
      onProgress: (what) => console.log(`${name}: ${what}`),
    },
  )
  return output
}

function codeHash(): string {
  const hash = createHash('sha256')
  const folder = join(import.meta.dirname, '../../src/image')
  for (const file of globSync('*.ts', { cwd: folder, exclude: ['*.test.ts'] }).toSorted())
    hash.update(readFileSync(join(folder, file)))
  return hash.digest('hex').slice(0, 16)
}
