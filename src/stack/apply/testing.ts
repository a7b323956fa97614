// A world for tests of the work on etcd: a cluster that counts its members as etcd does, and a target whose machines are its
// processes. Both write what happens to them into one list, in order; and whenever a process stops, the cluster notes whether it
// still has quorum.

import { etcdMachines } from '../../clusters/etcd/machines.ts'
import { LOG, type MemberPlace, PATHS } from '../../clusters/etcd/settings.ts'
import type { EtcdSpec } from '../../clusters/etcd/spec.ts'
import { etcdStatus } from '../../clusters/etcd/status.ts'
import { clientUrl, peerUrl } from '../../clusters/etcd/urls.ts'
import type { ClusterStatus } from '../../clusters/member-status.ts'
import type { CertificateRequest, Keyring, Site } from '../../clusters/site.ts'
import type { Member, RangeResult, Status } from '../../etcd/client.ts'
import { HoldfastError } from '../../lib/errors.ts'
import { Secret } from '../../lib/secret.ts'
import { plain, reveal } from '../../machine/content.ts'
import type { Machine, MachineFile, MachineKind, Service } from '../../machine/machine.ts'
import type { ExistingMachine, LogLine, MachineState, Target } from '../../targets/target.ts'
import { compareMachine, removedMachine } from '../compare.ts'
import type { MachinePlan } from '../plan.ts'
import type { ProgressEvent } from '../progress.ts'
import type { EtcdCalls, Work } from './work.ts'

interface FakeMember {
  readonly id: bigint
  readonly address: string
  /** Empty until it has started. */
  name: string
  isLearner: boolean
}

/** An etcd cluster, and what its processes are. */
export class FakeEtcd implements EtcdCalls {
  readonly members: FakeMember[] = []
  /** Names of machines whose etcd runs. */
  readonly running = new Set<string>()
  readonly happened: string[]
  users: Readonly<Record<string, readonly string[]>> = { root: ['root'] }
  hasAuth = true
  #ids = 0n

  constructor(happened: string[]) {
    this.happened = happened
  }

