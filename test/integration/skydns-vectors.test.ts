// The lookup cases of skydns.json end to end: the keys of every fixture in a real etcd, each below a prefix of its own, and
// one real server with a port for each fixture. Where we differ on purpose the case is in DEVIATIONS, and
// docs/reference/deviations.md says why.

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Message, ResourceRecord } from '../../src/dns/message.ts'
import { formatName, lowerName } from '../../src/dns/name.ts'
import { formatRdata } from '../../src/dns/rdata/rdata.ts'
import { rcodeName, typeName, typeNumber } from '../../src/dns/types.ts'
import { parseRecord } from '../../src/dns/zonefile/format.ts'
import { EtcdClient } from '../../src/etcd/client.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { answer, FaultServer } from '../support/fault-server.ts'
import { Sandbox } from '../support/holdfast-process.ts'
import { lookup } from '../support/lookup.ts'
import { freePort } from '../support/ports.ts'

interface Fixture {
  readonly zones: readonly string[]
  readonly path_prefix: string
  readonly keys: readonly { readonly key: string; readonly value: object }[]
  /** A text when no upstream can be reached, else records by "name type". */
  readonly external_lookup: string | Readonly<Record<string, readonly string[]>>
}
interface VectorRecord {
  readonly name: string
  readonly ttl: number | null
  readonly type: string
  readonly rdata: string | null
  readonly soa?: Readonly<Record<string, string | number>>
}
interface Expectation {
  readonly rcode: string
  readonly answer: readonly VectorRecord[]
  readonly authority: readonly VectorRecord[]
  readonly additional: readonly VectorRecord[]
  readonly tc?: boolean
}
interface Lookup {
  readonly id: string
  readonly fixture: string
  readonly query: { readonly name: string; readonly type: string }
  readonly expect: Expectation
  /** The upstream's answer is truncated. */
  readonly expect_tc?: boolean
}

const file = new URL('../vectors/skydns.json', import.meta.url)
const { fixtures, cases } = JSON.parse(readFileSync(file, 'utf8')) as {
  fixtures: Readonly<Record<string, Fixture>>
  cases: readonly Lookup[]
}

/** Parts of our answer that differ. */
const DEVIATIONS: Readonly<Record<string, Partial<Expectation>>> = {
  'lookup-16': {
    answer: [{ name: 'a.server1.dev.region1.skydns.test.', ttl: 300, type: 'CNAME', rdata: 'dev.server1.' }],
    authority: [],
  },
  'backend-07': { tc: false },
  'backend-08': { additional: [{ name: 's1._sip._tcp.example.org.', ttl: 30, type: 'A', rdata: '1.2.3.4' }] },
  'backend-09': { additional: [{ name: 'mx1.mail.example.org.', ttl: 60, type: 'A', rdata: '1.2.3.4' }] },
}

const ports = new Map<string, number>()
const upstreams: FaultServer[] = []
const sandbox = new Sandbox()
let cluster: EtcdCluster | undefined

beforeAll(async () => {
  cluster = await EtcdCluster.start({ members: 1 })
  await storeAll(cluster)
  const blocks: string[] = []
  for (const [id, fixture] of Object.entries(fixtures)) {
    const port = await freePort()
    ports.set(id, port)
    blocks.push(await serverBlock(port, id, fixture, cluster.endpoints[0]))
  }
  await sandbox.serve('-conf', sandbox.write('Corefile', blocks.join('\n')))
})

afterAll(async () => {
  await sandbox.close()
  await Promise.all(upstreams.map((upstream) => upstream.stop()))
  await cluster?.stop()
})

