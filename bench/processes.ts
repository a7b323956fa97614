// Starts servers and load, and makes sure none outlives the run. Each server has a process group of its own, so that one
// signal by id reaches whatever it forked, and the terminal's ctrl-C reaches only us.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

export const run = promisify(execFile)

export interface Command {
  readonly file: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

const STOP_MS = 10_000
/** dnsperf prints a line for each question that is lost. */
const OUTPUT_LIMIT_BYTES = 64 * 2 ** 20

/** A directory and whatever runs in it; both are gone when it is disposed of, at the latest when the process exits. */
export class Workplace implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  readonly #servers = new Set<number>()
  readonly #ending = new AbortController()

  constructor() {
    process.once('exit', () => this[Symbol.dispose]())
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130))
  }

  /** `cores` is a list as taskset takes it; taskset replaces itself by the command, so the process id is the server's. */
  start(command: Command, cores: string, logFile: string): RunningServer {
    const log = openSync(logFile, 'w')
    const child = spawn('taskset', ['-c', cores, command.file, ...command.args], {
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...process.env, ...command.env },
    })
    closeSync(log)
    if (child.pid === undefined)
      throw new Error(`Cannot start "${command.file}": taskset is not there; util-linux is needed`)
    this.#servers.add(child.pid)
    return new RunningServer(child, child.pid, logFile, () => this.#servers.delete(child.pid as number))
  }

  /** Runs a program that ends by itself, and returns what it printed. */
  async run(cores: string, file: string, args: readonly string[]): Promise<string> {
    const limits = { signal: this.#ending.signal, maxBuffer: OUTPUT_LIMIT_BYTES }
    return (await run('taskset', ['-c', cores, file, ...args], limits)).stdout
  }

  [Symbol.dispose](): void {
    this.#ending.abort()
    for (const pid of this.#servers) signalGroup(pid, 'SIGKILL')
    rmSync(this.directory, { recursive: true, force: true })
  }
}

export class RunningServer {
  readonly pid: number
  readonly #child: ChildProcess
  readonly #logFile: string
  readonly #forget: () => void
  readonly #gone: Promise<void>

  constructor(child: ChildProcess, pid: number, logFile: string, forget: () => void) {
    this.pid = pid
    this.#child = child
    this.#logFile = logFile
    this.#forget = forget
    this.#gone = new Promise((resolve) => child.once('exit', () => resolve()))
  }

  get ended(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** The end of what it printed, for messages. */
  lastWords(): string {
    return readFileSync(this.#logFile, 'utf8').trimEnd().split('\n').slice(-5).join('\n')
  }

  /** Asks the first process, which ends those it forked; whatever is left after that is killed. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM')
    await Promise.race([this.#gone, sleep(STOP_MS, undefined, { ref: false })])
    signalGroup(this.pid, 'SIGKILL')
    await this.#gone
    this.#forget()
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
