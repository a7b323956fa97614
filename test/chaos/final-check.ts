// After everything: each server must answer what is in etcd, record by record, and deny what is not. etcd's content is
// read by etcdctl and the texts are taken apart here, so that nothing of what is tested judges itself.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Message } from '../../src/dns/message.ts'
import { formatRdata } from '../../src/dns/rdata/rdata.ts'
import { RCODE, rcodeName, TYPE, typeName } from '../../src/dns/types.ts'
import { exchangeTcp, exchangeUdp } from '../support/dns-client.ts'
import type { EtcdCluster } from '../support/etcd-cluster.ts'
import { decoded, question } from '../support/fault-server.ts'
import type { Journal } from './journal.ts'
import type { Subject } from './subject.ts'
import type { World } from './world.ts'
import { ZONE_PREFIX } from './zone-key.ts'

const SHOWN = 5

/** What to ask, and what the answer has to be: records in order, or an rcode. */
export interface Expected {
  readonly name: string
  readonly type: number
  readonly answer: string
}

/** Keys and values below a prefix. */
export async function storedBelow(cluster: EtcdCluster, prefix: string): Promise<Map<string, string>> {
  const text = await cluster.etcdctl('get', '--prefix', prefix, '-w', 'json')
  const { kvs = [] } = JSON.parse(text) as { kvs?: { key: string; value: string }[] }
  const decode = (base64: string) => Buffer.from(base64, 'base64').toString()
  return new Map(kvs.map(({ key, value }) => [decode(key), decode(value)]))
}

/** `owners`: every name that there ever was, by origin. */
export function zonesExpected(stored: ReadonlyMap<string, string>, owners: ReadonlyMap<string, readonly string[]>) {
  const expected: Expected[] = []
  for (const [origin, names] of owners) {
    const text = stored.get(ZONE_PREFIX + origin.slice(0, -1))
    const records = Map.groupBy(
      text === undefined ? [] : recordsOf(text, origin),
      ({ name, type }) => `${name} ${type}`,
    )
    for (const [{ name, type }, ...others] of [...records.values()].map((set) => [set[0], ...set])) {
      expected.push({
        name,
        type,
        answer: others
          .map(({ data }) => data)
          .sort()
          .join(' '),
      })
    }
    const existing = new Set([...records.values()].map(([{ name }]) => name))
    const denial = text === undefined ? 'REFUSED' : 'NXDOMAIN'
    for (const name of names) if (!existing.has(name)) expected.push({ name, type: TYPE.A, answer: denial })
  }
  return expected
}

/** The texts written here have one record a line, `OWNER TYPE DATA`; the serial is the server's business. */
function recordsOf(text: string, origin: string) {
  const lines = text.split('\n').map((line) => /^(\S+) (A|TXT) (.+)$/u.exec(line))
  return lines
    .filter((match) => match !== null)
    .map(([, owner, type, data]) => ({
      name: owner === '@' ? origin : `${owner}.${origin}`,
      type: type === 'A' ? TYPE.A : TYPE.TXT,
      data,
    }))
}

/** `names`: every name of a key that there ever was. Each key is a name of its own. */
export function servicesExpected(stored: ReadonlyMap<string, string>, names: readonly string[]): Expected[] {
  const path = (name: string) => `/skydns/${name.slice(0, -1).split('.').toReversed().join('/')}`
  return names.flatMap((name) => {
    const value = stored.get(path(name))
    if (value === undefined) return [{ name, type: TYPE.A, answer: 'NXDOMAIN' }]
    const { host, text } = JSON.parse(value) as { host: string; text: string }
    return [
      { name, type: TYPE.A, answer: host },
      { name, type: TYPE.TXT, answer: `"${text}"` },
    ]
  })
}

/** In compatible mode a group's name has all of its members. */
export function groupsExpected(stored: ReadonlyMap<string, string>, groups: readonly string[]): Expected[] {
  return groups.map((group) => {
    const below = `/skydns/${group.slice(0, -1).split('.').toReversed().join('/')}/`
    const hosts = [...stored].filter(([key]) => key.startsWith(below)).map(([, value]) => hostOf(value))
    return { name: group, type: TYPE.A, answer: hosts.length === 0 ? 'NXDOMAIN' : hosts.sort().join(' ') }
  })
}

function hostOf(value: string): string {
  return (JSON.parse(value) as { host: string }).host
}

/** What a server answers otherwise than expected. */
export async function differences(port: number, expected: readonly Expected[]): Promise<string[]> {
  const packets = expected.map(({ name, type }) => question(name, type))
  const answers = [
    ...(await exchangeUdp(
      port,
      packets.filter((_, i) => i % 4 !== 0),
    )),
    ...(await exchangeTcp(
      port,
      packets.filter((_, i) => i % 4 === 0),
    )),
  ]
  const ordered = [...expected.filter((_, i) => i % 4 !== 0), ...expected.filter((_, i) => i % 4 === 0)]
  return ordered.flatMap(({ name, type, answer }, i) => {
    const bytes = answers[i]
    const got = bytes === undefined ? 'no answer' : summary(decoded(bytes))
    return got === answer ? [] : [`${name} ${typeName(type)} is answered with ${got}, not ${answer}`]
  })
}

function summary({ rcode, answers }: Message): string {
  if (rcode !== RCODE.NOERROR || answers.length === 0) return rcodeName(rcode)
  return answers
    .map(({ type, rdata }) => formatRdata(type, rdata))
    .sort()
    .join(' ')
}

export interface Comparison {
  readonly cluster: EtcdCluster
  readonly world: World
  readonly journal: Journal
  readonly subjects: readonly Subject[]
  /** How long servers may take to catch up. */
  readonly settleMs: number
}

/** Compares every server with etcd; what is still different in the end are violations. */
export async function compareAll({ cluster, world, journal, subjects, settleMs }: Comparison): Promise<void> {
  const zones = await storedBelow(cluster, ZONE_PREFIX)
  const services = await storedBelow(cluster, '/skydns/')
  const owners = new Map(world.zones.map((zone) => [zone.origin, zone.owners()]))
  const ofServices = servicesExpected(
    services,
    world.services.map(({ name }) => name),
  )
  const ofGroups = groupsExpected(
    services,
    world.groups.map(({ name }) => name),
  )
  const ofZones = zonesExpected(zones, owners)
  for (const { name, port, mode, hasZones } of subjects) {
    // A text beside a host is no TXT record in compatible mode.
    const ofMode = mode === 'exact' ? ofServices : [...ofServices.filter(({ type }) => type === TYPE.A), ...ofGroups]
    const expected = [...ofMode, ...(hasZones ? ofZones : [])]
    const startedAt = performance.now()
    let found = await differences(port, expected)
    while (found.length > 0 && performance.now() < startedAt + settleMs) {
      await sleep(200)
      found = await differences(port, expected)
    }
    const settledMs = Math.round(performance.now() - startedAt)
    journal.note(
      `${name}: ${expected.length - found.length} of ${expected.length} answers are as etcd has it (${settledMs} ms)`,
    )
    for (const difference of found.slice(0, SHOWN)) journal.violation(`${name} in the end: ${difference}`)
  }
}