describe('vectors of SkyDNS lookups, asked of the server', () => {
  for (const vector of cases)
    it(`${vector.id}: ${vector.query.name} ${vector.query.type}${vector.id in DEVIATIONS ? ' (we differ)' : ''}`, async () => {
      const { query, fixture } = vector
      const expected = { tc: vector.expect_tc ?? false, ...vector.expect, ...DEVIATIONS[vector.id] }
      const message = await lookup(ports.get(fixture) ?? 0, query.name, typeNumber(query.type))
      expect(formatted(message, expected)).toEqual({
        rcode: expected.rcode,
        flags: { aa: true, tc: expected.tc },
        answer: lines(expected.answer),
        authority: lines(expected.authority),
        additional: lines(expected.additional),
      })
    })

  it('no deviation is without a case', () => {
    const ids = new Set(cases.map(({ id }) => id))
    expect(Object.keys(DEVIATIONS).filter((id) => !ids.has(id))).toEqual([])
  })
})

function prefixOf(id: string): string {
  return `/fixture-${id}`
}

async function storeAll({ options }: EtcdCluster): Promise<void> {
  const client = new EtcdClient(options)
  try {
    for (const [id, { path_prefix, keys }] of Object.entries(fixtures))
      for (const { key, value } of keys)
        await client.put(Buffer.from(prefixOf(id) + key.slice(path_prefix.length)), Buffer.from(JSON.stringify(value)))
  } finally {
    client.close()
  }
}

async function serverBlock(port: number, id: string, fixture: Fixture, endpoint: string): Promise<string> {
  const { zones, external_lookup: external } = fixture
  let forward = ''
  if (typeof external !== 'string') {
    const isCut = cases.some(({ fixture: used, expect_tc }) => used === id && expect_tc === true)
    const upstream = await FaultServer.start(({ query, send, transport }) => {
      const [{ name, type }] = query.questions
      const records = external[`${formatName(lowerName(name))} ${typeName(type)}`] ?? []
      send(answer(query, { tc: isCut && transport === 'udp', answers: records.map(toRecord) }))
    })
    upstreams.push(upstream)
    forward = `forward . 127.0.0.1:${upstream.port}`
  }
  return `.:${port} {
  bind 127.0.0.1
  etcd ${zones.join(' ')} {
    path ${prefixOf(id)}
    endpoint ${endpoint}
  }
  ${forward}
}`
}

function toRecord(text: string): ResourceRecord {
  const { owner, type, ttl, rdata } = parseRecord(text, Uint8Array.of(0))
  return { name: owner, type, klass: 1, ttlSeconds: ttl, rdata }
}

/** As the expectation is, with TTLs where it has any. */
function formatted({ rcode, aa, tc, answers, authorities, additionals }: Message, expected: Expectation): object {
  const shown = (records: readonly ResourceRecord[], wanted: readonly VectorRecord[]) => {
    const untimed = wanted.some(({ ttl }) => ttl === null)
    return records
      .map(({ name, ttlSeconds, type, rdata }) => {
        const data = formatRdata(type, rdata)
        const text = typeName(type) === 'SOA' ? data.replace(SERIAL, ' SERIAL') : data
        return `${formatName(name)} ${untimed ? null : ttlSeconds} ${typeName(type)} ${text}`
      })
      .toSorted()
  }
  return {
    rcode: rcodeName(rcode),
    flags: { aa, tc },
    answer: shown(answers, expected.answer),
    authority: shown(authorities, expected.authority),
    additional: shown(additionals, expected.additional),
  }
}

const SERIAL = / \d+(?= \d+ \d+ \d+ \d+$)/u

function lines(records: readonly VectorRecord[]): string[] {
  return records
    .map(({ name, ttl, type, rdata, soa }) => `${name} ${ttl} ${type} ${soa ? soaText(soa) : quoted(rdata)}`)
    .toSorted()
}

/** The text of quirk-06 lacks the quotes that are part of it, as its remark says. */
function quoted(rdata: string | null): string | null {
  const heritage = '"heritage=external-dns,external-dns/owner=staging"'
  return rdata === heritage ? JSON.stringify(heritage) : rdata
}

function soaText({ mname, rname, refresh, retry, expire, minimum }: Readonly<Record<string, string | number>>): string {
  return `${mname} ${rname} SERIAL ${refresh} ${retry} ${expire} ${minimum}`
}
