// One run: a cluster of three with TLS and passwords, three name servers, a writer, clients, and events; then calm, and
// the comparison of every server with etcd.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EtcdClient, prefixEnd } from '../../src/etcd/client.ts'
import { Random } from '../fuzz/random.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { askForEver } from './client.ts'
import type { EventName } from './events.ts'
import { compareAll } from './final-check.ts'
import { Journal } from './journal.ts'
import { runEvents } from './schedule.ts'
import { nameServers, type NameServers, READER } from './servers.ts'
import { World } from './world.ts'
import { Writer } from './writer.ts'

export interface CampaignOptions {
  readonly seed: number
  /** How long events go on, where they have no order. */
  readonly seconds: number
  readonly order?: readonly EventName[]
  readonly outageMs: number
  /** Least and longest time between the beginnings of events. */
  readonly pauseMs: readonly [number, number]
  readonly say: (line: string) => void
}

export interface CampaignResult {
  readonly changes: number
  readonly answers: number
  readonly violations: readonly string[]
  readonly summary: readonly string[]
  /** Where the logs are, when there was something to look into. */
  readonly kept: string | undefined
}

/** Idle tokens are forgotten after so many seconds. */
const TOKEN_SECONDS = 4
const SETTLE_MS = 20_000

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { seed, outageMs } = options
  const journal = new Journal(options.say)
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-chaos-'))
  const cluster = await EtcdCluster.start({
    tls: 'server',
    auth: { rootPassword: 'of-the-writer' },
    flags: [`--auth-token-ttl=${TOKEN_SECONDS}`],
  })
  const client = new EtcdClient({ ...cluster.options, requestTimeoutMs: 2000 })
  const world = new World((key, { seq, seenBy }) => {
    const what = seq === undefined ? 'the end of its lease' : `s${seq}`
    journal.violation(`${[...seenBy].join()} answered ${what} of ${key.key}, which was never stored`)
  })
  const writer = new Writer({ client, seed, kinds: world.kinds })
  const calm = new AbortController()
  let events = Promise.resolve()
  let servers: NameServers = { subjects: [], proxies: [] }
  let failure: string | undefined
  try {
    await addReader(client)
    await writer.prepare()
    servers = await nameServers({ cluster, world, journal, directory })
    const { subjects } = servers
    const first = world.stored()
    await Promise.all(subjects.map((subject) => subject.start(first)))
    journal.note('servers have started')
    writer.start()
    const clients = subjects.flatMap((subject, i) => [
      askForEver(subject, 'udp', seed + i, calm.signal),
      askForEver(subject, 'tcp', seed + i, calm.signal),
    ])
    const scene = { cluster, client, random: new Random(seed), journal, subjects, first, outageMs, signal: calm.signal }
    events = runEvents(scene, options)
    await Promise.race([events, writer.failure(), journal.hopeless, ...clients])
    await writer.stop()
    journal.note('the writer has stopped')
    await compareAll({ cluster, world, journal, subjects, settleMs: SETTLE_MS })
    calm.abort()
    await Promise.all(clients)
  } catch (error) {
    failure = error instanceof Error ? (error.stack ?? error.message) : String(error)
  }
  calm.abort()
  await events.catch(() => undefined)
  const { subjects, proxies } = servers
  await Promise.all(subjects.map((subject) => subject.kill()))
  await Promise.all(proxies.map((proxy) => proxy.stop()))
  client.close()
  if (failure !== undefined) journal.violation(failure)
  const logs = new Map(subjects.map(({ name, output }) => [`${name}.log`, output]))
  for (const i of cluster.endpoints.keys())
    logs.set(`member${i}.log`, readFileSync(join(cluster.directory, `member${i}.log`), 'utf8'))
  const kept = journal.violations.length > 0 ? journal.keep(logs) : undefined
  await cluster.stop()
  rmSync(directory, { recursive: true, force: true })
  const answers = subjects.reduce((sum, { checked }) => sum + checked, 0)
  const { changes, doubts } = writer
  const summary = [
    ...journal.table(),
    `changes written    ${changes} (${doubts.all} of unknown outcome, ${doubts.stored} of them stored)`,
    `answers checked    ${answers}`,
    `violations         ${journal.violations.length}`,
  ]
  return { changes, answers, violations: journal.violations, summary, kept }
}

async function addReader(client: EtcdClient): Promise<void> {
  const { username, password } = READER
  await client.roleAdd('names')
  for (const prefix of ['/zones/', '/skydns/'].map((text) => Buffer.from(text)))
    await client.roleGrantPermission('names', { type: 'read', key: prefix, rangeEnd: prefixEnd(prefix) })
  await client.userAdd(username, password)
  await client.userGrantRole(username, 'names')
}
