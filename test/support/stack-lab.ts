// A whole stack as a user has it: a stack file in a temporary directory, bin/holdfast as a process of its own, and the
// programs that people use beside it. Whatever a test does, closing it purges the stack and ends what is left of it.

import { execFile } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Plan } from '../../src/stack/plan.ts'
import type { MachineStatus, StackStatus } from '../../src/stack/status.ts'
import { readListeners, socketOwners } from '../../src/targets/local/checks/listeners.ts'
import { processesBelow } from '../../src/targets/local/checks/processes.ts'
import { LocalTarget } from '../../src/targets/local/local-target.ts'
import { findKeeper, findSupervisor } from '../../src/targets/local/supervisor/keeper.ts'
import { layoutOf } from '../../src/targets/local/layout.ts'
import type { CommandResult } from './command-line.ts'
import { HoldfastProcess, zoneText } from './holdfast-process.ts'
import { until } from './until.ts'

export const HOLDFAST = join(import.meta.dirname, '../../bin/holdfast')
const isRoot = process.getuid?.() === 0
/** Ports below 1024 are for root. */
export const DNS_PORT = isRoot ? 53 : 5300

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
}

/** A socket that listens, of a process of the stack. */
export interface OpenPort {
  readonly protocol: 'tcp' | 'udp'
  readonly address: string
  readonly port: number
}

export class StackLab {
  readonly name: string
  readonly directory = mkdtempSync(join(tmpdir(), 'holdfast-stack-'))
  readonly state = join(this.directory, 'state')
  readonly #spawned: HoldfastProcess[] = []

  /** `body`: the stack file without `name`. Zones are in `zones`. Another run on this host may have a stack of the same purpose. */
  constructor(purpose: string, body: string) {
    this.name = `${purpose}-${process.pid}`
    // Users of services have to pass.
    chmodSync(this.directory, 0o711)
    this.write('zones/db.example.test', zoneText(['www A 192.0.2.80']))
    this.file(body)
  }

  /** Writes the stack file anew. */
  file(body: string): void {
    this.write('stack.yaml', `name: ${this.name}\n${body}\n`)
  }

  write(name: string, text: string, mode = 0o644): string {
    const path = join(this.directory, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { mode })
    return path
  }

  /** Below the directory of the stack. */
  path(...names: readonly string[]): string {
    return join(this.state, 'stacks', this.name, ...names)
  }

  secret(id: string): string {
    return readFileSync(this.path('secrets', id), 'utf8').trimEnd()
  }

  /** bin/holdfast, in the directory of the stack file, to its end. */
  run(command: string, ...args: readonly string[]): Promise<CommandResult> {
    return this.exec(HOLDFAST, [command, ...args, '--state', this.state])
  }

  spawn(command: string, ...args: readonly string[]): HoldfastProcess {
    const child = new HoldfastProcess([command, ...args, '--state', this.state], this.directory, [
      'ignore',
      'pipe',
      'pipe',
    ])
    this.#spawned.push(child)
    return child
  }

  /** What it prints; a failure is an error with all of it. */
  async done(command: string, ...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(command, ...args)
    if (code !== 0) throw new Error(`holdfast ${command} ended with ${code}\n${stderr}\n${stdout}`)
    return stdout
  }

  async up(...args: readonly string[]): Promise<StackStatus> {
    return JSON.parse(await this.done('up', '--yes', '--json', ...args)) as StackStatus
  }

  async plan(): Promise<Plan> {
    return JSON.parse((await this.run('plan', '--json')).stdout) as Plan
  }

  /** What the plan would do, machine by machine: `postgres-1 restart`. */
  async effects(): Promise<string[]> {
    const { machines } = await this.plan()
    return machines.filter(({ action }) => action !== 'none').map(({ machine, effect }) => `${machine} ${effect}`)
  }

  async status(): Promise<StackStatus> {
    return JSON.parse((await this.run('status', '--json')).stdout) as StackStatus
  }

  async machine(role: string): Promise<MachineStatus> {
    const found = (await this.status()).machines.find((each) => each.role === role)
    if (found === undefined) throw new Error(`no machine is ${role}`)
    return found
  }

