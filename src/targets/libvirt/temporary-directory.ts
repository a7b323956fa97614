// A directory for files on their way to or from a hypervisor: only we can read it, and it is gone when the work is done. What
// somebody who was killed has left there may be secret: it goes when the next one comes.

import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

const PREFIX = 'holdfast-volume-'
/** No transfer is given as long. */
const STALE_MS = 2 * 3_600_000

/** `parent` is made if it is not there. */
export async function withTemporaryDirectory<T>(parent: string, work: (directory: string) => Promise<T>): Promise<T> {
  await mkdir(parent, { recursive: true, mode: 0o700 })
  await removeStale(parent)
  const directory = await mkdtemp(join(parent, PREFIX))
  try {
    return await work(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Others may be at it, too, and in a directory that all users share some are not ours. */
async function removeStale(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(PREFIX)) continue
    const path = join(parent, name)
    const made = await stat(path).catch(() => undefined)
    if (made === undefined || made.uid !== process.geteuid?.() || Date.now() - made.mtimeMs < STALE_MS) continue
    await rm(path, { recursive: true, force: true }).catch(() => undefined)
  }
}
