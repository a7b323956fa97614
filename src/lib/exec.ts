// The one place that starts other programs. A command is a list of words: no shell reads it unless it names one.
// The program gets a process group of its own, so that what it started itself ends with it.

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { getSystemErrorMessage } from 'node:util'

export interface ExecOptions {
  /** The program is ended when it takes longer. */
  readonly timeoutMs: number
  /** The program is ended when it is aborted. */
  readonly signal: AbortSignal
  /** All the environment it gets. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Called for every line of its output and errors. */
  readonly onLine: (line: string) => void
  /** Descriptor that it gets as its input; nothing unless given. */
  readonly input?: number
}

/** Between being asked to end (SIGTERM) and being ended (SIGKILL). */
const GRACE_MS = 2000
/** For the last of its output, once it has ended. */
const LINGER_MS = 200
/** What is longer and has no end yet is passed on as it is. */
const LONGEST_LINE = 4096

/** Resolves when the program has ended: to undefined when it succeeded, else to the reason, such as `exit code 1`. */
export function exec(command: readonly string[], options: ExecOptions): Promise<string | undefined> {
  const { timeoutMs, signal, env, onLine, input = 'ignore' } = options
  if (signal.aborted) return Promise.resolve('it was not started any more')
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const [program, ...args] = command
  const started = spawn(program, args, { stdio: [input, 'pipe', 'pipe'], detached: true, env })
  const child = started as ChildProcessByStdio<null, Readable, Readable>
  readLines(child.stdout, onLine)
  readLines(child.stderr, onLine)

  let ending: string | undefined
  let grace: NodeJS.Timeout | undefined
  const end = (reason: string) => {
    if (ending !== undefined || child.pid === undefined) return
    ending = reason
    killGroup(child.pid, 'SIGTERM')
    grace = setTimeout(killGroup, GRACE_MS, child.pid, 'SIGKILL')
  }
  const deadline = setTimeout(end, timeoutMs, `not ended after ${timeoutMs / 1000} s`)
  const stop = () => end('it was stopped')
  signal.addEventListener('abort', stop, { once: true })
  child.once('error', (error: NodeJS.ErrnoException) => {
    ending = error.errno === undefined ? error.message : getSystemErrorMessage(error.errno)
  })
  child.once('exit', () => {
    clearTimeout(deadline)
    clearTimeout(grace)
    // What it left running may keep its output open, and must not keep us waiting.
    setTimeout(() => {
      child.stdout.destroy()
      child.stderr.destroy()
    }, LINGER_MS).unref()
  })
  child.once('close', (code, name) => {
    clearTimeout(deadline)
    signal.removeEventListener('abort', stop)
    resolve(ending ?? (code === 0 ? undefined : code === null ? `ended by ${name}` : `exit code ${code}`))
  })
  return promise
}

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // Nobody is left to be told.
  }
}

function readLines(stream: Readable, onLine: (line: string) => void): void {
  const decoder = new StringDecoder()
  let rest = ''
  stream.on('data', (chunk: Buffer) => {
    rest += decoder.write(chunk)
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
    if (rest.length < LONGEST_LINE) return
    onLine(rest)
    rest = ''
  })
  stream.on('close', () => {
    if (rest !== '') onLine(rest)
  })
}
