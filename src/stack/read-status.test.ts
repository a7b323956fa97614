import { expect, test } from 'vitest'
import { machine } from '../../test/support/local-stack.ts'
import type { ClusterStatus, MemberStatus } from '../clusters/member-status.ts'
import { HoldfastError } from '../lib/errors.ts'
import type { ServiceFailure } from '../targets/service-failure.ts'
import type { ExistingMachine, MachineState, ServiceState } from '../targets/target.ts'
import { readStatus, type StatusOptions } from './read-status.ts'
import type { Stack } from './stack.ts'

const NAMES = ['etcd-1', 'etcd-2', 'etcd-3']
const RUNNING: ServiceState = { state: 'running', pid: 1, since: 0, restarts: 0, failure: undefined }
const STOPPED: ServiceState = { ...RUNNING, state: 'stopped', pid: undefined }
const DISK = { path: '/', freeBytes: 2 ** 40, totalBytes: 2 ** 41 }

function member(name: string, isReady: boolean): MemberStatus {
  const known = { role: isReady ? 'follower' : undefined, version: '3.5.16', lagBytes: undefined }
  return { machine: name, isReady, ...known, problem: isReady ? undefined : 'not reachable' }
}

function cluster(ready: readonly boolean[], isWorking = true): ClusterStatus {
  const isReady = ready.every(Boolean)
  const problem = isReady ? undefined : `${ready.filter(Boolean).length} of ${ready.length} members`
  return { members: NAMES.map((name, index) => member(name, ready[index])), isReady, isWorking, problem }
}

function state(service: ServiceState, more: Partial<MachineState> = {}): MachineState {
  return { services: new Map([['etcd', service]]), wanted: 'running', disk: DISK, ...more }
}

interface Given {
  readonly etcd?: ClusterStatus
  readonly states?: readonly MachineState[]
  readonly existing?: readonly string[]
  readonly options?: Partial<StatusOptions>
}

async function read({ etcd, states = NAMES.map(() => state(RUNNING)), existing = NAMES, options = {} }: Given) {
  let isAsked = false
  const status = await readStatus({
    stack: { name: 'lab', domain: 'lab.test' } as Stack,
    target: {
      observe: () => Promise.resolve(new Map(NAMES.map((name, index) => [name, states[index]]))),
      unread: () => [],
    },
    clients: {
      status: () => {
        isAsked = true
        if (etcd === undefined) throw new Error('error:0480006C:PEM routines::no start line')
        return Promise.resolve(etcd)
      },
    },
    machines: NAMES.map((name) => machine(name, [])),
    existing: new Map(existing.map((name) => [name, { name } as ExistingMachine])),
    expiries: new Map(),
    isSupervised: true,
    isCreated: true,
    stoppedAt: undefined,
    signal: new AbortController().signal,
    ...options,
  })
  return { ...status, isAsked }
}

test('a stack in which all is well is ready', async () => {
  expect(await read({ etcd: cluster([true, true, true]) })).toMatchObject({
    ...{ state: 'ready', isReady: true, problems: [] },
    clusters: [{ kind: 'etcd', state: 'ready', problem: undefined }],
    machines: NAMES.map(() => ({ state: 'ready', problem: undefined, lastError: undefined })),
  })
})

test('a stack that works without one of its members is degraded, and that member is down', async () => {
  const failure: ServiceFailure = { at: Date.UTC(2026, 10, 17), kind: 'exited', exitCode: 1, detail: 'FATAL: no space' }
  const waiting: ServiceState = { ...STOPPED, state: 'waiting', restarts: 2, failure }
  const status = await read({
    etcd: cluster([true, true, false]),
    states: [state(RUNNING), state(RUNNING), state(waiting)],
  })
  expect(status).toMatchObject({ state: 'degraded', isReady: false, problems: ['etcd: 2 of 3 members'] })
  expect(status.clusters).toEqual([{ kind: 'etcd', state: 'degraded', problem: '2 of 3 members' }])
  expect(status.machines[2]).toMatchObject({
    ...{ state: 'down', restarts: 2, problem: 'not reachable' },
    lastError: {
      ...{ at: '2026-11-17T00:00:00.000Z', service: 'etcd', kind: 'exited', exitCode: 1 },
      message: 'exit code 1: FATAL: no space',
    },
  })
})

test('a stack with a cluster that does not work is down', async () => {
  const status = await read({ etcd: cluster([true, false, false], false) })
  expect(status).toMatchObject({ state: 'down', clusters: [{ state: 'down' }] })
})

