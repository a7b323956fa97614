// ExternalDNS's CoreDNS provider: what it reads from etcd, what it writes, whose keys it leaves alone, and how it is told
// of etcd. The cases are facts from its own tests.

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readEtcdUrls } from '../../src/cli/etcd-urls.ts'
import { ETCD_FLAGS, type EtcdFlags } from '../../src/cli/etcd-flags.ts'
import type { Endpoint } from '../../src/names/endpoints/endpoint.ts'
import { isReadable, readEntry } from '../../src/names/outputs/skydns/entry.ts'
import { hostType } from '../../src/names/outputs/skydns/service-value.ts'
import { endpoint, MemoryStore } from '../../src/names/outputs/skydns/testing.ts'
import { collectingIo } from '../support/command-line.ts'

interface Vector {
  readonly id: string
  readonly kind: string
  readonly note: string
  // oxlint-disable-next-line typescript/no-explicit-any -- every kind has its own shape
  readonly input: any
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly expect: any
}

const KINDS = ['coredns-provider', 'coredns-ownership', 'coredns-store', 'coredns-etcd-env']

const { cases } = JSON.parse(readFileSync(`${import.meta.dirname}/externaldns.json`, 'utf8')) as { cases: Vector[] }
const vectors = cases.filter(({ kind }) => KINDS.includes(kind))

type Check = (vector: Vector) => void | Promise<void>

const BY_KIND: Readonly<Record<string, Check>> = {
  'coredns-provider read': reads,
  'coredns-provider type': ({ input, expect: expected }) =>
    expect(hostType('name.test', input.host)).toBe(expected.record_type),
  'coredns-provider apply': applies,
  'coredns-provider txt-merge': mergesTexts,
  'coredns-ownership read': readsOwn,
  'coredns-ownership delete': deletesOwn,
  'coredns-ownership save': savesOwn,
  'coredns-etcd-env': readsEnvironment,
}

const BY_ID: Readonly<Record<string, Check>> = {
  'coredns-store-002': readsKeyOnce,
  'coredns-provider-024': movesPointer,
}

/** Where we differ on purpose; docs/reference/deviations.md has the reasons. */
const DEVIATIONS: Readonly<Record<string, Check>> = {
  'coredns-provider-020': goesByEntries,
  'coredns-store-001': skipsBrokenValue,
}

describe("vectors of ExternalDNS's CoreDNS provider", () => {
  for (const vector of vectors)
    test(`${vector.id}: ${vector.note || vector.kind}${vector.id in DEVIATIONS ? ' (we differ)' : ''}`, async () => {
      const kind = [vector.kind, vector.input.op].filter(Boolean).join(' ')
      const check = DEVIATIONS[vector.id] ?? BY_ID[vector.id] ?? BY_KIND[kind]
      if (check === undefined) throw new Error(`no check for ${vector.id}`)
      await check(vector)
    })

  test('no check is without a case', () => {
    const ids = new Set(vectors.map(({ id }) => id))
    expect([...Object.keys(BY_ID), ...Object.keys(DEVIATIONS)].filter((id) => !ids.has(id))).toEqual([])
    const kinds = new Set(vectors.map(({ kind, input }) => [kind, input.op].filter(Boolean).join(' ')))
    expect(Object.keys(BY_KIND).filter((kind) => !kinds.has(kind))).toEqual([])
  })
})

/** `/skydns/com/example` → `example.com` */
function nameOf(key: string): string {
  return key.split('/').slice(2).toReversed().join('.')
}

function full(given: Partial<Endpoint> & Pick<Endpoint, 'dnsName' | 'recordType' | 'targets'>): Endpoint {
  return endpoint(given.dnsName, given.recordType, given.targets, given)
}

function reads({ input, expect: expected }: Vector): void {
  const store = new MemoryStore(input.etcd, input.strictly_owned ? 'owner' : undefined)
  const found = Object.keys(input.etcd).flatMap((key) => store.endpoints(nameOf(key)))
  if (expected.endpoints !== undefined) expect(found).toMatchObject(expected.endpoints)
  else
    expect(found.map(({ labels }) => labels.owner ?? null)).toEqual(
      Object.keys(input.etcd).map(() => expected.every_endpoint_owner_label),
    )
}

function applies({ input, expect: expected }: Vector): void {
  const store = new MemoryStore(input.etcd)
  for (const step of input.steps ?? [input]) {
    const { problems } = store.apply({ create: (step.create ?? []).map(full), delete: (step.delete ?? []).map(full) })
    expect(problems).toEqual([])
    if (step.expect_keys !== undefined) expect(store.values).toEqual(step.expect_keys)
  }
  if (Array.isArray(expected.keys)) {
    const masked = Object.entries(store.values).map(([key, value]) => ({
      parent: key.replace(/\/[\da-f]{8}$/u, ''),
      key: key.replace(/\/[\da-f]{8}$/u, '/<8 hex>'),
      value,
    }))
    expect(masked).toEqual(expected.keys)
  } else if (expected.keys !== undefined) expect(store.values).toEqual(expected.keys)
}

function movesPointer({ input, expect: expected }: Vector): void {
  const store = new MemoryStore(input.etcd)
  const name = nameOf(Object.keys(input.etcd)[0])
  store.apply({ updateOld: store.endpoints(name), updateNew: [endpoint(name, 'PTR', [input.update])] })
  expect(store.values).toEqual(expected.keys)
}

