// Waiting for real health: a cluster is asked until it says it is ready, and what it still lacks is shown meanwhile.

import { setTimeout as sleep } from 'node:timers/promises'
import { canRestart } from '../../clusters/etcd/status.ts'
import type { ClusterStatus, MemberStatus } from '../../clusters/member-status.ts'
import { HoldfastError } from '../../lib/errors.ts'
import type { Machine, MachineKind } from '../../machine/machine.ts'
import { diskProblem } from '../../targets/disk-space.ts'
import type { MachineState } from '../../targets/target.ts'
import { interrupted, stepsToRepeat, unfinishedSteps, type Work } from './work.ts'

const PAUSE_MS = 150

export interface WaitOptions {
  /** Only these machines have to be ready, and the cluster to work; by default all of them. */
  readonly machines?: readonly string[]
}

/** Resolves when the cluster is ready and the steps of its machines are done. */
export async function untilReady(work: Work, kind: MachineKind, { machines }: WaitOptions = {}): Promise<void> {
  const { clients, progress, signal, timeoutMs } = work
  const deadline = performance.now() + timeoutMs
  const shown = new Map<string, string>()
  for (;;) {
    if (signal.aborted) throw interrupted()
    const status = await clients.status(kind, signal)
    const members = status.members.filter(({ machine }) => machines?.includes(machine) ?? true)
    for (const member of members) tell(member)
    const steps = await unfinishedSteps(
      work,
      work.machines.filter((machine) => machine.kind === kind && (machines?.includes(machine.name) ?? true)),
    )
    const isReady = machines === undefined ? status.isReady : members.every((member) => member.isReady)
    if (isReady && steps.length === 0) return
    if (performance.now() > deadline) throw await notReady(work, kind, status, steps)
    await sleep(PAUSE_MS)
  }

  function tell({ machine, isReady, role, problem, waitsFor }: MemberStatus): void {
    const missing = waitsFor === undefined ? (problem ?? 'waiting') : `waiting for ${waitsFor}`
    const message = isReady ? (role ?? 'ready') : missing
    if (shown.get(machine) === message) return
    shown.set(machine, message)
    progress({ machine, state: isReady ? 'ready' : 'working', message })
  }
}

/** Resolves when the others of an etcd cluster can do without the machine for a moment. */
export async function untilRestartable(work: Work, machine: string): Promise<void> {
  const { clients, signal, timeoutMs } = work
  const deadline = performance.now() + timeoutMs
  for (;;) {
    if (signal.aborted) throw interrupted()
    const status = await clients.status('etcd', signal)
    if (canRestart(status, machine)) return
    if (performance.now() > deadline) throw await notReady(work, 'etcd', status, [])
    await sleep(PAUSE_MS)
  }
}

/**
 * Does the steps of a running machine that have to be done again, before anything else: a new password is first set where it is
 * checked, and only then used.
 */
export async function repeatSteps(work: Work, machine: Machine): Promise<void> {
  const { target, progress } = work
  const steps = stepsToRepeat(work, machine)
  if (steps.length === 0) return
  progress({ machine: machine.name, state: 'working', message: 'updating' })
  await target.write(machine)
  for (const step of steps) await target.restart(machine.name, step)
  await untilDone(work, machine)
}

/** Resolves when the steps of a machine are done. */
export async function untilDone(work: Work, machine: Machine): Promise<void> {
  const { signal, timeoutMs } = work
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const left = await unfinishedSteps(work, [machine])
    if (left.length === 0) return
    if (signal.aborted) throw interrupted()
    if (performance.now() > deadline) throw await notReady(work, machine.kind, undefined, left)
    await sleep(PAUSE_MS)
  }
}

/** Repeats a question to a cluster that may still be starting. */
export async function untilAnswering<T>({ signal, timeoutMs }: Work, question: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    try {
      return await question()
    } catch (error) {
      if (signal.aborted) throw interrupted()
      if (!(error instanceof HoldfastError && error.retryable) || performance.now() > deadline) throw error
    }
    await sleep(PAUSE_MS)
  }
}

async function notReady(
  work: Work,
  kind: MachineKind,
  status: ClusterStatus | undefined,
  steps: readonly string[],
): Promise<HoldfastError> {
  const { timeoutMs } = work
  const waiting = status?.members.filter((member) => !member.isReady) ?? []
  const reasons = [
    ...(status?.problem === undefined ? [] : [status.problem]),
    ...waiting.map(({ machine, problem }) => `${machine}: ${problem ?? 'not ready'}`),
    ...steps.map((step) => `waiting for ${step}`),
    ...(await fullDisks(work, kind)),
  ]
  return new HoldfastError(
    'NotReady',
    `Cannot bring up ${kind}: not ready after ${timeoutMs / 1000} s; ${reasons.join('; ')}`,
    {
      hint: `"${['holdfast logs', ...waiting.slice(0, 1).map(({ machine }) => machine)].join(' ')}" shows its log; "holdfast up" continues to wait`,
      retryable: true,
    },
  )
}

/** Often the reason behind all others: PostgreSQL and etcd do not start without room for their logs. */
async function fullDisks({ target, machines }: Work, kind: MachineKind): Promise<string[]> {
  const names = machines.filter((machine) => machine.kind === kind).map(({ name }) => name)
  const states = await target.observe({ names }).catch(() => new Map<string, MachineState>())
  return [...new Set(names.flatMap((name) => diskProblem(states.get(name)?.disk) ?? []))]
}
