import { describe, expect, test } from 'vitest'
import { MemoryStore } from './testing.ts'

const WWW = '/skydns/test/example/www'

describe('the entries of a name', () => {
  test('are one endpoint per type, with a label for the key of each target', () => {
    const store = new MemoryStore({
      [`${WWW}/aa`]: { host: '192.0.2.1', targetstrip: 1, ttl: 60, group: 'g' },
      [`${WWW}/bb`]: { host: '2001:db8::1', targetstrip: 1 },
      [`${WWW}/cc`]: { host: '192.0.2.2', targetstrip: 1, ttl: 60, text: 'last' },
    })
    expect(store.endpoints('www.example.test')).toEqual([
      {
        dnsName: 'www.example.test',
        recordType: 'A',
        targets: ['192.0.2.1', '192.0.2.2'],
        recordTTL: 60,
        labels: { prefix: 'cc', originalText: 'last', '192.0.2.1': 'aa', '192.0.2.2': 'cc' },
        providerSpecific: [{ name: 'coredns/group', value: 'g' }],
      },
      {
        dnsName: 'www.example.test',
        recordType: 'AAAA',
        targets: ['2001:db8::1'],
        labels: { prefix: 'bb', originalText: '', '2001:db8::1': 'bb' },
        providerSpecific: [],
      },
      {
        dnsName: 'www.example.test',
        recordType: 'TXT',
        targets: ['last'],
        labels: { prefix: 'cc' },
        providerSpecific: [],
      },
    ])
  })

  test('may stand at the key of the name, or several labels below it', () => {
    const store = new MemoryStore({
      [WWW]: { host: '192.0.2.1' },
      [`${WWW}/b/a`]: { host: '192.0.2.2', targetstrip: 2 },
      [`${WWW}/below`]: { host: '192.0.2.3' },
    })
    const [{ targets, labels }] = store.endpoints('www.example.test')
    expect(targets).toEqual(['192.0.2.1', '192.0.2.2'])
    expect(labels).toMatchObject({ '192.0.2.1': '', '192.0.2.2': 'a.b' })
    expect(store.endpoints('below.www.example.test')).toHaveLength(1)
  })

  test('that say the same are one target', () => {
    const store = new MemoryStore({
      [`${WWW}/aa`]: { host: 'Other.Test.', targetstrip: 1 },
      [`${WWW}/bb`]: { host: 'other.test', targetstrip: 1 },
    })
    expect(store.endpoints('www.example.test')).toMatchObject([{ recordType: 'CNAME', targets: ['other.test'] }])
  })

  test('are found whatever the letter case of their keys', () => {
    const store = new MemoryStore({ '/skydns/test/Example/WWW/aa': { host: '192.0.2.1', targetstrip: 1 } })
    expect(store.endpoints('www.example.test')).toMatchObject([{ dnsName: 'WWW.Example.test' }])
  })
})

test('texts are one endpoint, but each note of ownership is one of its own', () => {
  const note = (owner: string) => `"heritage=external-dns,external-dns/owner=${owner}"`
  const store = new MemoryStore({
    [`${WWW}/aa`]: { text: 'one', targetstrip: 1, ttl: 30 },
    [`${WWW}/bb`]: { text: note('a'), targetstrip: 1 },
    [`${WWW}/cc`]: { text: 'two', targetstrip: 1 },
    [`${WWW}/dd`]: { text: 'one', targetstrip: 1 },
    [`${WWW}/ee`]: { text: note('b'), targetstrip: 1 },
  })
  expect(store.endpoints('www.example.test').map(({ targets, recordTTL }) => [targets, recordTTL])).toEqual([
    [[note('a')], undefined],
    [[note('b')], undefined],
    [['one', 'two'], 30],
  ])
})

test('what belongs to another owner is not told, and the owner of what is told is a label', () => {
  const values = {
    [`${WWW}/aa`]: { host: '192.0.2.1', targetstrip: 1, owner: 'me' },
    [`${WWW}/bb`]: { host: '192.0.2.2', targetstrip: 1, owner: 'you' },
    [`${WWW}/cc`]: { host: '192.0.2.3', targetstrip: 1 },
  }
  expect(new MemoryStore(values, 'me').endpoints('www.example.test')).toMatchObject([
    { targets: ['192.0.2.1'], labels: { owner: 'me' } },
  ])
  const [all] = new MemoryStore(values).endpoints('www.example.test')
  expect(all.targets).toHaveLength(3)
  expect(all.labels).not.toHaveProperty('owner')
})

test('a key or value that is no entry is left out', () => {
  const store = new MemoryStore({
    [`${WWW}/aa`]: 'not JSON',
    [`${WWW}/bb`]: { host: '192.0.2.1', targetstrip: 9 },
    [`${WWW}/cc`]: { host: '192.0.2.1', targetstrip: -1 },
    [`${WWW}//dd`]: { host: '192.0.2.1' },
    [`${WWW}/ee`]: { host: '192.0.2.5', targetstrip: 1 },
  })
  expect(store.endpoints('www.example.test')).toMatchObject([{ targets: ['192.0.2.5'] }])
})
