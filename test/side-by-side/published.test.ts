// Zones in etcd, served in two ways: by CoreDNS's `auto` from the files that `holdfast publish zonefiles` writes, and by
// our server that follows the same prefix. The answers are the same, before and after changes.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseName } from '../../src/dns/name.ts'
import { TYPE } from '../../src/dns/types.ts'
import type { Query } from '../conformance/queries.ts'
import { judge } from '../conformance/run.ts'
import { Random } from '../fuzz/random.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { Sandbox } from '../support/holdfast-process.ts'
import { brief } from '../support/lookup.ts'
import { until } from '../support/until.ts'
import { ask } from './questions.ts'
import { publishedRules } from './published-rules.ts'
import { zoneNames, zoneText } from './published-zone.ts'
import { coredns, findCoredns, holdfastNames, MISSING, startBoth } from './servers.ts'
import { askAll } from './transcript.ts'

const PREFIX = '/zones/'
const ORIGINS = Array.from({ length: 20 }, (_, i) => `z${i}.test.`)
const TYPES = ['A', 'AAAA', 'NS', 'SOA', 'CNAME', 'MX', 'TXT', 'SRV', 'CAA', 'HTTPS', 'DS']
const LIMIT_MS = 60_000

const program = findCoredns()
if (program === undefined) console.warn(MISSING)

describe.skipIf(program === undefined)('CoreDNS with the zone files that we publish', () => {
  let cluster: EtcdCluster
  let sandbox: Sandbox
  beforeAll(async () => {
    cluster = await EtcdCluster.start({ members: 1 })
  }, LIMIT_MS)
  afterAll(() => cluster?.stop())
  beforeEach(() => {
    sandbox = new Sandbox()
  })
  afterEach(() => sandbox.close())

  it(
    'answers as our server does that follows etcd itself',
    async () => {
      for (const origin of ORIGINS) await put(origin, 1)
      const etcd = ['--endpoints', cluster.endpoints.join(','), '--prefix', PREFIX]
      sandbox.spawn(['publish', 'zonefiles', '--directory', sandbox.path('zones'), ...etcd])
      await using servers = await startBoth(
        holdfastNames(
          (port) => `etcd: { endpoints: [${cluster.endpoints.join(', ')}] }
sources: [{ type: etcd-zones, prefix: ${PREFIX} }]
serve: { listen: [127.0.0.1:${port}] }
`,
        ),
        coredns(
          program ?? '',
          (port) => `.:${port} {
  bind 127.0.0.1
  auto {
    directory ${sandbox.path('zones')} (.*) {1}
    reload 2s
  }
}
`,
        ),
        ORIGINS,
      )
      const ports = [servers.ours.port, servers.theirs.port]
      expect(await differences(ports)).toEqual([])

      for (const origin of ORIGINS.slice(0, 5)) await put(origin, 2)
      await cluster.etcdctl('put', '--', `${PREFIX}z5.test`, 'no zone at all')
      await cluster.etcdctl('del', `${PREFIX}z6.test`)
      for (const port of ports)
        await until('the changes', async () => {
          const serials = await Promise.all(ORIGINS.slice(0, 5).map((origin) => brief(port, origin, TYPE.SOA)))
          const gone = await brief(port, 'z6.test.', TYPE.SOA)
          return serials.every((soa) => soa.includes(' 2 ')) && !gone.includes(' 1 ')
        })
      expect(await differences(ports)).toEqual([])
    },
    LIMIT_MS,
  )

  function put(origin: string, serial: number): Promise<string> {
    return cluster.etcdctl('put', '--', `${PREFIX}${origin.slice(0, -1)}`, zoneText(origin, serial))
  }

  async function differences(ports: readonly number[]): Promise<readonly string[]> {
    const [ours, theirs] = await Promise.all(ports.map((port) => askAll(port, QUERIES)))
    const transcripts = [
      { server: 'holdfast', responses: ours },
      { server: 'coredns', responses: theirs },
    ] as const
    return judge(QUERIES, ...transcripts, publishedRules(ORIGINS.map((origin) => parseName(origin)))).unexplained
  }
})

const random = new Random(7)
const QUERIES: readonly Query[] = ORIGINS.flatMap((origin) =>
  zoneNames(origin).flatMap((name) => TYPES.map((type) => ask(name, type, random))),
)
