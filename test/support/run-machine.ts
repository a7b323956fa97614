// Machines as data made real in a temporary directory, for tests of one kind of cluster: files with owners and modes,
// services as processes of their users. Nothing is supervised: a test starts, kills and runs what it wants to see.

import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { reveal } from '../../src/machine/content.ts'
import type { Machine, Service } from '../../src/machine/machine.ts'

const isRoot = process.getuid?.() === 0

export class RunMachine {
  readonly #root: string
  readonly #processes = new Map<string, ChildProcess>()
  machine: Machine

  /** `directory`: what `pathIn` gets as well. */
  constructor(directory: string, machine: Machine) {
    this.#root = join(directory, machine.name)
    this.machine = machine
  }

  /** Puts directories and files in place; with a machine, in its new form. */
  write(machine = this.machine): void {
    this.machine = machine
    mkdirSync(this.#root, { recursive: true })
    for (const { path, owner, mode } of machine.directories) {
      mkdirSync(this.path(path), { recursive: true })
      own(this.path(path), owner, mode)
    }
    for (const { path, owner, mode, content, isInitial } of machine.files) {
      const at = this.path(path)
      if (isInitial === true && existsSync(at)) continue
      mkdirSync(dirname(at), { recursive: true })
      writeFileSync(at, reveal(content))
      own(at, owner, mode)
    }
  }

  path(path: string): string {
    return join(this.#root, path)
  }

  /** Starts a service that goes on; `environment` is for this start only. */
  start(name: string, environment: Readonly<Record<string, string>> = {}): void {
    const service = this.#service(name)
    const log = openSync(join(this.#root, `${name}.log`), 'a')
    const [program, ...args] = asUser(service)
    const env = { ...this.#environment(service), ...environment }
    const child = spawn(program, args, { stdio: ['ignore', log, log], env })
    closeSync(log)
    this.#processes.set(name, child)
  }

  /** Runs a service that ends, and tells what it said. */
  async run(name: string): Promise<string> {
    const service = this.#service(name)
    const [program, ...args] = asUser(service)
    const { stdout, stderr } = await promisify(execFile)(program, args, { env: this.#environment(service) })
    return stdout + stderr
  }

  isRunning(name: string): boolean {
    const child = this.#processes.get(name)
    return child !== undefined && child.exitCode === null && child.signalCode === null
  }

  log(name: string): string {
    return readFileSync(join(this.#root, `${name}.log`), 'utf8')
  }

  signal(name: string, signal: NodeJS.Signals): void {
    this.#processes.get(name)?.kill(signal)
  }

  /** Ends a service by a signal; resolves when it is gone. */
  async end(name: string, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#processes.get(name)
    this.#processes.delete(name)
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill(signal)
    await exit
  }

  async endAll(): Promise<void> {
    for (const name of [...this.#processes.keys()]) await this.end(name)
  }

  #service(name: string): Service {
    const found = this.machine.services.find((service) => service.name === name)
    if (found === undefined) throw new Error(`no service ${name} on ${this.machine.name}`)
    return found
  }

  #environment({ environment, environmentFiles = [] }: Service): Record<string, string> {
    const lines = environmentFiles.flatMap((path) => readFileSync(this.path(path), 'utf8').trimEnd().split('\n'))
    const pairs = lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])
    return { PATH: '/usr/bin:/bin', ...environment, ...Object.fromEntries(pairs) }
  }
}

/** Where a path inside a machine is: `Site.path` for machines in that directory. */
export function pathIn(directory: string): (machine: string, path: string) => string {
  return (machine, path) => join(directory, machine, path)
}

/** The kernel ends it when the test is killed. */
function asUser({ user, command }: Service): string[] {
  const as = isRoot ? ['--reuid', user, '--regid', user, '--init-groups'] : []
  return ['setpriv', '--pdeathsig', 'KILL', ...as, '--', ...command]
}

function own(path: string, owner: string, mode: number): void {
  chmodSync(path, mode)
  if (!isRoot) return
  const id = (flag: string) => Number(execFileSync('id', [flag, owner], { encoding: 'utf8' }))
  chownSync(path, id('-u'), id('-g'))
}
