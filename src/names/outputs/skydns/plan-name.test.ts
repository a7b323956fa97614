import { describe, expect, test } from 'vitest'
import { endpoint, MemoryStore } from './testing.ts'

const WWW = '/skydns/test/example/www'
const NAME = 'www.example.test'
const PTR_NAME = '2.0.26.172.in-addr.arpa'
const PTR_KEY = '/skydns/arpa/in-addr/172/26/0/2'
const EIGHT_HEX = /^\/skydns\/test\/example\/www\/[0-7][0-9a-f]{7}$/u

const note = (owner: string, resource = 'ingress/default/web') =>
  `"heritage=external-dns,external-dns/owner=${owner},external-dns/resource=${resource}"`

/** What is there of a type becomes these targets. */
function update(store: MemoryStore, type: string, targets: readonly string[], more = {}) {
  const old = store.endpoints(NAME).find(({ recordType }) => recordType === type)
  if (old === undefined) throw new Error(`no ${type}`)
  return store.apply({ updateOld: [old], updateNew: [endpoint(NAME, type, targets, more)] })
}

describe('create', () => {
  test('gives each target a key of eight digits', () => {
    const store = new MemoryStore()
    store.apply({ create: [endpoint(NAME, 'A', ['192.0.2.1', '192.0.2.2'], { recordTTL: 60 })] })
    expect(store.keys).toHaveLength(2)
    for (const key of store.keys) expect(key).toMatch(EIGHT_HEX)
    expect(Object.values(store.values)).toContainEqual({ host: '192.0.2.2', ttl: 60, targetstrip: 1 })
  })

  test('of thousands of targets and texts each gets a key, and one that goes takes only its own', () => {
    const store = new MemoryStore()
    const hosts = Array.from({ length: 3000 }, (_, at) => `10.0.${at >> 8}.${at & 255}`)
    const texts = Array.from({ length: 3000 }, (_, at) => `text ${at}`)
    const more = { recordTTL: 60 }
    const create = [endpoint(NAME, 'A', hosts, more), endpoint(NAME, 'TXT', texts, more)]
    expect(store.apply({ create }).writes).toBe(6000)
    const before = new Set(store.keys)
    expect(update(store, 'A', hosts.slice(1), more).writes).toBe(1)
    expect(update(store, 'TXT', texts.slice(1), more).writes).toBe(1)
    expect(new Set(store.keys).isSubsetOf(before)).toBe(true)
    expect(store.endpoints(NAME).map(({ targets }) => new Set(targets))).toEqual([
      new Set(hosts.slice(1)),
      new Set(texts.slice(1)),
    ])
  })

  test('twice writes once, and by another writer the same keys', () => {
    const create = [endpoint(NAME, 'A', ['192.0.2.1']), endpoint(NAME, 'AAAA', ['2001:db8::1'])]
    const [one, two] = [new MemoryStore(), new MemoryStore()]
    expect(one.apply({ create }).writes).toBe(2)
    expect(one.apply({ create }).writes).toBe(0)
    two.apply({ create })
    expect(two.values).toEqual(one.values)
  })

  test('leaves alone what somebody else has put there meanwhile', () => {
    const store = new MemoryStore({ [`${WWW}/theirs`]: { host: '192.0.2.9', targetstrip: 1 } })
    store.apply({ create: [endpoint(NAME, 'A', ['192.0.2.1'])] })
    expect(store.endpoints(NAME)[0].targets.toSorted()).toEqual(['192.0.2.1', '192.0.2.9'])
  })

  test('with a text puts it beside the first host', () => {
    const store = new MemoryStore()
    store.apply({ create: [endpoint(NAME, 'TXT', ['hello']), endpoint(NAME, 'A', ['192.0.2.1'])] })
    expect(Object.values(store.values)).toEqual([{ host: '192.0.2.1', text: 'hello', targetstrip: 1 }])
  })

  test('takes another key where the one it would take is taken', () => {
    const first = new MemoryStore()
    const create = [endpoint(NAME, 'A', ['192.0.2.1'])]
    first.apply({ create })
    const store = new MemoryStore({ [first.keys[0]]: 'something else' })
    store.apply({ create })
    expect(store.endpoints(NAME)).toMatchObject([{ targets: ['192.0.2.1'] }])
  })
})

