// The images that machines of tests boot from, built with the code of src/image and kept in the cache of the user. As long as
// that code stays as it is they are taken from there, without a look at the archive for newer packages.

import { createHash } from 'node:crypto'
import { existsSync, globSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { buildImage, type ImageRequest } from '../../src/image/build-image.ts'
import { withLock } from '../../src/image/lock.ts'
import { ImageStore } from '../../src/image/store.ts'

/** For whoever waits for one: it may have to be built. */
export const IMAGE_MS = 900_000

const UNUSED_MS = 86_400_000
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

type Request = Pick<ImageRequest, 'format' | 'plain' | 'withProgram'>

/** Several processes may want the same one: one of them builds it. */
async function cached(name: string, request: Request): Promise<string> {
  const directory = join(CACHE, codeHash())
  const output = join(directory, name)
  const { signal } = new AbortController()
  await withLock(directory, { signal, onWait: () => console.log(`${name}: waiting for another process`) }, async () => {
    utimesSync(directory, new Date(), new Date())
    if (existsSync(output)) return
    await build(output, request, signal)
    await withLock(CACHE, { signal, onWait: () => undefined }, async () => removeUnused())
  })
  return output
}

async function build(output: string, request: Request, signal: AbortSignal): Promise<void> {
  await buildImage(
    { ...request, output, list: undefined, morePackages: [] },
    { store: new ImageStore(CACHE), env: process.env, signal, onProgress: (what) => console.log(`${output}: ${what}`) },
  )
}

/** Images of code that nobody has run for a day, and what only makes builds of images faster. */
function removeUnused(): void {
  for (const name of readdirSync(CACHE)) {
    const path = join(CACHE, name)
    if (name !== 'apt' && Date.now() - statSync(path).mtimeMs > UNUSED_MS) rmSync(path, { recursive: true })
  }
}

function codeHash(): string {
  const hash = createHash('sha256')
  const folder = join(import.meta.dirname, '../../src/image')
  for (const file of globSync('*.ts', { cwd: folder, exclude: ['*.test.ts'] }).toSorted())
    hash.update(readFileSync(join(folder, file)))
  return hash.digest('hex').slice(0, 16)
}