  /** Any program; `code` is its exit code. */
  exec(program: string, args: readonly string[], { env = {}, input = '' }: RunOptions = {}): Promise<CommandResult> {
    const { promise, resolve } = Promise.withResolvers<CommandResult>()
    const { STATE_DIRECTORY: _, ...own } = process.env
    const options = { cwd: this.directory, env: { ...own, ...env }, maxBuffer: 2 ** 26 }
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr })
    })
    // A program that does not read it may have ended by now.
    child.stdin?.on('error', () => undefined).end(input)
    return promise
  }

  sh(script: string): Promise<CommandResult> {
    return this.exec('sh', ['-c', script])
  }

  /** As people use it, with the variables of client/env in place; `env` wins over them. */
  async client(script: string, env: Readonly<Record<string, string>> = {}): Promise<CommandResult> {
    const exports = Object.entries(env).map(([name, value]) => `export ${name}='${value}'; `)
    return this.sh(`. ${this.path('client/env')}; ${exports.join('')}${script}`)
  }

  etcdctl(user: string, ...args: readonly string[]): Promise<CommandResult> {
    const password = this.secret(user === 'root' ? 'etcd-root-password' : `etcd-user-${user}-password`)
    const [, endpoints = ''] = /ETCDCTL_ENDPOINTS=(.*)/u.exec(readFileSync(this.path('client/env'), 'utf8')) ?? []
    return this.exec('etcdctl', args, {
      env: {
        ...{ ETCDCTL_API: '3', ETCDCTL_ENDPOINTS: endpoints, ETCDCTL_CACERT: this.path('client/etcd-ca.pem') },
        ...{ ETCDCTL_CERT: this.path('client/etcd.pem'), ETCDCTL_KEY: this.path('client/etcd.key') },
        ETCDCTL_USER: `${user}:${password}`,
      },
    })
  }

  /** Output of psql, one line a row; a failure is an error. */
  async sql(statement: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
    const { code, stdout, stderr } = await this.psql(statement, env)
    if (code !== 0) throw new Error(stderr)
    return stdout.trim()
  }

  psql(statement: string, env: Readonly<Record<string, string>> = {}): Promise<CommandResult> {
    return this.client(`psql -XAtq -v ON_ERROR_STOP=1 -c "${statement}"`, { PGCONNECT_TIMEOUT: '5', ...env })
  }

  /** Answers of a name server, in order. */
  async dig(server: string, ...args: readonly string[]): Promise<string[]> {
    const { stdout } = await this.exec('dig', [
      ...['+short', '+tries=1', '+time=3', '-p', String(DNS_PORT), `@${server}`],
      ...args,
    ])
    return stdout.trimEnd().split('\n').toSorted()
  }

  /** Process ids of what runs: `etcd-1/etcd`, and PostgreSQL beside its Patroni as `postgres-1/postgres`. */
  async pids(): Promise<Record<string, number>> {
    const states = await new LocalTarget({ directory: this.path(), isRoot }).observe()
    const services = [...states].flatMap(([machine, { services: all }]) =>
      [...all].flatMap(([service, { pid }]) => (pid === undefined ? [] : [[`${machine}/${service}`, pid] as const])),
    )
    const servers = [...states.keys()].flatMap((machine) => {
      const home = this.path('machines', machine, 'var/lib/postgresql')
      // One version of it.
      const file = join(home, existsSync(home) ? readdirSync(home)[0] : '', 'main/postmaster.pid')
      if (!existsSync(file)) return []
      return [[`${machine}/postgres`, Number(readFileSync(file, 'utf8').split('\n')[0])] as const]
    })
    return Object.fromEntries([...services, ...servers])
  }

  /** Every process of the stack. */
  processes(): number[] {
    return [...processesBelow(this.path()).keys()]
  }

  openPorts(): OpenPort[] {
    const own = new Set(this.processes())
    const listeners = readListeners()
    const owners = socketOwners(new Set(listeners.map(({ inode }) => inode)), own)
    return listeners
      .filter(({ inode }) => own.has(owners.get(inode) ?? -1))
      .map(({ protocol, address, port }) => ({ protocol, port, address: readable(address) }))
  }

  /** What services have written. */
  logs(): string {
    return readdirSync(this.path('machines'))
      .flatMap((machine) => filesBelow(this.path('machines', machine, 'log')))
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n')
  }

  async close(): Promise<void> {
    await Promise.all(this.#spawned.map((child) => child.end()))
    if (existsSync(this.path())) await this.run('down', this.name, '--purge', '--yes')
    const layout = layoutOf(this.path())
    await until('the end of all', () => {
      const pids = [findKeeper(layout)?.pid, findSupervisor(layout), ...this.processes()]
      const left = pids.filter((pid) => pid !== undefined)
      for (const pid of left) process.kill(pid, 'SIGKILL')
      return left.length === 0
    })
    rmSync(this.directory, { recursive: true, force: true })
  }
}

/** Of an IPv4 address in the kernel's tables, and of an IPv6 one as it stands there. */
function readable(address: string): string {
  if (address.length > 8) return address
  return (address.match(/../gu) ?? [])
    .toReversed()
    .map((octet) => Number.parseInt(octet, 16))
    .join('.')
}

export function filesBelow(directory: string): string[] {
  if (!existsSync(directory)) return []
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}
