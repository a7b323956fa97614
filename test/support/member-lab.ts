// A stack whose machines are named one by one in its file, so that members can come and go; watched from inside this
// process, as asking by a command again and again would take more CPU than the stack itself.

import { join } from 'node:path'
import { type PatroniAccess, patroniAccess } from '../../src/clusters/postgres/access.ts'
import type { EtcdOptions } from '../../src/etcd/options.ts'
import { StackKeyring } from '../../src/stack/keyring.ts'
import { Operator } from '../../src/stack/operator.ts'
import type { StackStatus } from '../../src/stack/status.ts'
import { type Layout, layoutOf } from '../../src/targets/local/layout.ts'
import { findKeeper, findSupervisor } from '../../src/targets/local/supervisor/keeper.ts'
import { OWN_VARIABLES } from '../../src/targets/local/supervisor/launch.ts'
import { allProcesses, commandOf, environmentOf } from '../../src/targets/local/supervisor/process-table.ts'
import { processesBelow } from '../../src/targets/local/checks/processes.ts'
import { DNS_PORT, StackLab } from './stack-lab.ts'

/** Names of the machines of each kind. */
export interface Members {
  readonly etcd: readonly string[]
  readonly dns: readonly string[]
  readonly postgres: readonly string[]
}

/** As examples/lab has them. */
export const LAB_MEMBERS: Members = {
  etcd: ['etcd-1', 'etcd-2', 'etcd-3'],
  dns: ['dns-1', 'dns-2'],
  postgres: ['postgres-1', 'postgres-2', 'postgres-3'],
}

export const DOMAIN = 'lab.test'
export const PRIMARY = `primary.pg.${DOMAIN}`
const NEVER = new AbortController().signal
const isRoot = process.getuid?.() === 0

export class MemberLab extends StackLab {
  members: Members
  #operator: Promise<Operator> | undefined

  constructor(name: string, members: Members = LAB_MEMBERS) {
    super(name, fileOf(members))
    this.members = members
  }

  /** In the file; `up` makes it so. */
  change(members: Partial<Members>): void {
    this.members = { ...this.members, ...members }
    this.file(fileOf(this.members))
    this.#operator = undefined
  }

  get machines(): string[] {
    return [...this.members.etcd, ...this.members.dns, ...this.members.postgres]
  }

  get layout(): Layout {
    return layoutOf(this.path())
  }

