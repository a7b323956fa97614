// A command line run in this process, with what it prints kept.

import { Readable, Writable } from 'node:stream'
import type { Io } from '../../src/cli/command.ts'
import { run } from '../../src/cli/run.ts'

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>
  /** What comes in on stdin; nothing unless given. */
  readonly stdin?: string
  /** Whether somebody sits at a terminal: what is typed is `stdin`. */
  readonly terminal?: boolean
  readonly signal?: AbortSignal
}

export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export async function holdfast(argv: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const { io, printed } = collectingIo(options)
  const code = await run(argv, io)
  return { code, ...printed }
}

export function collectingIo(options: CommandOptions = {}): { io: Io; printed: { stdout: string; stderr: string } } {
  const printed = { stdout: '', stderr: '' }
  const collect = (name: 'stdout' | 'stderr') =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        printed[name] += chunk.toString()
        done()
      },
    })
  const { stdin = '', terminal = false, env = {}, signal = new AbortController().signal } = options
  const io: Io = {
    stdin: Object.assign(Readable.from([Buffer.from(stdin)]), { isTTY: terminal }),
    stdout: collect('stdout'),
    stderr: collect('stderr'),
    env,
    stopSignal: () => signal,
    onHangup() {},
  }
  return { io, printed }
}
