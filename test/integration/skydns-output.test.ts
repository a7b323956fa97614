// SkyDNS keys written and read by the store, against a real etcd: with others who write the same keys, with values
// that are none, and with an etcd that goes away in the middle.

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { EtcdClient } from '../../src/etcd/client.ts'
import type { Changes, Endpoint } from '../../src/names/endpoints/endpoint.ts'
import { planChanges } from '../../src/names/endpoints/plan.ts'
import { SkydnsStore, type SkydnsStoreOptions } from '../../src/names/outputs/skydns/skydns-store.ts'
import { endpoint } from '../../src/names/outputs/skydns/testing.ts'
import { txtRegistry } from '../../src/names/registry/txt.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { EtcdProxy } from '../support/etcd-proxy.ts'
import { until } from '../support/until.ts'

let etcd: EtcdCluster
let client: EtcdClient
const ends: (() => unknown)[] = []
beforeAll(async () => {
  etcd = await EtcdCluster.start({ members: 1 })
  client = new EtcdClient(etcd.options)
})
afterAll(async () => {
  client.close()
  await etcd.stop()
})
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
  await etcd.etcdctl('del', '', '--prefix')
})

interface Started {
  readonly store: SkydnsStore
  readonly problems: string[]
  readonly changed: Set<string>
}

async function start(options: Partial<SkydnsStoreOptions> = {}): Promise<Started> {
  const controller = new AbortController()
  const problems: string[] = []
  const changed = new Set<string>()
  const store = new SkydnsStore({
    ...{ client, prefix: '/skydns/', signal: controller.signal, onState: () => undefined, ...options },
    onChange: (names) => {
      for (const name of names) changed.add(name)
    },
    onProblem: (message) => problems.push(message),
  })
  const following = store.start()
  ends.push(() => {
    controller.abort()
    return following
  })
  await store.ready
  return { store, problems, changed }
}

function changes(some: Partial<Changes>): Changes {
  return { create: [], updateOld: [], updateNew: [], delete: [], ...some }
}

/** What is there becomes what is wanted. Returns how many endpoints that took. */
async function reconcile(store: SkydnsStore, desired: readonly Endpoint[]): Promise<number> {
  const plan = planChanges({
    ...{ current: store.endpoints('all'), desired, policy: 'sync', ownerId: '', domainFilter: () => true },
    ...{ managedRecordTypes: ['A', 'AAAA', 'CNAME', 'TXT', 'PTR'], excludeRecordTypes: [] },
  })
  const { problems } = await store.apply(plan)
  expect(problems).toEqual([])
  return plan.create.length + plan.updateNew.length + plan.delete.length
}

const put = (key: string, value: unknown) =>
  client.put(Buffer.from(key), Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)))

async function stored(prefix = '/skydns/'): Promise<Record<string, string>> {
  const lines = (await etcd.etcdctl('get', prefix, '--prefix')).split('\n')
  return Object.fromEntries(Array.from({ length: lines.length >> 1 }, (_, at) => [lines[2 * at], lines[2 * at + 1]]))
}

