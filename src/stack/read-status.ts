// The status of a stack: clusters and machines are asked at the same time, and what they say becomes one word for the
// stack. Clusters of which nothing runs are not asked: their answer would only be that they do not.

import { resolve } from '../clusters/dns/dns-client.ts'
import type { ClusterStatus } from '../clusters/member-status.ts'
import type { Machine, MachineKind } from '../machine/machine.ts'
import { diskProblem } from '../targets/disk-space.ts'
import type { ExistingMachine, Target } from '../targets/target.ts'
import type { Clients } from './clients.ts'
import { isStoppedOnPurpose, machineStatus } from './machine-status.ts'
import type { Stack } from './stack.ts'
import type { ClusterState, MachineStatus, StackState, StackStatus } from './status.ts'

export interface StatusOptions {
  readonly stack: Stack
  readonly target: Pick<Target, 'observe' | 'unread'>
  readonly clients: Pick<Clients, 'status'>
  readonly machines: readonly Machine[]
  readonly existing: ReadonlyMap<string, ExistingMachine>
  /** When certificates expire, by id: `etcd-1/server`. */
  readonly expiries: ReadonlyMap<string, Date>
  /** A supervisor restarts what ends. */
  readonly isSupervised: boolean
  /** `up` has begun to create the stack, at some time. */
  readonly isCreated: boolean
  /** When `down` stopped the stack, ISO 8601; undefined while it should run. */
  readonly stoppedAt: string | undefined
  readonly signal: AbortSignal
}

type Found = Omit<StackStatus, 'stack' | 'file' | 'directory' | 'isSupervised' | 'supervisorPid' | 'examples'>

const KINDS: readonly MachineKind[] = ['etcd', 'dns', 'postgres', 'haproxy']
const NOTHING = { problems: [], unreadHypervisors: [], clusters: [], machines: [], names: [] } as const

export async function readStatus(options: StatusOptions): Promise<Found> {
  const { stack, target, clients, machines, existing, expiries, isSupervised, isCreated, stoppedAt, signal } = options
  const states = await target.observe({ isTolerant: true })
  const unread = target.unread()
  if (!isCreated && existing.size === 0 && unread.length === 0)
    return { ...NOTHING, state: 'absent', isReady: false, stoppedAt: undefined }
  const sights = machines.map((machine) => ({
    machine,
    existing: existing.get(machine.name),
    state: states.get(machine.name),
    expires: expiries.get(`${machine.name}/server`),
    isUnread: unread.some(({ where }) => where === machine.hardware.hypervisor),
    isStackStopped: stoppedAt !== undefined,
  }))
  const isAsked =
    sights.some(({ isUnread, ...sight }) => isUnread || sight.existing !== undefined) &&
    !sights.every(isStoppedOnPurpose)
  const kinds = isAsked ? KINDS.filter((kind) => machines.some((machine) => machine.kind === kind)) : []
  const [names, ...clusters] = await Promise.all([
    isAsked ? readNames(stack, signal) : [],
    ...kinds.map((kind) => clients.status(kind, signal)),
  ])
  const members = new Map(clusters.flatMap((cluster) => cluster.members.map((member) => [member.machine, member])))
  const rows = sights.map(({ machine, ...sight }) =>
    machineStatus(machine, { ...sight, member: members.get(machine.name) }),
  )
  const isStopped = rows.length > 0 && rows.every(({ state }) => state === 'stopped')
  const problems = [
    ...unread.map(({ where, error }) => `${where}: ${error.message}`),
    ...clusters.flatMap(({ isReady, problem }, index) => (isReady ? [] : `${kinds[index]}: ${problem ?? 'not ready'}`)),
    ...diskProblems(rows),
    ...(isSupervised || isStopped ? [] : ['the supervisor is not running; start it with "holdfast up"']),
    ...(isAsked || isStopped ? [] : ['no machine is there; "holdfast up" creates them']),
  ]
  const state = stateOf(rows, clusters, { isStopped, isAsked, problems })
  return {
    state,
    isReady: state === 'ready',
    stoppedAt: isStopped ? stoppedAt : undefined,
    problems,
    unreadHypervisors: unread.map(({ where }) => where),
    clusters: clusters.map((cluster, index) => clusterState(kinds[index], cluster)),
    machines: rows,
    names,
  }
}

function stateOf(
  rows: readonly MachineStatus[],
  clusters: readonly ClusterStatus[],
  { isStopped, isAsked, problems }: { isStopped: boolean; isAsked: boolean; problems: readonly string[] },
): StackState {
  if (isStopped) return 'stopped'
  if (!isAsked || clusters.some(({ isWorking }) => !isWorking)) return 'down'
  return problems.length > 0 || rows.some(({ state }) => state !== 'ready') ? 'degraded' : 'ready'
}

function clusterState(kind: MachineKind, { isReady, isWorking, problem }: ClusterStatus): ClusterState {
  return { kind, state: isReady ? 'ready' : isWorking ? 'degraded' : 'down', problem }
}

/** One for each file system, however many machines of this host are on it. */
function diskProblems(rows: readonly MachineStatus[]): string[] {
  const groups = Map.groupBy(rows, ({ disk }) => diskProblem(disk))
  return [...groups].flatMap(([problem, here]) => {
    if (problem === undefined) return []
    return here.length === 1 ? `${here[0].machine}: ${problem}` : problem
  })
}

/** As the first name server that answers has them. */
async function readNames({ dns, postgres, domain }: Stack, signal: AbortSignal): Promise<StackStatus['names']> {
  if (dns?.engine !== 'holdfast' || postgres === undefined) return []
  const names = ['primary', 'replica'].map((label) => `${label}.${postgres.patroni.scope}.${domain}`)
  return Promise.all(
    names.map(async (name) => {
      const answers = dns.servers.map(({ address }) => resolve(address, dns.port, name, signal))
      return { name, addresses: await Promise.any(answers).catch(() => []) }
    }),
  )
}
