// How a stack stands: what the clusters say of their members beside what the target says of their processes.

import { resolve } from '../clusters/dns/dns-client.ts'
import type { ClusterStatus, MemberStatus } from '../clusters/member-status.ts'
import type { Machine, MachineKind } from '../machine/machine.ts'
import type { ExistingMachine, MachineState, Target } from '../targets/target.ts'
import type { Clients } from './clients.ts'
import type { Stack } from './stack.ts'
import type { MachineStatus, StackStatus } from './status.ts'

export interface StatusOptions {
  readonly stack: Stack
  readonly target: Target
  readonly clients: Clients
  readonly machines: readonly Machine[]
  /** When certificates expire, by id: `etcd-1/server`. */
  readonly expiries: ReadonlyMap<string, Date>
  /** Somebody restarts what ends. */
  readonly isSupervised: boolean
  readonly signal: AbortSignal
}

const KINDS: readonly MachineKind[] = ['etcd', 'dns', 'postgres', 'haproxy']

export async function readStatus(
  options: StatusOptions,
): Promise<Pick<StackStatus, 'isReady' | 'problems' | 'machines' | 'names'>> {
  const { stack, target, clients, machines, expiries, isSupervised, signal } = options
  const kinds = KINDS.filter((kind) => machines.some((machine) => machine.kind === kind))
  const [existing, states, names, ...clusters] = await Promise.all([
    target.read({ isTolerant: true }),
    target.observe({ isTolerant: true }),
    readNames(stack, signal),
    ...kinds.map((kind) => clients.status(kind, signal)),
  ])
  const members = new Map(clusters.flatMap((cluster) => cluster.members.map((member) => [member.machine, member])))
  const unread = target.unread()
  const rows = machines.map((machine) =>
    machineStatus(machine, {
      existing: existing.get(machine.name),
      state: states.get(machine.name),
      member: members.get(machine.name),
      expires: expiries.get(`${machine.name}/server`),
      isUnread: unread.some(({ where }) => where === machine.hardware.hypervisor),
    }),
  )
  const problems = [
    ...unread.map(({ where, error }) => `${where}: ${error.message}`),
    ...kinds.flatMap((kind, index) => problemOf(kind, clusters[index])),
  ]
  if (!isSupervised && rows.some(({ state }) => state !== 'stopped'))
    problems.push('nothing looks after the processes: "holdfast up" has it done again')
  return { isReady: problems.length === 0, problems, machines: rows, names }
}

interface Sight {
  readonly existing: ExistingMachine | undefined
  readonly state: MachineState | undefined
  readonly member: MemberStatus | undefined
  readonly expires: Date | undefined
  /** Nobody could be asked about the machine itself. */
  readonly isUnread: boolean
}

function machineStatus(
  { name, kind, address }: Machine,
  { existing, state, member, expires, isUnread }: Sight,
): MachineStatus {
  const services = [...(state?.services.values() ?? [])]
  // A step that was done stays done.
  const isStill = existing === undefined || services.every((service) => /^(?:stopped|done)$/u.test(service.state))
  const isStopped = isStill && !isUnread
  return {
    machine: name,
    kind,
    address,
    state: isStopped ? 'stopped' : member?.isReady === true ? 'ready' : 'not ready',
    role: isStopped ? undefined : member?.role,
    version: member?.version,
    lagBytes: member?.lagBytes,
    certificateExpires: expires?.toISOString(),
    restarts: services.reduce((sum, { restarts }) => sum + restarts, 0),
    lastError: isStopped
      ? undefined
      : (member?.problem ?? services.map(({ lastError }) => lastError).find((error) => error !== undefined)),
  }
}

function problemOf(kind: MachineKind, { isReady, problem }: ClusterStatus): string[] {
  return isReady ? [] : [`${kind}: ${problem ?? 'not ready'}`]
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