describe('what is written', () => {
  test('are the very bytes ExternalDNS writes, under a prefix with or without its slash', async () => {
    for (const prefix of ['/with/', '/without']) {
      const { store } = await start({ prefix })
      const { puts } = await store.apply(
        changes({
          create: [
            endpoint('www.example.org', 'A', ['192.0.2.1'], { recordTTL: 60 }),
            endpoint('a-www.example.org', 'TXT', ['"heritage=external-dns,external-dns/owner=<me>"']),
            endpoint('1.2.0.192.in-addr.arpa', 'PTR', ['www.example.org']),
          ],
        }),
      )
      expect(puts).toBe(3)
      const base = prefix.replace(/\/$/u, '')
      const found = await stored(base)
      const masked = Object.entries(found).map(([key, value]) => [
        key.replace(/\/[0-7][\da-f]{7}$/u, '/XXXXXXXX'),
        value,
      ])
      expect(masked).toEqual([
        [`${base}/arpa/in-addr/192/0/2/1`, '{"host":"www.example.org"}'],
        [
          `${base}/org/example/a-www/XXXXXXXX`,
          '{"text":"\\"heritage=external-dns,external-dns/owner=\\u003cme\\u003e\\"","targetstrip":1}',
        ],
        [`${base}/org/example/www/XXXXXXXX`, '{"host":"192.0.2.1","ttl":60,"targetstrip":1}'],
      ])
    }
  })

  test('is seen as soon as it is acknowledged, so that the next plan has nothing to do', async () => {
    const { store } = await start()
    const desired = (round: number) => [
      endpoint('www.example.org', 'A', [`192.0.2.${round}`, '192.0.2.100']),
      endpoint('www.example.org', 'AAAA', ['2001:db8::1']),
      endpoint('www.example.org', 'TXT', [`round ${round}`]),
      endpoint(`n${round}.example.org`, 'CNAME', ['www.example.org']),
    ]
    for (let round = 1; round <= 20; round++) {
      expect(await reconcile(store, desired(round))).toBeGreaterThan(0)
      expect(await reconcile(store, desired(round))).toBe(0)
    }
    expect(await reconcile(store, [])).toBeGreaterThan(0)
    expect(await stored()).toEqual({})
  })

  test('costs no revision where nothing changes', async () => {
    const { store } = await start()
    const create = [endpoint('www.example.org', 'A', ['192.0.2.1'])]
    await store.apply(changes({ create }))
    const before = await client.range({ key: Buffer.from('/') })
    expect(await store.apply(changes({ create }))).toEqual({ puts: 0, deletes: 0, problems: [] })
    expect((await client.range({ key: Buffer.from('/') })).revision).toBe(before.revision)
  })

  test('can be 10,000 names at once', async () => {
    const { store } = await start()
    const create = Array.from({ length: 10_000 }, (_, at) =>
      endpoint(`n${at}.example.org`, 'A', [`10.0.${at >> 8}.${at & 255}`]),
    )
    expect(await store.apply(changes({ create }))).toEqual({ puts: 10_000, deletes: 0, problems: [] })
    expect(store.endpoints('all')).toHaveLength(10_000)
    expect(await store.apply(changes({ delete: store.endpoints('all') }))).toMatchObject({ deletes: 10_000 })
    expect([...store.names()]).toEqual([])
  })

  test('may be more of one name than a transaction takes', async () => {
    const { store } = await start()
    const targets = Array.from({ length: 300 }, (_, at) => `10.1.${at >> 8}.${at & 255}`)
    await store.apply(changes({ create: [endpoint('large.example.org', 'A', targets)] }))
    expect(store.endpoints(['large.example.org'])[0].targets).toHaveLength(300)
  })
})

