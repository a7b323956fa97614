// The real server as a user runs it: bin/holdfast in a temporary directory, what it prints kept, signals sent by its
// process id. A sandbox owns the directory and ends every process started in it.

import { type ChildProcess, execFile, spawn, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { until } from './until.ts'

const LAUNCHER = join(import.meta.dirname, '../../bin/holdfast')

export class Sandbox {
  readonly directory = mkdtempSync(join(tmpdir(), 'holdfast-test-'))
  readonly #processes: HoldfastProcess[] = []

  path(name: string): string {
    return join(this.directory, name)
  }

  /** Writes a file below the directory; folders on the way are made. Returns its path. */
  write(name: string, text: string): string {
    const path = this.path(name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    return path
  }

  /** Starts bin/holdfast and does not wait; `env` comes on top of our own environment. */
  spawn(
    args: readonly string[],
    stdout: 'pipe' | number = 'pipe',
    env: Readonly<Record<string, string>> = {},
  ): HoldfastProcess {
    const child = new HoldfastProcess(args, this.directory, ['ignore', stdout, 'pipe'], env)
    this.#processes.push(child)
    return child
  }

  /** Starts `holdfast dns` and waits until it listens. */
  async serve(...args: readonly string[]): Promise<HoldfastProcess> {
    const child = this.spawn(['dns', ...args])
    await Promise.race([child.logged(/Listening on/u), child.failure()])
    return child
  }

  async close(): Promise<void> {
    await Promise.all(this.#processes.map((child) => child.end()))
    rmSync(this.directory, { recursive: true, force: true })
  }
}

export class HoldfastProcess {
  readonly #child: ChildProcess
  readonly #exit: Promise<unknown[]>
  #output = ''

  constructor(args: readonly string[], cwd: string, stdio: StdioOptions, env: Readonly<Record<string, string>> = {}) {
    this.#child = spawn(LAUNCHER, args, {
      cwd,
      stdio,
      env: { ...process.env, STATE_DIRECTORY: join(cwd, 'state'), ...env },
    })
    this.#exit = once(this.#child, 'exit')
    const keep = (chunk: string) => {
      this.#output += chunk
    }
    this.#child.stdout?.setEncoding('utf8').on('data', keep)
    this.#child.stderr?.setEncoding('utf8').on('data', keep)
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('holdfast was not started')
    return this.#child.pid
  }

  /** Standard output and error together. */
  get output(): string {
    return this.#output
  }

  /** Waits for a line, in what was printed after the first `from` characters. */
  logged(pattern: RegExp, from = 0): Promise<RegExpExecArray> {
    return until(`output with ${pattern}`, () => pattern.exec(this.#output.slice(from)) ?? undefined).catch(
      (cause: unknown) => {
        throw new Error(`${String(cause)}\n${this.#output.slice(-4000)}`, { cause })
      },
    )
  }

  /** From now on nobody reads its output. */
  closeOutput(): void {
    this.#child.stdout?.destroy()
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** The exit code, or the signal that ended it. */
  async ended(): Promise<number | NodeJS.Signals> {
    const [code, signal] = (await this.#exit) as [number | null, NodeJS.Signals | null]
    return code ?? signal ?? 0
  }

  /** Rejects when the process ends. */
  async failure(): Promise<never> {
    const reason = await this.ended()
    throw new Error(`holdfast ended with ${reason}\n${this.#output}`)
  }

  async end(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#exit
  }
}

/** What dig prints, or the text of its failure. */
export async function dig(port: number, ...args: readonly string[]): Promise<string> {
  const server = args.some((arg) => arg.startsWith('@')) ? [] : ['@127.0.0.1']
  const run = promisify(execFile)
  const { stdout } = await run('dig', [...server, '-p', String(port), '+tries=1', '+time=3', ...args])
  return stdout.trimEnd()
}

/** The value of one line of a /metrics page; undefined when it is not there. */
export async function metric(port: number, series: string): Promise<number | undefined> {
  const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const line = page.split('\n').find((each) => each.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

/** A zone with these records, one line each; serial 1 unless given. */
export function zoneText(records: readonly string[], serial = 1): string {
  return [
    '$TTL 300',
    `@ SOA ns hostmaster ${serial} 3600 600 86400 60`,
    '@ NS ns',
    'ns A 192.0.2.53',
    ...records,
    '',
  ].join('\n')
}
