// The one place that starts other programs. A command is a list of words: no shell reads it unless it names one.
// The program gets a process group of its own, so that what it started itself ends with it.
//   exec(command, { timeoutMs, signal, env, onLine, input? })          its output in lines, as it comes
//   capture(command, { timeoutMs, signal, env, input?, maxBytes? })    its output whole: { code, reason, stdout, stderr }

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { getSystemErrorMessage } from 'node:util'

interface ProcessOptions {
  /** The program is ended when it takes longer. */
  readonly timeoutMs: number
  /** The program is ended when it is aborted. */
  readonly signal: AbortSignal
  /** All the environment it gets. */
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface ExecOptions extends ProcessOptions {
  /** Called for every line of its output and errors. */
  readonly onLine: (line: string) => void
  /** Descriptor that it gets as its input; nothing unless given. */
  readonly input?: number
}

export interface CaptureOptions extends ProcessOptions {
  /** What it reads; nothing unless given. It need not read all of it. */
  readonly input?: Uint8Array
  /** Of output or errors; it is ended when it prints more. */
  readonly maxBytes?: number
}

export interface Captured {
  /** Undefined when it did not come to an end by itself. */
  readonly code: number | undefined
  /** Undefined when it succeeded; otherwise for people, such as `exit code 1`. */
  readonly reason: string | undefined
  /** The program does not exist. */
  readonly isMissing: boolean
  readonly stdout: Buffer
  readonly stderr: string
}

/** Between being asked to end (SIGTERM) and being ended (SIGKILL). */
const GRACE_MS = 2000
/** For the last of its output, once it has ended. */
const LINGER_MS = 200
/** What is longer and has no end yet is passed on as it is. */
const LONGEST_LINE = 4096
const MAX_CAPTURED_BYTES = 64 * 1024 * 1024

const NOT_STARTED: ProcessEnd = { code: undefined, reason: 'it was not started any more', isMissing: false }

/** How a program ended. Decisions are made by `code` and `isMissing`; `reason` is for people. */
export type ProcessEnd = Pick<Captured, 'code' | 'reason' | 'isMissing'>

/** Resolves when the program has ended, however it did. */
export async function exec(command: readonly string[], options: ExecOptions): Promise<ProcessEnd> {
  if (options.signal.aborted) return NOT_STARTED
  const child = startGroup(command, options.input ?? 'ignore', options.env)
  readLines(child.stdout, options.onLine)
  readLines(child.stderr, options.onLine)
  return watchOver(child, options).ended
}

/** Resolves when the program has ended, however it did. */
export async function capture(command: readonly string[], options: CaptureOptions): Promise<Captured> {
  const { signal, input, maxBytes = MAX_CAPTURED_BYTES } = options
  if (signal.aborted) return { ...NOT_STARTED, stdout: Buffer.alloc(0), stderr: '' }
  const child = startGroup(command, input === undefined ? 'ignore' : 'pipe', options.env)
  const { ended, end } = watchOver(child, options)
  const tooMuch = () => end(`it printed more than ${maxBytes} bytes`)
  const stdout = collect(child.stdout, maxBytes, tooMuch)
  const stderr = collect(child.stderr, maxBytes, tooMuch)
  // A program that ends before it has read everything says what is wrong by its exit code.
  child.stdin?.on('error', () => {})
  child.stdin?.end(input)
  return { ...(await ended), stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() }
}

type Child = ChildProcessByStdio<Writable | null, Readable, Readable>

function startGroup(command: readonly string[], stdin: number | 'ignore' | 'pipe', env: ProcessOptions['env']): Child {
  const [program, ...args] = command
  return spawn(program, args, { stdio: [stdin, 'pipe', 'pipe'], detached: true, env }) as Child
}

/** `end` ends it for a reason of the caller's. */
function watchOver(child: Child, { timeoutMs, signal }: ProcessOptions) {
  const { promise: ended, resolve } = Promise.withResolvers<ProcessEnd>()
  let ending: string | undefined
  let isMissing = false
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
    isMissing = error.code === 'ENOENT'
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
    if (ending !== undefined) resolve({ code: undefined, reason: ending, isMissing })
    else if (code === null) resolve({ code: undefined, reason: `ended by ${name}`, isMissing })
    else resolve({ code, reason: code === 0 ? undefined : `exit code ${code}`, isMissing })
  })
  return { ended, end }
}

function collect(stream: Readable, maxBytes: number, tooMuch: () => void): readonly Buffer[] {
  const chunks: Buffer[] = []
  let bytes = 0
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > maxBytes) tooMuch()
    else chunks.push(chunk)
  })
  return chunks
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