describe('beside others', () => {
  test('changes of others are told by name, and only what the domain filter lets through', async () => {
    const { store, changed } = await start({ domainFilter: (name) => name.endsWith('.org') })
    await put('/skydns/org/example/www/aa', { host: '192.0.2.1', targetstrip: 1 })
    await put('/skydns/net/example/www/aa', { host: '192.0.2.1', targetstrip: 1 })
    await put('/skydns/org/example/last', { host: '192.0.2.1' })
    await until('change', () => changed.has('last.example.org'))
    expect([...changed]).toEqual(['www.example.org', 'last.example.org'])
    expect([...store.names()]).toEqual(['www.example.org', 'last.example.org'])
    expect(store.endpoints(['WWW.example.net.', 'WWW.example.org.'])).toHaveLength(1)
    const outside = endpoint('www.example.net', 'A', ['192.0.2.1'])
    expect(await store.apply(changes({ delete: [outside] }))).toMatchObject({ deletes: 0 })
  })

  test.each([
    ['a domain', 'example.org', (name: string) => `.${name}`.endsWith('.example.org')],
    ['a regexp', 'web.example.org', (name: string) => name.startsWith('web.')],
  ])('a record is ours although the filter, %s, does not let its mark through', async (_, name, domainFilter) => {
    const { store } = await start({ domainFilter })
    const registry = txtRegistry({ ownerId: 'me', recordTypes: ['A'] })
    const publish = async (...targets: string[]) => {
      const known = store.endpoints([name, ...registry.markNames(name)])
      const { conflicts, ...plan } = planChanges({
        ...{ current: registry.records(known), desired: targets.map((each) => endpoint(name, 'A', [each])) },
        ...{ policy: 'sync', ownerId: 'me', domainFilter, managedRecordTypes: ['A'], excludeRecordTypes: [] },
      })
      expect(conflicts).toEqual([])
      expect(await store.apply(registry.mark(plan, known))).toMatchObject({ problems: [] })
    }
    const outside = '/skydns/org/b'
    await put(outside, { host: '192.0.2.9', text: 'somebody else' })
    await publish('192.0.2.1')
    expect(new Set(store.endpoints('all').map(({ dnsName }) => dnsName))).toEqual(new Set(['b.org', `a-${name}`, name]))
    await publish('192.0.2.2')
    expect(store.endpoints([name])).toMatchObject([{ targets: ['192.0.2.2'] }])
    expect([...store.names()]).toEqual([name])
    await publish()
    expect(Object.keys(await stored())).toEqual([outside])
    const [{ recordType }] = store.endpoints(['b.org'])
    expect(recordType).toBe('TXT')
  })

  test('a key that somebody else changes at the same time ends as one of the two, and is not lost', async () => {
    const { store } = await start()
    const key = '/skydns/arpa/in-addr/192/0/2/7'
    const name = '7.2.0.192.in-addr.arpa'
    await put(key, { host: 'first.test' })
    await until('entry', () => store.endpoints([name]).length > 0)
    const stop = new AbortController()
    const other = (async () => {
      for (let at = 0; !stop.signal.aborted; at++) await put(key, { host: 'first.test', weight: (at % 100) + 1 })
    })()
    for (let ttl = 1; ttl <= 5; ttl++) {
      const [old] = store.endpoints([name])
      const wanted = endpoint(name, 'PTR', ['first.test'], { recordTTL: ttl })
      const { problems } = await store.apply(changes({ updateOld: [old], updateNew: [wanted] }))
      for (const { retryable, message } of problems) {
        expect(retryable).toBe(true)
        expect(message).toContain('somebody else keeps changing it')
      }
    }
    stop.abort()
    await other
    const wanted = endpoint(name, 'PTR', ['first.test'], { recordTTL: 99 })
    const { problems } = await store.apply(changes({ updateOld: store.endpoints([name]), updateNew: [wanted] }))
    expect(problems).toEqual([])
    // The last value of the other with our change in it.
    expect(JSON.parse((await stored())[key])).toEqual({ host: 'first.test', weight: expect.any(Number), ttl: 99 })
  })

  test('two writers of the same names make each record once', async () => {
    const second = new EtcdClient(etcd.options)
    ends.push(() => second.close())
    const [one, two] = [await start(), await start({ client: second })]
    const create = Array.from({ length: 300 }, (_, at) => endpoint(`n${at}.example.org`, 'A', [`10.0.0.${at % 250}`]))
    const applied = await Promise.all([one, two].map(({ store }) => store.apply(changes({ create }))))
    expect(applied.flatMap(({ problems }) => problems)).toEqual([])
    expect(Object.keys(await stored())).toHaveLength(300)
    expect(applied[0].puts + applied[1].puts).toBe(300)
  })

  test('two owners have their own targets of one name, and neither touches what is not its own', async () => {
    await put('/skydns/org/example/www/nobody', { host: '192.0.2.9', targetstrip: 1 })
    const [me, you] = [await start({ owner: 'me' }), await start({ owner: 'you' })]
    await me.store.apply(changes({ create: [endpoint('www.example.org', 'A', ['192.0.2.1'])] }))
    await you.store.apply(changes({ create: [endpoint('www.example.org', 'A', ['192.0.2.1', '192.0.2.2'])] }))
    expect(me.store.endpoints('all')).toMatchObject([{ targets: ['192.0.2.1'], labels: { owner: 'me' } }])
    await you.store.apply(
      changes({ delete: [endpoint('www.example.org', 'A', ['192.0.2.1', '192.0.2.2', '192.0.2.9'])] }),
    )
    const left = Object.values(await stored()).map((value) => JSON.parse(value) as unknown)
    expect(left).toHaveLength(2)
    expect(left).toContainEqual({ host: '192.0.2.1', targetstrip: 1, owner: 'me' })
    expect(left).toContainEqual({ host: '192.0.2.9', targetstrip: 1 })
  })

  test('a key of another owner is not written over, and the sentence says whose it is', async () => {
    const key = '/skydns/arpa/in-addr/192/0/2/1'
    await put(key, { host: 'theirs.test', owner: 'you' })
    const { store } = await start({ owner: 'me' })
    const create = [
      endpoint('1.2.0.192.in-addr.arpa', 'PTR', ['mine.test']),
      endpoint('2.2.0.192.in-addr.arpa', 'PTR', ['mine.test']),
    ]
    const { puts, problems } = await store.apply(changes({ create }))
    expect(puts).toBe(1)
    expect(problems).toEqual([
      {
        name: '1.2.0.192.in-addr.arpa',
        message: `Cannot write "1.2.0.192.in-addr.arpa": "${key}" belongs to "you"; expected a key without other records`,
        retryable: false,
      },
    ])
    expect(JSON.parse((await stored())[key])).toEqual({ host: 'theirs.test', owner: 'you' })
  })

  test('endpoints of other owners can be shown, and those of a former owner be taken over', async () => {
    await put('/skydns/org/example/www/aa', { host: '192.0.2.1', targetstrip: 1, owner: 'old' })
    await put('/skydns/org/example/www/bb', { host: '192.0.2.2', targetstrip: 1, owner: 'you' })
    const { store } = await start({ owner: 'me', formerOwner: 'old', showOthers: true })
    const [old, other] = store.endpoints('all')
    expect([old, other]).toMatchObject([{ labels: { owner: 'old' } }, { labels: { owner: 'you' } }])
    await store.apply(changes({ updateOld: [old], updateNew: [endpoint('www.example.org', 'A', ['192.0.2.1'])] }))
    expect(await stored()).toEqual({
      '/skydns/org/example/www/aa': '{"host":"192.0.2.1","targetstrip":1,"owner":"me"}',
      '/skydns/org/example/www/bb': '{"host":"192.0.2.2","targetstrip":1,"owner":"you"}',
    })
  })

  test('a value that is no service is told once, stays, and does no harm to others', async () => {
    await put('/skydns/org/example/bad/aa', 'invalid-json')
    await put('/skydns/org/example/good/aa', { host: '192.0.2.1', targetstrip: 1 })
    const { store, problems } = await start()
    expect(problems).toEqual([
      expect.stringContaining('Cannot use "/skydns/org/example/bad/aa": its value is not JSON'),
    ])
    expect(await reconcile(store, [endpoint('bad.example.org', 'A', ['192.0.2.2'])])).toBe(2)
    const left = await stored()
    expect(left['/skydns/org/example/bad/aa']).toBe('invalid-json')
    expect(Object.keys(left)).toHaveLength(2)
    expect(problems).toHaveLength(1)
    await put('/skydns/org/example/bad/aa', 'still bad')
    await until('problem', () => problems.length === 2)
  })
})