test('a stack that was stopped on purpose is stopped, has no problem, and is not asked', async () => {
  const stoppedAt = '2026-11-17T00:00:00.000Z'
  const stopped = state({ ...STOPPED, failure: { at: 1, kind: 'killed', signal: 'SIGKILL' } }, { wanted: 'stopped' })
  const status = await read({ states: NAMES.map(() => stopped), options: { isSupervised: false, stoppedAt } })
  expect(status).toMatchObject({ state: 'stopped', stoppedAt, problems: [], isAsked: false })
  expect(status.machines).toMatchObject(
    NAMES.map(() => ({ state: 'stopped', problem: undefined, lastError: undefined })),
  )
})

test('a target that does not write down what should run is believed by the record of the stack', async () => {
  const off = { services: new Map([['etcd', STOPPED]]) }
  const states = NAMES.map(() => off)
  expect(await read({ states, options: { stoppedAt: '2026-11-17T00:00:00.000Z' } })).toMatchObject({ state: 'stopped' })
  expect(await read({ etcd: cluster([false, false, false], false), states })).toMatchObject({
    state: 'down',
    machines: NAMES.map(() => ({ state: 'down', problem: 'not running; "holdfast up" starts it' })),
  })
})

test('a stack whose processes and supervisor died is down, not stopped', async () => {
  const dead = state({ ...STOPPED, failure: { at: 1, kind: 'unwatched' } })
  const status = await read({
    etcd: cluster([false, false, false], false),
    states: NAMES.map(() => dead),
    options: { isSupervised: false },
  })
  expect(status).toMatchObject({
    state: 'down',
    problems: ['etcd: 0 of 3 members', 'the supervisor is not running; start it with "holdfast up"'],
  })
})

test('a stack that runs without a supervisor is degraded', async () => {
  const status = await read({ etcd: cluster([true, true, true]), options: { isSupervised: false } })
  expect(status).toMatchObject({ state: 'degraded', machines: NAMES.map(() => ({ state: 'ready' })) })
})

test('a stack that was never created is absent, and nothing is asked', async () => {
  const status = await read({ existing: [], options: { isCreated: false, isSupervised: false } })
  expect(status).toMatchObject({ state: 'absent', problems: [], machines: [], isAsked: false })
})

test('a stack whose first start was interrupted before it had machines is down, and nothing is asked', async () => {
  const status = await read({ existing: [], states: [] })
  expect(status).toMatchObject({ state: 'down', isAsked: false })
  expect(status.machines[0]).toMatchObject({ state: 'down', problem: 'not created yet; "holdfast up" creates it' })
})

test('a hypervisor that does not answer does not make a stack absent', async () => {
  const error = new HoldfastError('HypervisorUnreachable', 'Cannot reach "qemu:///system": no answer')
  const target = { observe: () => Promise.resolve(new Map()), unread: () => [{ where: 'qemu:///system', error }] }
  const etcd = cluster([false, false, false], false)
  const status = await read({ etcd, existing: [], options: { isCreated: false, target } })
  expect(status).toMatchObject({
    state: 'down',
    problems: expect.arrayContaining([`qemu:///system: ${error.message}`]),
    unreadHypervisors: ['qemu:///system'],
  })
})

test('a full disk makes machines and the stack degraded, and is reported once', async () => {
  const disk = { path: '/var', freeBytes: 0, totalBytes: 2 ** 30 }
  const problem = 'the disk at /var is full: 0 of 1024 MiB free'
  const status = await read({ etcd: cluster([true, true, true]), states: NAMES.map(() => state(RUNNING, { disk })) })
  expect(status).toMatchObject({ state: 'degraded', isReady: false, problems: [problem] })
  expect(status.machines).toMatchObject(NAMES.map(() => ({ state: 'degraded', problem, disk })))
})

test('an error that is over stays in the data, with its time', async () => {
  const failure: ServiceFailure = { at: 0, kind: 'killed', signal: 'SIGKILL' }
  const states = [state({ ...RUNNING, restarts: 1, failure }), state(RUNNING), state(RUNNING)]
  const { state: word, machines } = await read({ etcd: cluster([true, true, true]), states })
  expect(word).toBe('ready')
  expect(machines[0]).toMatchObject({ state: 'ready', problem: undefined, lastError: { signal: 'SIGKILL' } })
})