describe('update', () => {
  test('keeps the keys of targets that stay and removes only those of targets that go', () => {
    const store = new MemoryStore({
      [`${WWW}/a`]: { host: '192.0.2.1', targetstrip: 1 },
      [`${WWW}/ab`]: { host: '192.0.2.2', targetstrip: 1 },
      [`${WWW}/abc`]: { host: '192.0.2.3' },
    })
    expect(update(store, 'A', ['192.0.2.2']).writes).toBe(1)
    expect(store.keys).toEqual([`${WWW}/ab`, `${WWW}/abc`])
  })

  test('writes nothing where nothing would change, however it is spelled', () => {
    const store = new MemoryStore({
      [`${WWW}/aa`]: '{ "ttl": 60, "HOST": "2001:0DB8::0:1", "targetstrip": 1 }',
      [`${WWW}/bb`]: { host: '192.0.2.1' },
    })
    expect(update(store, 'AAAA', ['2001:db8::1'], { recordTTL: 60 }).writes).toBe(0)
    expect(update(store, 'AAAA', ['2001:db8::1'], { recordTTL: 61 }).writes).toBe(1)
    expect(store.values[`${WWW}/aa`]).toEqual({ host: '2001:0DB8::0:1', ttl: 61, targetstrip: 1 })
  })

  test('keeps a key without a label of its own, and what else is in a value', () => {
    const store = new MemoryStore({ [WWW]: { host: '192.0.2.1', port: 80, weight: 5, owner: 'x' } })
    update(store, 'A', ['192.0.2.1'], { recordTTL: 30 })
    expect(store.values).toEqual({ [WWW]: { host: '192.0.2.1', port: 80, weight: 5, ttl: 30, owner: 'x' } })
  })

  test('of one type leaves the other alone', () => {
    const store = new MemoryStore()
    store.apply({ create: [endpoint(NAME, 'A', ['192.0.2.1']), endpoint(NAME, 'AAAA', ['2001:db8::1'])] })
    update(store, 'A', ['192.0.2.2'])
    expect(store.endpoints(NAME).map(({ targets }) => targets)).toContainEqual(['2001:db8::1'])
  })

  test('from addresses to an alias is one change', () => {
    const store = new MemoryStore()
    store.apply({ create: [endpoint(NAME, 'A', ['192.0.2.1', '192.0.2.2'])] })
    store.apply({ delete: store.endpoints(NAME), create: [endpoint(NAME, 'CNAME', ['other.test'])] })
    expect(Object.values(store.values)).toEqual([{ host: 'other.test', targetstrip: 1 }])
  })

  test('carries a text over to the new target', () => {
    const store = new MemoryStore({ [`${WWW}/aa`]: { host: '192.0.2.1', text: note('me'), targetstrip: 1 } })
    update(store, 'A', ['192.0.2.2'])
    expect(Object.values(store.values)).toEqual([{ host: '192.0.2.2', text: note('me'), targetstrip: 1 }])
  })

  test('makes one key of several for the same target', () => {
    const store = new MemoryStore({
      [`${WWW}/aa`]: { host: '192.0.2.1', targetstrip: 1 },
      [`${WWW}/bb`]: { host: '192.0.2.1', targetstrip: 1 },
    })
    update(store, 'A', ['192.0.2.1'], { recordTTL: 30 })
    expect(store.values).toEqual({ [`${WWW}/aa`]: { host: '192.0.2.1', ttl: 30, targetstrip: 1 } })
  })

  test('does not touch a target that came meanwhile', () => {
    const store = new MemoryStore({ [`${WWW}/aa`]: { host: '192.0.2.1', targetstrip: 1 } })
    const [old] = store.endpoints(NAME)
    store.apply({ create: [endpoint(NAME, 'A', ['192.0.2.9'])] })
    store.apply({ updateOld: [old], updateNew: [endpoint(NAME, 'A', ['192.0.2.2'])] })
    expect(store.endpoints(NAME)[0].targets.toSorted()).toEqual(['192.0.2.2', '192.0.2.9'])
  })
})

