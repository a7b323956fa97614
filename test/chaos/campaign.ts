// One run: a cluster of three with TLS and passwords, three name servers, a writer, clients, and events; then calm, and
// the comparison of every server with etcd.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EtcdClient, prefixEnd } from '../../src/etcd/client.ts'
import { messageOf } from '../../src/lib/errors.ts'
import { Random } from '../fuzz/random.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { askForEver } from './client.ts'
import { EVENTS, type EventName } from './events.ts'
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
  /** Ends the run early. */
  readonly signal?: AbortSignal
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
  const journal = new Journal(options.say)
  const world = new World((key, { seq, seenBy }) => {
    const what = seq === undefined ? 'the end of its lease' : `s${seq}`
    journal.violation(`${[...seenBy].join()} answered ${what} of ${key.key}, which was never stored`)
  })
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-chaos-'))
  const cluster = await EtcdCluster.start({
    tls: 'server',
    auth: { rootPassword: 'of-the-writer' },
    flags: [`--auth-token-ttl=${TOKEN_SECONDS}`],
  })
  const servers = await nameServers({ cluster, world, journal, directory })
  const stage: Stage = { journal, world, cluster, servers, ending: new AbortController() }
  const client = new EtcdClient({ ...cluster.options, requestTimeoutMs: 2000 })
  const writer = new Writer({ client, seed: options.seed, kinds: world.kinds, signal: stage.ending.signal })
  try {
    await play(stage, client, writer, options)
  } catch (error) {
    journal.violation(`the run itself failed: ${messageOf(error)}`)
  }
  client.close()
  const kept = await tidyUp(stage)
  rmSync(directory, { recursive: true, force: true })
  const answers = servers.subjects.reduce((sum, { checked }) => sum + checked, 0)
  const { changes, doubts } = writer
  const summary = [
    ...journal.table(),
    `changes written  ${changes} (${doubts.all} of unknown outcome, ${doubts.stored} of them stored)`,
    `answers checked  ${answers}`,
    `violations       ${journal.violations.length}`,
  ]
  return { changes, answers, violations: journal.violations, summary, kept }
}

interface Stage {
  readonly journal: Journal
  readonly world: World
  readonly cluster: EtcdCluster
  readonly servers: NameServers
  /** Everything that goes on comes to an end. */
  readonly ending: AbortController
}

async function play(stage: Stage, client: EtcdClient, writer: Writer, options: CampaignOptions): Promise<void> {
  const { journal, world, cluster, servers, ending } = stage
  const { signal } = ending
  const { subjects } = servers
  await addReader(client)
  await writer.prepare()
  const first = world.stored()
  await Promise.all(subjects.map((subject) => subject.start(first)))
  journal.note('servers have started')
  writer.start()
  const { seed, outageMs } = options
  const clients = subjects.flatMap((subject, i) => [
    askForEver(subject, 'udp', seed + i, signal),
    askForEver(subject, 'tcp', seed + i, signal),
  ])
  const scene = { cluster, client, random: new Random(seed), journal, subjects, first, outageMs, signal }
  const events = runEvents(EVENTS, scene, options)
  const end = async () => {
    await events
    await writer.stop()
    journal.note('the writer has stopped')
    await compareAll({ cluster, world, journal, subjects, settleMs: SETTLE_MS })
  }
  try {
    await Promise.race([end(), writer.failure(), journal.hopeless, interrupted(options.signal), ...clients])
  } finally {
    ending.abort()
    await Promise.allSettled([events, ...clients])
  }
}

/** Ends all processes; where the logs are kept, if they are worth it. */
async function tidyUp({ journal, servers, cluster }: Stage): Promise<string | undefined> {
  const { subjects, proxies } = servers
  await Promise.all(subjects.map((subject) => subject.kill()))
  await Promise.all(proxies.map((proxy) => proxy.stop()))
  const logs = new Map(subjects.map(({ name, output }) => [`${name}.log`, output]))
  for (const i of cluster.endpoints.keys())
    logs.set(`member${i}.log`, readFileSync(join(cluster.directory, `member${i}.log`), 'utf8'))
  const kept = journal.violations.length > 0 ? journal.keep(logs) : undefined
  await cluster.stop()
  return kept
}

function interrupted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(new Error('interrupted')), { once: true })
  })
}

async function addReader(client: EtcdClient): Promise<void> {
  const { username, password } = READER
  await client.roleAdd('names')
  for (const prefix of ['/zones/', '/skydns/'].map((text) => Buffer.from(text)))
    await client.roleGrantPermission('names', { type: 'read', key: prefix, rangeEnd: prefixEnd(prefix) })
  await client.userAdd(username, password)
  await client.userGrantRole(username, 'names')
}
