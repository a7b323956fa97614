// Names that follow a real PostgreSQL cluster: three nodes under Patroni and etcd are started, the primary is killed, and
// comes back; the server answers with them all the while. With --record the changes of the keys are kept as the fixture that the unit test replays.
//
//   npm run test:patroni [-- --record]

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { patroniPrefix } from '../../src/names/patroni/cluster-keys.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { until } from '../support/until.ts'
import { PatroniDns } from './patroni-dns.ts'
import { type Names, PatroniFollower } from './patroni-follower.ts'
import { PatroniNode } from './patroni-node.ts'

const NAMESPACE = '/service/'
const SCOPE = 'holdfast'
const RECORDING = join(import.meta.dirname, 'patroni-recording.json')
const STEP_TIMEOUT_MS = 90_000

/** Prints the services each time they change. */
function printer(): (names: Names, atMs: number) => void {
  let shown = ''
  return ({ primary, replica, sync }, atMs) => {
    const services = [primary, replica, sync].map((addresses) => addresses?.join(' ') ?? '–').join(' | ')
    if (services !== shown) console.log(`${String(atMs).padStart(6)} ms  ${services}`)
    shown = services
  }
}

async function failover(nodes: readonly PatroniNode[], follower: PatroniFollower, dns: PatroniDns): Promise<void> {
  const step = <T>(what: string, look: () => T | undefined | false | Promise<T | undefined | false>) =>
    until(what, look, STEP_TIMEOUT_MS)
  const settled = (primary: PatroniNode, replicas: readonly PatroniNode[]) => {
    const { names } = follower
    const wanted = replicas.map((node) => node.address).toSorted()
    return (
      names.primary?.join() === primary.address &&
      names.replica?.toSorted().join() === wanted.join() &&
      names.sync?.length === 1
    )
  }
  /** The server says the same as the keys. */
  const served = () =>
    step('the same names in DNS', async () => {
      const { names } = follower
      const labels = ['primary', 'replica', 'sync', ...nodes.map(({ name }) => name)]
      const answers = await Promise.all(labels.map((label) => dns.addresses(label)))
      return labels.every((label, index) => answers[index].join() === (names[label] ?? []).toSorted().join())
    })
  const addressOf = (member: string) => nodes.find(({ name }) => name === member)?.address ?? ''
  const printDelays = async (title: string) => {
    const delays = Array.from(await dns.delays(addressOf), ([what, ms]) => `${what} ${ms.toFixed(1)} ms`)
    console.log(`${title}: primary in DNS after the leader key, as a bare watch sees it: ${delays.join(', ')}`)
    dns.forget()
  }
  const whoIsPrimary = () => nodes.find(({ address }) => address === follower.names.primary?.[0])

  console.log('Start: primary | replica | sync')
  for (const node of nodes) node.start()
  const primary = await step('a primary', whoIsPrimary)
  const others = nodes.filter((node) => node !== primary)
  await step('two replicas, one of them synchronous', () => settled(primary, others))
  for (const node of nodes) assert.deepEqual(follower.names[node.name], [node.address])
  await served()
  await printDelays('Start')
  assert.equal(await primary.query('select pg_is_in_recovery()'), 'f')
  for (const node of others) assert.equal(await node.query('select pg_is_in_recovery()'), 't')
  await primary.query("create table kept as select 'before'::text as at")

  console.log(`kill -9 ${primary.name}`)
  const synchronous = follower.names.sync?.[0]
  const killedAt = follower.history.length
  await primary.kill()
  const successor = await step('another primary', () => {
    const now = whoIsPrimary()
    return now === primary ? undefined : now
  })
  assert.equal(successor.address, synchronous, 'the synchronous standby takes over')
  const primaries = follower.history.slice(killedAt).map((names) => names.primary?.join() ?? 'none')
  const steps = [primary.address, ...primaries].filter((value, index, all) => value !== all[index - 1])
  assert.deepEqual(steps, [primary.address, 'none', successor.address])
  await printDelays('Failover')
  const answered = dns.primaries.map(({ value }) => value).slice(-3)
  assert.deepEqual(answered, [primary.address, 'NXDOMAIN', successor.address])
  const insert = "insert into kept values ('after')"
  await step('writes on the new primary', () =>
    successor.query(insert).then(
      () => true,
      () => false,
    ),
  )
  const rows = "select string_agg(at, ' ' order by at) from kept"
  assert.equal(await successor.query(rows), 'after before')
  const third = others.filter((node) => node !== successor)
  await step('one replica, which is synchronous', () => settled(successor, third))
  assert.equal(follower.names[primary.name], undefined)
  await served()

  console.log(`Start ${primary.name} again`)
  primary.start()
  await step('two replicas again', () => settled(successor, [primary, ...third]))
  await served()
  await step('the old primary has followed', async () => (await primary.query(rows).catch(() => '')) === 'after before')
}

function record({ changes }: PatroniFollower): void {
  const version = (program: string) => execFileSync(program, ['--version'], { encoding: 'utf8' }).split('\n')[0]
  const recordedWith = ['patroni', '/usr/lib/postgresql/15/bin/postgres', 'etcd'].map(version).join(', ')
  writeFileSync(RECORDING, `${JSON.stringify({ recordedWith, changes }, undefined, 2)}\n`)
}

/** A directory that the user postgres can write to. */
function makeHome(path: string): string {
  mkdirSync(path, { mode: 0o700 })
  if (process.getuid?.() === 0) {
    const [, , uid, gid] = execFileSync('getent', ['passwd', 'postgres'], { encoding: 'utf8' }).split(':')
    chownSync(path, Number(uid), Number(gid))
  }
  return path
}

const directory = mkdtempSync(join(tmpdir(), 'holdfast-patroni-'))
chmodSync(directory, 0o755)
const etcd = await EtcdCluster.start()
const hosts = etcd.endpoints.map((endpoint) => new URL(endpoint).host)
const prefix = patroniPrefix(NAMESPACE, SCOPE)
const follower = new PatroniFollower(etcd.endpoints, prefix, printer())
const dns = await PatroniDns.start({
  ...{ endpoints: etcd.endpoints, namespace: NAMESPACE, scope: SCOPE },
  leaderKey: `${prefix}leader`,
})
const nodes = await Promise.all(
  ['pg1', 'pg2', 'pg3'].map((name, index) =>
    PatroniNode.create({
      name,
      address: `127.0.0.${11 + index}`,
      directory: makeHome(join(directory, name)),
      scope: SCOPE,
      namespace: NAMESPACE,
      etcd: hosts,
    }),
  ),
)
const interrupted = new Promise<never>((_, reject) => {
  process.once('SIGINT', () => reject(new Error('interrupted')))
  process.once('SIGTERM', () => reject(new Error('interrupted')))
})
try {
  await Promise.race([failover(nodes, follower, dns), interrupted])
  if (process.argv.includes('--record')) record(follower)
  console.log(`${follower.changes.length} changes of keys, and the names as they should be`)
} catch (error) {
  for (const node of nodes) console.error(`--- ${node.name}\n${node.log()}`)
  throw error
} finally {
  await Promise.all(nodes.map((node) => node.kill()))
  await dns.stop()
  await follower.stop()
  await etcd.stop()
  rmSync(directory, { recursive: true, force: true })
}