describe('texts', () => {
  test('a new version of a note takes the key of the old one, whatever of it the registry remembers', () => {
    const store = new MemoryStore({
      [`${WWW}/aa`]: { text: note('me', 'old'), targetstrip: 1 },
      [`${WWW}/bb`]: { text: note('me', 'older'), targetstrip: 1 },
      [`${WWW}/cc`]: { text: note('you'), targetstrip: 1 },
    })
    store.apply({
      updateOld: [endpoint(NAME, 'TXT', [note('me', 'made up')])],
      updateNew: [endpoint(NAME, 'TXT', [note('me')])],
    })
    expect(store.values).toEqual({
      [`${WWW}/aa`]: { text: note('me'), targetstrip: 1 },
      [`${WWW}/cc`]: { text: note('you'), targetstrip: 1 },
    })
  })

  test('of several values all are stored, and those no longer wanted go', () => {
    const store = new MemoryStore()
    store.apply({ create: [endpoint(NAME, 'TXT', ['one', 'two'], { recordTTL: 30 })] })
    expect(store.endpoints(NAME)).toMatchObject([{ recordType: 'TXT', recordTTL: 30 }])
    update(store, 'TXT', ['two', 'three'])
    expect(store.endpoints(NAME)[0].targets.toSorted()).toEqual(['three', 'two'])
    expect(store.keys).toHaveLength(2)
  })

  test('a note goes with its record, any other text stays', () => {
    const store = new MemoryStore({
      [`${WWW}/aa`]: { host: '192.0.2.1', text: note('me'), targetstrip: 1 },
      [`${WWW}/bb`]: { host: '192.0.2.2', text: 'hello', targetstrip: 1 },
    })
    store.apply({ delete: store.endpoints(NAME).filter(({ recordType }) => recordType === 'A') })
    expect(Object.values(store.values)).toEqual([{ text: 'hello', targetstrip: 1 }])
  })

  test('a text that goes leaves the host it stood with', () => {
    const store = new MemoryStore({ [`${WWW}/aa`]: { host: '192.0.2.1', text: 'hello', targetstrip: 1 } })
    store.apply({ delete: [endpoint(NAME, 'TXT', ['hello'])] })
    expect(store.values).toEqual({ [`${WWW}/aa`]: { host: '192.0.2.1', targetstrip: 1 } })
  })
})

describe('delete', () => {
  test('removes every key of the record, and no other', () => {
    const store = new MemoryStore({
      [WWW]: { host: '192.0.2.1' },
      [`${WWW}/aa`]: { host: '192.0.2.2', targetstrip: 1 },
      [`${WWW}/below`]: { host: '192.0.2.2' },
      [`${WWW}2`]: { host: '192.0.2.2' },
    })
    store.apply({ delete: store.endpoints(NAME) })
    expect(store.keys).toEqual([`${WWW}/below`, `${WWW}2`])
  })

  test('of something that is not there writes nothing', () => {
    const store = new MemoryStore({ [`${WWW}/aa`]: { host: '192.0.2.1', targetstrip: 1 } })
    expect(store.apply({ delete: [endpoint(NAME, 'A', ['192.0.2.7']), endpoint(NAME, 'TXT', ['x'])] }).writes).toBe(0)
  })
})