/** Its services are those of one name, with the texts they had; each TXT endpoint is a text of the name. */
function mergesTexts({ input, expect: expected }: Vector): void {
  const services: { text: string }[] = input.services
  const hosts = services.map((_, at) => `192.0.2.${at + 1}`)
  const store = new MemoryStore(
    Object.fromEntries(
      services.map(({ text }, at) => [`/skydns/test/name/k${at}`, { host: hosts[at], text, targetstrip: 1 }]),
    ),
  )
  const before = store.endpoints('name.test').filter(({ recordType }) => recordType === 'TXT')
  const texts = input.txt_endpoints.map((text: string) => endpoint('name.test', 'TXT', [text]))
  if (before.length > 0) store.apply({ updateOld: before, updateNew: texts })
  else store.apply({ create: texts })
  const values = Object.values(store.values) as { text?: string }[]
  expect(values.map(({ text = '' }) => text).toSorted()).toEqual(expected.texts.toSorted())
  if (expected.new_keys !== undefined) expect(store.keys).toHaveLength(expected.new_keys)
}

function readsOwn({ input, expect: expected }: Vector): void {
  const owners: string[] = input.stored_owners
  const values = owners.map((owner, at) => [
    `/skydns/test/n${at}`,
    { host: '192.0.2.1', ...(owner !== '' && { owner }) },
  ])
  const store = new MemoryStore(Object.fromEntries(values), input.strictly_owned ? input.owner_id : undefined)
  expect(owners.flatMap((_, at) => store.endpoints(`n${at}.test`))).toHaveLength(expected.kept)
}

function deletesOwn({ input, expect: expected }: Vector): void {
  const stored: { key: string; owner: string }[] = input.stored
  const values = Object.fromEntries(stored.map(({ key, owner }) => [key, { host: '192.0.2.1', owner }]))
  const store = new MemoryStore(values, input.owner_id)
  store.apply({ delete: [endpoint(nameOf(input.key), 'A', ['192.0.2.1'])] })
  expect(stored.map(({ key }) => key).filter((key) => !store.keys.includes(key))).toEqual(expected.deleted)
}

/** At a reverse name, where there is but one key to write to. `service_owner` is whose the key is, where it exists. */
function savesOwn({ input, expect: expected }: Vector): void {
  const key = '/skydns/arpa/in-addr/1'
  const owner = input.service_owner === null ? {} : { owner: input.service_owner }
  const values = input.key_exists ? { [key]: { host: 'old.test', ...owner } } : {}
  const store = new MemoryStore(values, input.strictly_owned ? input.owner_id : undefined)
  const wanted = endpoint('1.in-addr.arpa', 'PTR', ['new.test'])
  const [old] = store.endpoints('1.in-addr.arpa')
  const { problems } = store.apply(old === undefined ? { create: [wanted] } : { updateOld: [old], updateNew: [wanted] })
  expect(problems.length > 0).toBe(expected.error === true)
  if (expected.error === true) expect(store.values).toEqual(values)
  else
    expect(store.values[key]).toEqual({
      host: 'new.test',
      ...(expected.written_owner && { owner: expected.written_owner }),
    })
}

function readsKeyOnce(): void {
  const store = new MemoryStore({ '/skydns/test/name/aa': { host: '192.0.2.1', targetstrip: 1 } })
  store.apply({ create: [endpoint('name.test', 'A', ['192.0.2.1'])] })
  expect(store.endpoints('name.test')).toMatchObject([{ targets: ['192.0.2.1'] }])
}

/** Theirs: a label of the endpoint says which key to delete. Ours: a key of that name with that target has to be there. */
function goesByEntries({ input, expect: expected }: Vector): void {
  const { name, type, targets, labels } = input.update
  const store = new MemoryStore(input.etcd)
  const old = endpoint(name, type, targets, { labels })
  store.apply({ updateOld: [old], updateNew: [old] })
  // These entries have no targetstrip: they are those of test.domain1.local and so on, and none of them goes.
  expect(store.keys).toEqual(expect.arrayContaining([...expected.deleted, ...Object.keys(input.etcd)]))
  expect(store.endpoints(name)).toMatchObject([{ targets }])
  expect(store.keys).toHaveLength(6)
}

function skipsBrokenValue({ input, expect: expected }: Vector): void {
  const entry = readEntry('/prefix/', Buffer.from(input.key), Buffer.from(input.value), 1n)
  expect(isReadable(entry)).toBe(false)
  expect(entry.key).toBe(expected.error_mentions)
}

async function readsEnvironment({ input, expect: expected }: Vector): Promise<void> {
  const { io } = collectingIo({ env: input.env })
  const none = Object.fromEntries(Object.keys(ETCD_FLAGS).map((name) => [name, undefined])) as EtcdFlags
  const reading = readEtcdUrls(none, io)
  if (expected.error !== undefined) {
    await expect(reading).rejects.toThrow(/expected both, or none|does not begin with http:\/\/ or https:\/\//u)
    return
  }
  const { tls, ...options } = await reading
  const { tls: wanted = false, ...rest } = expected
  expect(tls !== undefined).toBe(wanted)
  expect(options).toMatchObject(rest)
}
