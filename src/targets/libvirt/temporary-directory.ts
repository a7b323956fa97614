// A directory for files on their way to or from a hypervisor: only we can read it, and it is gone when the work is done.

import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'

export async function withTemporaryDirectory<T>(parent: string, work: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(parent, 'holdfast-volume-'))
  try {
    return await work(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
