// Questions at the terminal. They go to stderr, so that output can be piped elsewhere meanwhile.

import { createInterface } from 'node:readline/promises'
import { HoldfastError } from '../lib/errors.ts'
import type { Io } from './command.ts'

const INTERRUPT = '\u0003'
const END = '\u0004'
const BACKSPACE: readonly string[] = ['\u007f', '\b']

/** One line that the terminal does not show. */
export function askPassword(io: Io, prompt: string): Promise<string> {
  const { stdin, stderr } = io
  stderr.write(prompt)
  stdin.setRawMode?.(true)
  return new Promise<string>((resolve, reject) => {
    let typed = ''
    const stop = () => {
      stdin.off('data', onData).off('end', stop).pause()
      stdin.setRawMode?.(false)
      stderr.write('\n')
      resolve(typed)
    }
    const onData = (chunk: Buffer | string) => {
      for (const key of chunk.toString()) {
        if (key === INTERRUPT) {
          reject(interrupted())
          return stop()
        }
        if (key === '\r' || key === '\n' || key === END) return stop()
        typed = BACKSPACE.includes(key) ? typed.slice(0, -1) : typed + key
      }
    }
    stdin.on('data', onData).on('end', stop)
  })
}

/** Asks before something is changed; false when the answer is not yes. Without a terminal, --yes has to be given. */
export async function confirm(io: Io, question: string): Promise<boolean> {
  if (io.stdin.isTTY !== true)
    throw new HoldfastError('Usage', `Cannot ask "${question}": stdin is not a terminal; use --yes to proceed`)
  if (await askYes(io, question)) return true
  io.stderr.write('Nothing was changed\n')
  return false
}

/** False unless the answer is yes. */
async function askYes(io: Io, question: string): Promise<boolean> {
  const lines = createInterface({ input: io.stdin, output: io.stderr, terminal: io.stdin.isTTY === true })
  const end = new AbortController()
  lines.once('SIGINT', () => end.abort('SIGINT')).once('close', () => end.abort('close'))
  try {
    const answer = await lines.question(`${question} [y/N] `, { signal: end.signal })
    return /^y(?:es)?$/iu.test(answer.trim())
  } catch (error) {
    if (!end.signal.aborted) throw error
    io.stderr.write('\n')
    if (end.signal.reason === 'SIGINT') throw interrupted()
    return false
  } finally {
    lines.close()
  }
}

/** Ctrl-C instead of an answer. */
function interrupted(): HoldfastError {
  return new HoldfastError('Interrupted', 'Interrupted; nothing was changed')
}