  /** A member that is there, whatever happened before. */
  has({ name, address }: MemberPlace, how: { readonly isLearner?: boolean; readonly isRunning?: boolean } = {}): this {
    this.members.push({ id: ++this.#ids, address, name, isLearner: how.isLearner ?? false })
    if (how.isRunning ?? true) this.running.add(name)
    return this
  }

  /** etcd of a machine starts: as a member that the cluster knows by its address. */
  start({ name, address }: MemberPlace): void {
    const member = this.members.find((each) => each.address === address)
    if (member === undefined) throw new Error(`${name} started, and is no member`)
    member.name = name
    this.running.add(name)
  }

  stop(name: string): void {
    this.running.delete(name)
    if (!this.hasQuorum()) this.happened.push('QUORUM LOST')
  }

  hasQuorum(): boolean {
    const voters = this.members.filter(({ isLearner }) => !isLearner)
    return voters.filter(({ name }) => this.running.has(name)).length > voters.length / 2
  }

  async range(): Promise<RangeResult> {
    this.#requireQuorum()
    return { revision: 1n, clusterId: 1n, raftTerm: 1n, kvs: [], count: 0n, more: false }
  }

  async memberList(): Promise<readonly Member[]> {
    return this.members.map(({ id, name, address, isLearner }) => ({
      ...{ id, name, isLearner, peerUrls: [peerUrl(address)], clientUrls: name === '' ? [] : [clientUrl(address)] },
    }))
  }

  async status(endpoint?: string): Promise<Status> {
    const member = this.members.find(({ name, address }) =>
      endpoint === undefined ? this.running.has(name) : endpoint === clientUrl(address),
    )
    if (member === undefined || !this.running.has(member.name)) throw unreachable()
    return {
      ...{ memberId: member.id, leader: this.#leader()?.id ?? 0n, isLearner: member.isLearner, version: '3.4.23' },
      ...{ clusterId: 1n, revision: 1n, dbSizeBytes: 0n, dbSizeInUseBytes: 0n, errors: [] },
      ...{ raftTerm: 1n, raftIndex: 1n, raftAppliedIndex: 1n },
    }
  }

  async memberAdd(peerUrls: readonly string[]): Promise<Member> {
    this.#requireQuorum()
    const address = new URL(peerUrls[0]).hostname
    this.happened.push(`add ${address}`)
    this.members.push({ id: ++this.#ids, address, name: '', isLearner: true })
    return (await this.memberList())[this.members.length - 1]
  }

  async memberPromote(id: bigint): Promise<void> {
    this.#requireQuorum()
    const member = this.members.find((each) => each.id === id)
    if (member === undefined || !this.running.has(member.name))
      throw new HoldfastError('EtcdFailed', 'can only promote a learner member which is in sync with leader')
    this.happened.push(`promote ${member.name}`)
    member.isLearner = false
  }

  async memberRemove(id: bigint): Promise<void> {
    this.#requireQuorum()
    const index = this.members.findIndex((each) => each.id === id)
    const [{ name, address }] = this.members.splice(index, 1)
    this.happened.push(`drop ${name === '' ? address : name}`)
    this.stop(name)
  }

  async moveLeader(): Promise<void> {
    this.happened.push('hand over the lead')
  }

  async delete(): Promise<{ readonly revision: bigint; readonly deleted: bigint }> {
    return { revision: 1n, deleted: 0n }
  }

  async isAuthEnabled(): Promise<boolean> {
    return this.hasAuth
  }

  async userList(): Promise<readonly string[]> {
    return Object.keys(this.users)
  }

  async userRoles(name: string): Promise<readonly string[]> {
    return this.users[name] ?? []
  }

  #leader(): FakeMember | undefined {
    if (!this.hasQuorum()) return undefined
    return this.members.findLast(({ name, isLearner }) => !isLearner && this.running.has(name))
  }

  #requireQuorum(): void {
    if (!this.hasQuorum()) throw unreachable()
  }
}

function unreachable(): HoldfastError {
  return new HoldfastError('EtcdUnreachable', 'Cannot reach etcd: connection refused', { retryable: true })
}

/** Machines as they were written, with etcd as a process of a FakeEtcd. */
export class FakeTarget implements Target {
  readonly machinesNow = new Map<string, Machine>()
  /** Machines with the data of a member. */
  readonly filled = new Set<string>()
  /** Machines on which an etcd without data has made an empty database. */
  readonly littered = new Set<string>()
  /** Machines whose data is on a volume that the stack file names. */
  readonly ownVolumes = new Set<string>()
  readonly etcd: FakeEtcd
  /** Machines whose etcd does not come up. */
  readonly broken = new Set<string>()

  constructor(etcd: FakeEtcd) {
    this.etcd = etcd
  }

  async read(): Promise<ReadonlyMap<string, ExistingMachine>> {
    return new Map([...this.machinesNow].map(([name, machine]) => [name, existingOf(machine)]))
  }

  async write(machine: Machine): Promise<void> {
    this.etcd.happened.push(`write ${machine.name}`)
    const before = this.machinesNow.get(machine.name)?.files
    const kept = (file: MachineFile) => before?.find(({ path }) => file.isInitial === true && path === file.path)
    this.machinesNow.set(machine.name, { ...machine, files: machine.files.map((file) => kept(file) ?? file) })
  }

  async start(machine: Machine): Promise<void> {
    if (machine.kind !== 'etcd') this.etcd.happened.push(`start ${machine.name}`)
    else if (!this.etcd.running.has(machine.name)) {
      this.etcd.happened.push(`start ${machine.name}`)
      this.launch(machine.name)
    }
  }

  async restart(name: string, service: string): Promise<void> {
    this.etcd.happened.push(`restart ${name}/${service}`)
    if (service !== 'etcd') {
      this.etcd.hasAuth = true
      return
    }
    this.etcd.stop(name)
    this.launch(name)
  }

  async reload(): Promise<void> {}
  async stop(): Promise<void> {}
  async settle(): Promise<void> {}
  async shutdown(): Promise<void> {}

  async remove(name: string): Promise<void> {
    this.etcd.happened.push(`remove ${name}`)
    if (this.etcd.running.has(name)) this.etcd.stop(name)
    this.machinesNow.delete(name)
    if (this.ownVolumes.has(name)) return
    this.filled.delete(name)
    this.littered.delete(name)
  }

  async isFilled(name: string, path: string): Promise<boolean> {
    return this.filled.has(name) || (path !== LOG && this.littered.has(name))
  }

  async observe(): Promise<ReadonlyMap<string, MachineState>> {
    return new Map([...this.machinesNow].map(([name, machine]) => [name, this.#stateOf(machine)]))
  }

  async compareHardware(): Promise<ReadonlyMap<string, readonly never[]>> {
    return new Map()
  }

  async machines(): Promise<ReadonlyMap<string, MachineKind | undefined>> {
    return new Map([...this.machinesNow].map(([name, { kind }]) => [name, kind]))
  }

  unread(): readonly never[] {
    return []
  }

  async *logs(): AsyncGenerator<LogLine> {}

  overseer(): { readonly isThere: boolean; readonly pid: undefined } {
    return { isThere: true, pid: undefined }
  }

  /** Its etcd starts. Without data, it asks the other members that its settings name for the id it has, if there are any. */
  launch(name: string): void {
    const machine = this.machinesNow.get(name)
    if (machine === undefined) throw new Error(`no machine ${name}`)
    if (this.broken.has(name)) return
    const initial = machine.files.find(({ path }) => path === PATHS.initial)
    const settings = reveal(initial?.content ?? [])
    const isAlone = settings.includes('=existing') && !/^ETCD_INITIAL_CLUSTER=.*,/mu.test(settings)
    if (isAlone && !this.filled.has(name)) {
      this.littered.add(name)
      return
    }
    this.filled.add(name)
    this.etcd.start(machine)
  }

  #stateOf({ name, kind, services }: Machine): MachineState {
    const isRunning = kind !== 'etcd' || this.etcd.running.has(name)
    const stateOf = ({ once }: Service) => (once ? 'done' : isRunning ? 'running' : 'waiting')
    const rest = { pid: undefined, since: 0, restarts: 0, failure: undefined }
    return { services: new Map(services.map((service) => [service.name, { ...rest, state: stateOf(service) }])) }
  }
}

function existingOf({ name, kind, address, files, services, directories }: Machine): ExistingMachine {
  return {
    ...{ name, kind, address, services, pending: new Map() },
    files: new Map(files.map(({ path, owner, mode, content }) => [path, { owner, mode, text: reveal(content) }])),
    directories: new Map(
      directories.map(({ path, owner, mode, isData = false }) => [path, { owner, mode, isData }] as const),
    ),
  }
}

export function fakeSite(change: Partial<Keyring> = {}): Site {
  const certificate = ({ id }: CertificateRequest) => ({
    ...{ certificate: plain(`certificate ${id}\n`), key: [new Secret(`key ${id}\n`)] },
  })
  const secret = (id: string, given?: Secret) => given ?? new Secret(`secret of ${id}`)
  return {
    ...{ stack: 'lab', domain: 'lab.test', path: (machine, path) => `/machines/${machine}${path}` },
    ...{ program: ['holdfast'], postgresVersion: '15', watchdogDevice: '/dev/watchdog' },
    keyring: { authority: plain('AUTHORITY\n'), secret, certificate, ...change },
  }
}

/** A stack with etcd, as it is and as it should be. */
export class EtcdWorld {
  readonly happened: string[] = []
  readonly reported: ProgressEvent[] = []
  readonly etcd = new FakeEtcd(this.happened)
  readonly target = new FakeTarget(this.etcd)
  /** Other machines that should be there. */
  readonly more: Machine[] = []
  site = fakeSite()
  signal = new AbortController().signal
  timeoutMs = 300

  /** A cluster that was formed before, with all members running. */
  formed(spec: EtcdSpec): this {
    for (const machine of etcdMachines(spec, this.site, spec.members)) {
      this.target.machinesNow.set(machine.name, machine)
      this.target.filled.add(machine.name)
      this.etcd.has(machine)
    }
    return this
  }

  /** The data of a member is gone, and its process starts again. */
  lose(name: string): this {
    this.target.filled.delete(name)
    this.etcd.running.delete(name)
    this.target.launch(name)
    return this
  }

  /** What is to be done to get there. `plans`: for machines whose plan is another one than their files say. */
  async work(spec: EtcdSpec, plans: readonly MachinePlan[] = []): Promise<Work> {
    const { etcd, target, site, signal, timeoutMs } = this
    const existing = await target.read()
    const states = await target.observe()
    const formed = [...existing.values()].filter(({ kind }) => kind === 'etcd')
    const machines = [...etcdMachines(spec, site, formed), ...this.more]
    const compared = machines.map((machine) =>
      compareMachine(machine, existing.get(machine.name), states.get(machine.name), { withOwners: true }),
    )
    const gone = [...existing.values()].filter(({ name }) => !machines.some((each) => each.name === name))
    const all = [...compared, ...gone.map(removedMachine), ...plans]
    const ready: ClusterStatus = { members: [], isReady: true, isWorking: true, problem: undefined }
    return {
      stack: {
        ...{ name: 'lab', file: '/stack.yaml', target: 'local', domain: 'lab.test', etcd: spec },
        ...{ dns: undefined, postgres: undefined, authority: undefined, notices: [] },
      },
      ...{ target, machines, existing, states, signal, timeoutMs },
      restarts: { machines: new Set(), foreign: new Set() },
      plans: new Map(all.map((plan) => [plan.machine, plan])),
      clients: {
        etcd: () => etcd,
        patroni: noPostgres,
        postgresPassword: noPostgres,
        status: async (kind) => (kind === 'etcd' ? etcdStatus(spec, etcd, signal) : ready),
      },
      renderMember: (name, members) => {
        const machine = etcdMachines(spec, site, members).find((each) => each.name === name)
        if (machine === undefined) throw new Error(`no machine ${name}`)
        return machine
      },
      progress: (event) => this.reported.push(event),
    }
  }
}

function noPostgres(): never {
  throw new Error('no PostgreSQL here')
}
