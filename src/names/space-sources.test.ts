import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LocalCatalog } from '../../test/support/local-catalog.ts'
import { SourceSnapshot, snapshotId } from './snapshot.ts'
import { SpaceSources } from './space-sources.ts'
import { WorkQueue } from './work-queue.ts'

/** No server listens there: everything comes from the state on disk. */
const ENDPOINT = 'http://127.0.0.1:1'
const ZONES = 3000
/** Far fewer than it takes to take in all zones. */
const FEW_TURNS = 50
const TEXT = '$TTL 300\n@ SOA ns hostmaster 1 3600 600 86400 60\n@ NS ns\n@ A 192.0.2.7\nns A 192.0.2.53\n'

let directory: string
let end: AbortController

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-sources-'))
  end = new AbortController()
})

afterEach(() => {
  end.abort()
  rmSync(directory, { recursive: true })
})

/** One batch for each key, as changes are remembered. */
function remember(type: string, prefix: string, values: Readonly<Record<string, string>>): void {
  const snapshot = SourceSnapshot.open(directory, snapshotId([type, ENDPOINT, prefix]), (message) => {
    throw new Error(message)
  })
  for (const [i, [key, value]] of Object.entries(values).entries()) {
    const entry = { key: Buffer.from(prefix + key), value: Buffer.from(value), modRevision: BigInt(i + 1), lease: 0n }
    snapshot.append({ revision: BigInt(i + 1), clusterId: 1n, entries: [entry] })
  }
  snapshot.close()
}

test('a primary is known before the zones in etcd, however many there are', () => {
  const names = Array.from({ length: ZONES }, (_, i) => `z${i}.test.`)
  remember('zones', '/coredns/', Object.fromEntries(names.map((name) => [name, TEXT])))
  remember('patroni', '/service/pg/', {
    'members/m1': JSON.stringify({ conn_url: 'postgres://10.0.0.1:5432/', role: 'primary', state: 'running' }),
    leader: 'm1',
  })
  const deferred: (() => void)[] = []
  const work = new WorkQueue({ sliceMs: 0, now: () => 0, defer: (run) => deferred.push(run) })
  const local = new LocalCatalog({ work })
  const etcd = { endpoints: [ENDPOINT] }
  const sources = new SpaceSources(
    {
      ...{ space: 0, autos: [], files: [], skydns: [], kubevirts: [], kubernetes: [], ptr: undefined },
      etcdZones: [{ prefix: '/coredns/', etcd, fallthrough: [], maxRecords: 1000, allowZones: [] }],
      patronis: [{ etcd, namespace: '/service/', scope: 'pg', zone: 'pg.test.', ttlSeconds: 5, nameservers: [] }],
    },
    {
      ...{ catalog: local.catalog, work, signal: end.signal, requireNs: false, stateDirectory: directory },
      ...{ report: (report) => local.reports.push(report), listeners: new Map() },
    },
  )
  void sources.start()
  const turn = () => {
    for (const run of deferred.splice(0)) run()
    return deferred.length > 0
  }
  let turns = 0
  while (local.ask('primary.pg.test.') !== '10.0.0.1') {
    expect(turn()).toBe(true)
    expect(++turns).toBeLessThan(FEW_TURNS)
  }
  expect(local.reports.filter(({ kind }) => kind === 'zone').length).toBeLessThan(FEW_TURNS)
  while (turn());
  expect(names.every((name) => local.ask(name) === '192.0.2.7')).toBe(true)
})
