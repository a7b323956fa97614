// A file that is whole under its name, through a power cut, too: its content is on the disk before its name is.

import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { flushDirectory } from '../lib/atomic-file.ts'

/** Of a directory, what is in it has to be on the disk already. */
export async function moveIntoPlace(from: string, to: string): Promise<void> {
  const file = await open(from)
  try {
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(from, to)
  await flushDirectory(dirname(to))
}