  operator(): Promise<Operator> {
    const file = join(this.directory, 'stack.yaml')
    this.#operator ??= Operator.open({
      ...{ file, state: this.state, env: {}, isRoot },
      stopSignal: () => new AbortController().signal,
    })
    return this.#operator
  }

  /** The same as the command tells. */
  override async status(): Promise<StackStatus> {
    return (await this.operator()).status(NEVER)
  }

  /** What keeps it from being as it should be: nothing, when all is ready, supervised, and every service runs. */
  async problems(): Promise<string[]> {
    const { target } = await this.operator()
    const { problems } = await this.status()
    const states = await target.observe()
    const waiting = [...states].flatMap(([machine, { services }]) =>
      [...services].flatMap(([service, { state }]) =>
        state === 'running' || state === 'done' ? [] : [`${service} of ${machine} is ${state}`],
      ),
    )
    const missing = this.supervisors().length === 2 ? [] : ['the supervisor or its keeper is gone']
    return [...problems, ...waiting, ...missing]
  }

  async addresses(): Promise<Map<string, string>> {
    const { etcd, dns, postgres } = (await this.operator()).stack
    const all = [...(etcd?.members ?? []), ...(dns?.servers ?? []), ...(postgres?.members ?? [])]
    return new Map(all.map(({ name, address }) => [name, address]))
  }

  /** The machine that leads PostgreSQL. */
  async primary(): Promise<string> {
    return (await this.machine('primary')).machine
  }

  /** As root. */
  async etcdOptions(): Promise<EtcdOptions> {
    const addresses = await this.addresses()
    return {
      endpoints: this.members.etcd.map((name) => `${addresses.get(name)}:2379`),
      tls: {
        caFile: this.path('client/etcd-ca.pem'),
        certFile: this.path('client/etcd-root.pem'),
        keyFile: this.path('client/etcd-root.key'),
      },
      username: 'root',
      password: this.secret('etcd-root-password'),
    }
  }

  async patroni(): Promise<PatroniAccess> {
    const { stack } = await this.operator()
    if (stack.postgres === undefined) throw new Error('no PostgreSQL in the stack')
    return patroniAccess(stack.postgres, await StackKeyring.open(this.path('secrets'), { stack: this.name }))
  }

  /** Process ids of the supervisor and its keeper, as far as they run. */
  supervisors(): number[] {
    return [findKeeper(this.layout)?.pid, findSupervisor(this.layout)].filter((pid) => pid !== undefined)
  }

  /** All processes of a machine. */
  machineProcesses(machine: string): number[] {
    const place = join('machines', machine)
    return [...processesBelow(this.path())].filter(([, path]) => isWithin(path, place)).map(([pid]) => pid)
  }

  /** As a machine without power: its processes are gone, and nobody starts them while `run` lasts. */
  async withoutMachine(machine: string, run: () => Promise<void>): Promise<void> {
    const supervisors = this.supervisors()
    this.signal(supervisors, 'SIGSTOP')
    try {
      this.signalMachine(machine, 'SIGKILL')
      await run()
    } finally {
      this.signal(supervisors, 'SIGCONT')
    }
  }

  signalMachine(machine: string, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.signal(this.machineProcesses(machine), signal)
  }

  signal(pids: readonly number[], signal: NodeJS.Signals): void {
    for (const pid of pids)
      try {
        process.kill(pid, signal)
      } catch {
        // It has ended meanwhile.
      }
  }

  /** Services that do not run exactly once, PostgreSQL and the supervisor included: `2 × etcd of etcd-1`. */
  async miscounted(): Promise<string[]> {
    const { target } = await this.operator()
    const wrong: string[] = []
    const count = (what: string, found: number) => {
      if (found !== 1) wrong.push(`${found} × ${what}`)
    }
    for (const [machine, { services }] of await target.observe()) {
      const processes = this.machineProcesses(machine)
      for (const [service, { state }] of services)
        if (state !== 'done')
          count(`${service} of ${machine}`, processes.filter((pid) => isService(pid, service)).length)
      if (this.members.postgres.includes(machine))
        count(`PostgreSQL of ${machine}`, processes.filter(isPostmaster).length)
    }
    const { keeperLock, directory } = this.layout
    const commands = allProcesses().map(({ pid }) => commandOf(pid))
    // A keeper has the words of the supervisor among its own; so has the flock that waits for its turn.
    const keepers = commands.filter((words) => words.includes(keeperLock))
    const supervisors = commands.filter((words) => words[0] !== 'flock' && words.at(-1) === directory)
    count('keeper', keepers.length)
    count('supervisor', supervisors.length - keepers.length)
    return wrong
  }
}

function fileOf({ etcd, dns, postgres }: Members): string {
  const list = (names: readonly string[]) => `[${names.map((name) => `{ name: ${name} }`).join(', ')}]`
  return `domain: ${DOMAIN}
etcd: { members: ${list(etcd)} }
dns: { servers: ${list(dns)}, zones: ./zones, port: ${DNS_PORT} }
postgres: { members: ${list(postgres)} }`
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`)
}

/** The service itself, not something that it has started. */
function isService(pid: number, service: string): boolean {
  const environment = environmentOf(pid)
  return environment?.get(OWN_VARIABLES.service) === service && environment.get(OWN_VARIABLES.pid) === String(pid)
}

/** What it starts writes other words over these. */
function isPostmaster(pid: number): boolean {
  const [program = '', option] = commandOf(pid)
  return program.endsWith('/postgres') && option === '-D'
}
