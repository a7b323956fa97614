// Small values that a stack keeps from one command to the next, as JSON files that are replaced as a whole.

import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { flushDirectory, replaceFile } from '../lib/atomic-file.ts'
import { HoldfastError, reasonOf } from '../lib/errors.ts'

/** Undefined when there is no such file. */
export async function readKept(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as unknown
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    if (error instanceof SyntaxError)
      throw new HoldfastError('StateInvalid', `Cannot read "${path}": it is not JSON; restore it`, { cause: error })
    throw new HoldfastError('FileUnreadable', `Cannot read "${path}": ${reasonOf(error)}`, { cause: error })
  }
}

export async function writeKept(path: string, value: unknown): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true })
    await replaceFile(path, `${JSON.stringify(value, null, 2)}\n`, 0o600)
    await flushDirectory(dirname(path))
  } catch (error) {
    throw new HoldfastError('FileUnwritable', `Cannot write "${path}": ${reasonOf(error)}`, { cause: error })
  }
}
