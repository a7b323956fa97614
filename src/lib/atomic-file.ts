// Files that are replaced as a whole: written beside their place under a hidden name, flushed to disk, then renamed, so
// that no reader and no crash ever meets half of one.

import { randomBytes } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** What a process that was killed while writing has left behind. */
export function isLeftover(name: string): boolean {
  return /^\..+\.[0-9a-f]{12}\.tmp$/u.test(name)
}

/** With exactly this mode, whatever the umask is. It outlives a power cut once its directory is flushed, too. */
export async function replaceFile(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(content)
      await file.chmod(mode)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw error
  }
}

/** Makes sure that what was made, renamed and removed in a directory stays so through a power cut. */
export async function flushDirectory(path: string): Promise<void> {
  const directory = await open(path)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
