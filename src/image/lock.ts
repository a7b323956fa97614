// One build at a time in a directory of images, since they share what they have downloaded; the next one waits. The lock is
// the kernel's, on the directory itself: it ends with the process, however that ends.

import { closeSync, constants, mkdirSync, openSync } from 'node:fs'
import { HoldfastError, reasonOf } from '../lib/errors.ts'
import { exec, type ProcessEnd } from '../lib/exec.ts'
import { SYSTEM_PATH } from '../targets/local/apt.ts'

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY
/** The exit code when another process has it. */
const TAKEN = 75
const LONGEST_BUILD_MS = 60 * 60_000

interface LockOptions {
  readonly signal: AbortSignal
  /** Called when somebody else has it. */
  readonly onWait: () => void
}

export async function withLock<T>(directory: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const fd = open(directory)
  try {
    let end = await flock(fd, ['--nonblock', '--conflict-exit-code', String(TAKEN)], options.signal)
    if (end.code === TAKEN) {
      options.onWait()
      end = await flock(fd, [], options.signal)
    }
    if (options.signal.aborted) throw new HoldfastError('Interrupted', 'Cannot change images: it was stopped')
    if (end.code !== 0) throw new HoldfastError('FileUnwritable', `Cannot lock "${directory}": flock: ${end.reason}`)
    return await work()
  } finally {
    closeSync(fd)
  }
}

function open(directory: string): number {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o755 })
    return openSync(directory, DIRECTORY)
  } catch (error) {
    throw new HoldfastError('FileUnwritable', `Cannot write "${directory}": ${reasonOf(error)}`, { cause: error })
  }
}

/** The lock belongs to what is open, which the program shares with us and we keep when it has ended. */
function flock(fd: number, options: readonly string[], signal: AbortSignal): Promise<ProcessEnd> {
  return exec(['flock', ...options, '0'], {
    timeoutMs: LONGEST_BUILD_MS,
    signal,
    env: { PATH: SYSTEM_PATH, LC_ALL: 'C' },
    onLine: () => undefined,
    input: fd,
  })
}