describe('when etcd goes away', () => {
  const create = Array.from({ length: 2000 }, (_, at) => endpoint(`n${at}.example.org`, 'A', [`10.0.0.${at % 250}`]))

  test('2,000 creates survive that it is killed and restarted in the middle', async () => {
    // Slow enough, and small enough steps, that there is a middle.
    const proxy = await EtcdProxy.start(etcd.endpoints[0])
    const slow = new EtcdClient({ endpoints: [proxy.endpoint] })
    ends.push(
      () => slow.close(),
      () => proxy.stop(),
    )
    const { store } = await start({ client: slow })
    proxy.delayMs = 20
    const text = 'x'.repeat(30_000)
    const large = create.map((each, at) => (at % 4 === 0 ? endpoint(each.dnsName, 'TXT', [`${text}${at}`]) : each))
    const applying = store.apply(changes({ create: large }))
    await until('first writes', () => [...store.names()].length > 0)
    expect([...store.names()].length).toBeLessThan(2000)
    await etcd.restart(0)
    await etcd.healthy()
    const { problems } = await applying
    const missing = new Set(problems.map(({ name }) => name))
    await store.apply(changes({ create: large.filter(({ dnsName }) => missing.has(dnsName)) }))
    expect(Object.keys(await stored())).toHaveLength(2000)
    expect(await reconcile(store, large)).toBe(0)
  })

  test('an answer that is lost after the write makes no second key', async () => {
    const proxy = await EtcdProxy.start(etcd.endpoints[0])
    const shaky = new EtcdClient({ endpoints: [proxy.endpoint], requestTimeoutMs: 1000 })
    ends.push(
      () => shaky.close(),
      () => proxy.stop(),
    )
    const { store } = await start({ client: shaky })
    for (let round = 0; round < 5; round++) {
      const applying = store.apply(changes({ create: [endpoint(`n${round}.example.org`, 'A', ['192.0.2.1'])] }))
      await sleep(round)
      proxy.cut()
      expect((await applying).problems).toEqual([])
    }
    expect(Object.keys(await stored())).toHaveLength(5)
  })

  test('nothing is written for somebody who may not write any more', async () => {
    const { store } = await start()
    let left = 1
    const { puts, problems } = await store.apply(changes({ create: create.slice(0, 1000) }), () => left-- > 0)
    expect(puts).toBeGreaterThan(0)
    expect(puts).toBeLessThan(1000)
    expect(problems).toHaveLength(1000 - puts)
    expect(problems.every(({ retryable }) => retryable)).toBe(true)
    expect(Object.keys(await stored())).toHaveLength(puts)
  })

  test('what could not be written is told as such, and can be written later', async () => {
    const { store } = await start()
    await etcd.kill(0)
    const { puts, problems } = await store.apply(changes({ create: create.slice(0, 3) }))
    expect(puts).toBe(0)
    expect(problems).toHaveLength(3)
    expect(problems[0]).toMatchObject({ name: 'n0.example.org', retryable: true })
    await expect(store.caughtUp(10)).rejects.toMatchObject({ retryable: true })
    await etcd.restart(0)
    await etcd.healthy()
    expect(await store.apply(changes({ create: create.slice(0, 3) }))).toMatchObject({ puts: 3, problems: [] })
  })
})

test('what a user may not write is refused alone', async () => {
  const secured = await EtcdCluster.start({ members: 1, auth: { rootPassword: 'secret' } })
  ends.push(() => secured.stop())
  await secured.etcdctl('role', 'add', 'org')
  await secured.etcdctl('role', 'grant-permission', 'org', '--prefix=true', 'read', '/skydns/')
  await secured.etcdctl('role', 'grant-permission', 'org', '--prefix=true', 'readwrite', '/skydns/org/')
  await secured.etcdctl('user', 'add', 'ann:secret')
  await secured.etcdctl('user', 'grant-role', 'ann', 'org')
  const limited = new EtcdClient({ endpoints: secured.endpoints, username: 'ann', password: 'secret' })
  ends.unshift(() => limited.close())
  const { store } = await start({ client: limited })
  ends.unshift(ends.pop()!)
  const create = ['a.org', 'b.net', 'c.org'].map((name) => endpoint(name, 'A', ['192.0.2.1']))
  const { puts, problems } = await store.apply(changes({ create }))
  expect(puts).toBe(2)
  expect(problems).toMatchObject([{ name: 'b.net', message: expect.stringContaining('has no permission') }])
})
