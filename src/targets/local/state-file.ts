// Small JSON files that commands and the supervisor share. They are replaced as a whole, so that a reader meets the old
// or the new one, never half of one. Synchronous: the supervisor must have written down what it does before it goes on.

import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { HoldfastError, messageOf, reasonOf } from '../../lib/errors.ts'

const SUFFIX = '.json'

/** One file per machine. */
export function stateFile(directory: string, machine: string): string {
  return join(directory, `${machine}${SUFFIX}`)
}

/** The machines that have a file there, in order; none when there is no such directory. */
export function machinesIn(directory: string): string[] {
  try {
    const names = readdirSync(directory).filter((name) => name.endsWith(SUFFIX) && !name.startsWith('.'))
    return names.map((name) => name.slice(0, -SUFFIX.length)).toSorted()
  } catch (error) {
    if (isMissing(error)) return []
    throw new HoldfastError('FileUnreadable', `Cannot read "${directory}": ${reasonOf(error)}`, { cause: error })
  }
}

/** The text of a file; undefined when there is none. */
export function readState(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw new HoldfastError('FileUnreadable', `Cannot read "${path}": ${reasonOf(error)}`, { cause: error })
  }
}

/** `isValid` looks at the shape: enough of it to tell a file of ours from a damaged one. */
export function parseState<T>(path: string, text: string, isValid: (value: unknown) => value is T): T {
  const problem = (what: string) =>
    new HoldfastError('LocalStateInvalid', `Cannot use "${path}": ${what}; it was damaged`, {
      hint: 'remove it and run "holdfast up": it is made again from the stack file, and what runs goes on running',
    })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw problem(messageOf(error))
  }
  if (!isValid(value)) throw problem('not what Holdfast writes there')
  return value
}

export function loadState<T>(path: string, isValid: (value: unknown) => value is T): T | undefined {
  const text = readState(path)
  return text === undefined ? undefined : parseState(path, text, isValid)
}

/**
 * Readable for us alone. A durable file outlives a power cut, and its directory is made; the supervisor's passing notes
 * must not bring back a directory that was just removed.
 */
export function saveState(path: string, value: unknown, options: { readonly isDurable: boolean }): void {
  const temporary = join(dirname(path), `.${randomBytes(6).toString('hex')}.tmp`)
  try {
    if (options.isDurable) mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const fd = openSync(temporary, 'wx', 0o600)
    try {
      writeWhole(fd, Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`))
      if (options.isDurable) fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw new HoldfastError('FileUnwritable', `Cannot write "${path}": ${reasonOf(error)}`, { cause: error })
  }
}

/** All of it: a disk that is nearly full takes a part and says so only then. */
export function writeWhole(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
}

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
