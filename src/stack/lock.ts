// One command at a time may change a stack. The lock is the kernel's (flock), on the directory of the stack itself: nobody
// else may open that, the kernel gives it back however the process ends, and nothing is left behind.

import { closeSync, constants, fchmodSync, fstatSync, mkdirSync, openSync, rmdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { HoldfastError, reasonOf } from '../lib/errors.ts'
import { exec, type ProcessEnd } from '../lib/exec.ts'
import { Accounts } from '../targets/local/accounts.ts'

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY
/** Services pass through it. */
const MODE = 0o711
/** Whoever can open it can lock it. */
const OTHERS_OPEN = 0o066
const MODE_BITS = 0o7777
/** The exit code when another command has it. */
const TAKEN = 75
const TIMEOUT_MS = 10_000

export async function withLock<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const { fd, made } = await lock(directory)
  try {
    return await work()
  } finally {
    if (made !== undefined) removeEmpty(directory, made)
    closeSync(fd)
  }
}

interface Locked {
  readonly fd: number
  /** The first directory on the way that was not there. */
  readonly made: string | undefined
}

async function lock(directory: string): Promise<Locked> {
  refuseForeign(directory)
  const opened = open(directory)
  const end = await tryLock(opened.fd)
  if (end.code === 0 && isAt(directory, opened.fd)) return opened
  closeSync(opened.fd)
  if (end.code !== 0) throw refusal(directory, end)
  // Who had the lock before has removed it meanwhile.
  return lock(directory)
}

/** What we put there its owner could not read, and root would follow whatever links its owner has made. */
function refuseForeign(directory: string): void {
  const owner = statSync(directory, { throwIfNoEntry: false })?.uid
  if (owner === undefined || owner === process.geteuid?.()) return
  const name = new Accounts().nameOf(owner)
  throw new HoldfastError('FileUnwritable', `Cannot change the stack in "${directory}": it belongs to user "${name}"`, {
    hint: `run the command as "${name}", or choose another directory with --state`,
  })
}

function open(directory: string): Locked {
  try {
    const made = mkdirSync(directory, { recursive: true, mode: MODE })
    const fd = openSync(directory, DIRECTORY)
    const { mode } = fstatSync(fd)
    if ((mode & OTHERS_OPEN) !== 0) fchmodSync(fd, mode & MODE_BITS & ~OTHERS_OPEN)
    return { fd, made }
  } catch (error) {
    throw new HoldfastError('FileUnwritable', `Cannot write "${directory}": ${reasonOf(error)}`, { cause: error })
  }
}

/** The lock belongs to the open directory, which the program shares with us and we keep when it has ended. */
function tryLock(fd: number): Promise<ProcessEnd> {
  return exec(['flock', '--nonblock', '--conflict-exit-code', String(TAKEN), '0'], {
    timeoutMs: TIMEOUT_MS,
    signal: new AbortController().signal,
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    onLine: () => undefined,
    input: fd,
  })
}

function refusal(directory: string, { code, reason }: ProcessEnd): HoldfastError {
  const what = `Cannot change the stack in "${directory}"`
  if (code !== TAKEN) return new HoldfastError('FileUnwritable', `${what}: flock: ${reason}`)
  return new HoldfastError('StackLocked', `${what}: another command is changing it just now; wait for it to end`, {
    retryable: true,
  })
}

function isAt(directory: string, fd: number): boolean {
  const [now, held] = [statSync(directory, { throwIfNoEntry: false }), fstatSync(fd)]
  return now?.ino === held.ino && now.dev === held.dev
}

/** Only what has nothing in it: the work came to nothing. */
function removeEmpty(directory: string, first: string): void {
  try {
    for (let at = directory; at.length >= first.length; at = dirname(at)) rmdirSync(at)
  } catch {
    // Something came of it.
  }
}
