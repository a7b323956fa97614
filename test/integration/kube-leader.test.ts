// Replicas that compete for a lease of a real API server: one leads at a time, whatever happens to it.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { KubeClient } from '../../src/kube/client.ts'
import { openConnection } from '../../src/kube/connection.ts'
import { type LeaderState, lead } from '../../src/kube/leader.ts'
import { LEASES, type Lease } from '../../src/kube/lease-lock.ts'
import { describeWithKubernetes } from '../support/describe-with-kubernetes.ts'
import { KubeCluster } from '../support/kube-cluster.ts'
import { KubeProxy } from '../support/kube-proxy.ts'
import { loopbackNetwork } from '../support/loopback.ts'
import { until } from '../support/until.ts'

const HOST = `${loopbackNetwork()}.0.1`
const TIMING = { leaseSeconds: 3, renewSeconds: 2, retrySeconds: 0.2 }
const CHAIR = { namespace: 'default', name: 'chair' }

interface Entry {
  readonly word: string
  readonly identity: string
  readonly at: number
}

describeWithKubernetes('leading by a lease', () => {
  let cluster: KubeCluster
  let client: KubeClient
  let journal: string
  const processes: ChildProcess[] = []

  beforeAll(async () => {
    cluster = await KubeCluster.start({ host: HOST })
    client = new KubeClient(openConnection({ kubeconfig: cluster.kubeconfig }, {}))
    journal = join(cluster.directory, 'journal')
  })
  afterAll(async () => {
    client.close()
    await cluster.stop()
  })
  beforeEach(() => writeFileSync(journal, ''))
  afterEach(async () => {
    for (const process of processes.splice(0)) await end(process, 'SIGKILL')
    await client.request('DELETE', '/apis/coordination.k8s.io/v1/namespaces/default/leases/chair').catch(() => {})
  })

  function replica(identity: string): ChildProcess {
    const script = fileURLToPath(new URL('../support/kube-leader.ts', import.meta.url))
    const started = spawn(process.execPath, [script, cluster.kubeconfig, identity, journal], { stdio: 'inherit' })
    processes.push(started)
    return started
  }

  const entries = (): Entry[] =>
    readFileSync(journal, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' '))
      .map(([word, identity, at]) => ({ word, identity, at: Number(at) }))
  const starts = (identity: string) =>
    entries().filter((entry) => entry.word === 'start' && entry.identity === identity)
  const leads = (identity: string) => until(`${identity} leads`, () => starts(identity).length > 0)

  /** Nobody writes after another has begun, until it begins again itself. */
  function expectOneAtATime(): void {
    let leader: string | undefined
    const intruders: Entry[] = []
    for (const entry of entries()) {
      if (entry.word === 'start') leader = entry.identity
      else if (entry.word === 'beat' && entry.identity !== leader) intruders.push(entry)
    }
    expect(intruders).toEqual([])
  }

  const lease = async (): Promise<Lease | undefined> => client.get(LEASES, CHAIR)

  test('a leader that stands still is replaced, and does not write when it goes on', async () => {
    const first = replica('first')
    await leads('first')
    replica('second')
    first.kill('SIGSTOP')
    await leads('second')
    const beats = entries().filter(({ word, identity }) => word === 'beat' && identity === 'first').length
    first.kill('SIGCONT')
    await until('it stops', () => entries().some(({ word, identity }) => word === 'stop' && identity === 'first'))
    expectOneAtATime()
    expect(entries().filter(({ word, identity }) => word === 'beat' && identity === 'first')).toHaveLength(beats)
    expect((await lease())?.spec).toMatchObject({
      holderIdentity: 'second',
      leaseTransitions: 1,
      leaseDurationSeconds: 3,
    })
  })

  test('a leader that is killed is replaced when its time is over', async () => {
    const first = replica('first')
    await leads('first')
    replica('second')
    await end(first, 'SIGKILL')
    await leads('second')
    expectOneAtATime()
  })

  test('a leader that stops gives the lease back, and another has it at once', async () => {
    const first = replica('first')
    await leads('first')
    await end(first, 'SIGTERM')
    expect(entries().at(-1)).toMatchObject({ word: 'stop', identity: 'first' })
    expect((await lease())?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 })
    replica('second')
    await leads('second')
    expectOneAtATime()
    expect((await lease())?.spec).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 })
  })

  test('a leader that loses the API server has stopped before another leads, and leads again later', async () => {
    const connection = openConnection({ kubeconfig: cluster.kubeconfig }, {})
    const proxy = await KubeProxy.start(HOST, await connection.access())
    const behind = new KubeClient(openConnection({ server: proxy.server }, {}))
    const [stopping, rivalStopping] = [new AbortController(), new AbortController()]
    const states: LeaderState[] = []
    const terms: AbortSignal[] = []
    const rivalTerms: AbortSignal[] = []
    let stoppedBefore: boolean | undefined
    const common = { ...CHAIR, timing: TIMING, onStoppedLeading: () => {} }
    const leading = lead({
      ...common,
      client: behind,
      identity: 'cut off',
      signal: stopping.signal,
      onStartedLeading: (signal) => void terms.push(signal),
      onState: (state) => states.push(state),
    })
    await until('leading', () => terms.length === 1)
    const rival = lead({
      ...common,
      client,
      identity: 'rival',
      signal: rivalStopping.signal,
      onStartedLeading: (signal) => {
        stoppedBefore = terms[0].aborted
        rivalTerms.push(signal)
      },
      onState: () => {},
    })
    proxy.refusing = true
    proxy.cut()
    await until('the rival leads', () => rivalTerms.length === 1)
    expect(stoppedBefore).toBe(true)
    expect(states.find(({ error }) => error !== undefined)).toMatchObject({
      leading: true,
      error: { code: 'KubeUnreachable' },
    })
    proxy.refusing = false
    await until('it sees who leads', () => states.at(-1)?.holder === 'rival')
    rivalStopping.abort()
    await rival
    await until('leading again', () => terms.length === 2)
    expect(rivalTerms[0].aborted).toBe(true)
    stopping.abort()
    await leading
    expect(states.at(-1)).toMatchObject({ leading: false })
    expect((await lease())?.spec).toMatchObject({ holderIdentity: '', leaseTransitions: 2 })
    behind.close()
    connection.close()
    await proxy.stop()
  })

  test('what the leader fails with ends it, and the lease is free', async () => {
    const failing = lead({
      ...CHAIR,
      client,
      identity: 'failing',
      signal: new AbortController().signal,
      timing: TIMING,
      onStartedLeading: () => Promise.reject(new Error('it did not work')),
      onStoppedLeading: () => {},
      onState: () => {},
    })
    await expect(failing).rejects.toThrow('it did not work')
    expect((await lease())?.spec).toMatchObject({ holderIdentity: '' })
  })

  test('a permission that is missing is told', async () => {
    const kubeconfig = await cluster.serviceAccount('default', 'candidate', [])
    const poor = new KubeClient(openConnection({ kubeconfig }, {}))
    const stopping = new AbortController()
    const states: LeaderState[] = []
    const waiting = lead({
      ...CHAIR,
      client: poor,
      identity: 'poor',
      signal: stopping.signal,
      timing: TIMING,
      onStartedLeading: () => {},
      onStoppedLeading: () => {},
      onState: (state) => states.push(state),
    })
    const { error } = await until('told', () => states[0])
    expect(error?.hint).toContain('{ apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get"] }')
    stopping.abort()
    await waiting
    expect(states).toHaveLength(1)
    poor.close()
  })
})

async function end(process: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return
  const exit = once(process, 'exit')
  process.kill('SIGCONT')
  process.kill(signal)
  await exit
}