describe('reverse names', () => {
  test('have their one target at the key of the name', () => {
    const store = new MemoryStore()
    store.apply({ create: [endpoint(PTR_NAME, 'PTR', ['b.test', 'a.test'])] })
    expect(store.values).toEqual({ [PTR_KEY]: { host: 'a.test' } })
  })

  test('get back to that key from one below it', () => {
    const store = new MemoryStore({ [`${PTR_KEY}/1234abcd`]: { host: 'a.test', targetstrip: 1 } })
    store.apply({ updateOld: store.endpoints(PTR_NAME), updateNew: [endpoint(PTR_NAME, 'PTR', ['b.test'])] })
    expect(store.values).toEqual({ [PTR_KEY]: { host: 'b.test' } })
  })

  test('keep a text beside the target', () => {
    const store = new MemoryStore({ [PTR_KEY]: { host: 'a.test' } })
    store.apply({ create: [endpoint(PTR_NAME, 'TXT', ['hello', 'again'])] })
    expect(store.values[PTR_KEY]).toEqual({ host: 'a.test', text: 'hello' })
    expect(store.endpoints(PTR_NAME).at(-1)?.targets).toEqual(['hello', 'again'])
  })

  test('are refused where somebody else has the key', () => {
    const create = [endpoint(PTR_NAME, 'PTR', ['a.test'])]
    const refusal = (value: unknown, owner?: string) => {
      const store = new MemoryStore({ [PTR_KEY]: value }, owner)
      const { writes, problems } = store.apply({ create })
      expect(writes).toBe(0)
      return problems
    }
    const cannot = `Cannot write "${PTR_NAME}": "${PTR_KEY}"`
    expect(refusal({ host: 'x.test' })).toEqual([`${cannot} points to "x.test" already; expected one target`])
    expect(refusal({ host: 'a.test', owner: 'you' }, 'me')).toEqual([
      `${cannot} belongs to "you"; expected a key without other records`,
    ])
    expect(refusal({ host: 'a.test' }, 'me')).toEqual([
      `${cannot} belongs to nobody; expected a key without other records`,
    ])
    expect(refusal('bad')).toEqual([`${cannot} holds something else; expected a key without other records`])
  })
})

describe('ownership in values', () => {
  const theirs = { host: '192.0.2.1', targetstrip: 1, owner: 'you' }

  test('is written, and keys of others are never changed', () => {
    const store = new MemoryStore({ [`${WWW}/aa`]: theirs }, 'me')
    store.apply({ create: [endpoint(NAME, 'A', ['192.0.2.1'])] })
    expect(Object.values(store.values)).toContainEqual({ host: '192.0.2.1', targetstrip: 1, owner: 'me' })
    store.apply({ delete: [endpoint(NAME, 'A', ['192.0.2.1'])] })
    expect(store.values).toEqual({ [`${WWW}/aa`]: theirs })
  })

  test('two owners never take the same key', () => {
    const create = [endpoint(NAME, 'A', ['192.0.2.1'])]
    const [me, you] = ['me', 'you'].map((owner) => new MemoryStore({}, owner))
    me.apply({ create })
    you.apply({ create })
    expect(me.keys).not.toEqual(you.keys)
  })
})

test('what cannot be stored is told, and the rest is', () => {
  const store = new MemoryStore()
  const { problems } = store.apply({
    create: [
      endpoint(NAME, 'SRV', ['0 0 80 other.test.']),
      endpoint(NAME, 'A', ['other.test']),
      endpoint('a/b.test', 'A', ['192.0.2.1']),
      endpoint('a..b.test', 'A', ['192.0.2.1']),
      endpoint(PTR_NAME, 'A', ['192.0.2.1']),
      endpoint('old.test', 'A', ['192.0.2.1'], { recordTTL: 2 ** 32 }),
      endpoint('good.test.', 'A', ['192.0.2.1']),
    ],
  })
  expect(problems).toEqual([
    `Cannot store "${NAME}" SRV: values in etcd have no room for this type; expected one of A, AAAA, CNAME, PTR, TXT`,
    `Cannot store "${NAME}" A "other.test": such a value is read as CNAME; expected a target for A`,
    'Cannot store "a/b.test" A: the name has an empty label or a slash; expected labels that a key can spell',
    'Cannot store "a..b.test" A: the name has an empty label or a slash; expected labels that a key can spell',
    `Cannot store "${PTR_NAME}" A "192.0.2.1": such a value is read as PTR; expected a target for A`,
    'Cannot store "old.test" A: its TTL is 4294967296; expected one from 0 to 4294967295',
  ])
  expect(store.keys).toEqual([expect.stringMatching(/^\/skydns\/test\/good\/[0-9a-f]{8}$/u)])
})
