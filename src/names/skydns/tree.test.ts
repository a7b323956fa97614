import { describe, expect, it } from 'vitest'
import { parseName } from '../../dns/name.ts'
import { TYPE } from '../../dns/types.ts'
import { flushed, put, remove, treeOf } from './testing.ts'
import type { SkydnsTree, SkydnsTreeOptions } from './tree.ts'

describe('keys and zones', () => {
  it('keys outside the zones and outside the prefix cost nothing', () => {
    const tree = treeOf({})
    expect(put(tree, '/skydns/com/example/www', 'not even JSON')).toBeUndefined()
    expect(put(tree, '/other/org/example/www', { host: '192.0.2.1' })).toBeUndefined()
    expect(put(tree, '/skydnsx/org/example/www', { host: '192.0.2.1' })).toBeUndefined()
    expect(put(tree, '/skydns/org/examples/www', { host: '192.0.2.1' })).toBeUndefined()
    expect([tree.size, flushed(tree), tree.problems().size]).toEqual([0, {}, 0])
  })

  it.each(['skydns', '/skydns', '/skydns/'])('the path may be written %s', (path) => {
    const tree = treeOf({ '/skydns/org/example/www': { host: '192.0.2.1' } }, { path })
    expect(tree.size).toBe(1)
  })

  it('the path may be empty, and the zone the root', () => {
    const tree = treeOf({ '/www': { host: '192.0.2.1' } }, { path: '/', zones: ['.'] })
    expect(Object.keys(flushed(tree))).toEqual(['. www.', '. .'])
  })

  it('letter case makes no difference', () => {
    const tree = treeOf({
      '/skydns/org/Example/WWW': { host: '192.0.2.1', port: -1 },
      '/skydns/org/example/www': { host: '192.0.2.2', port: -1 },
    })
    expect(flushed(tree)['example.org. www.example.org.']).toEqual(['300 A 192.0.2.1', '300 A 192.0.2.2'])
    remove(tree, '/skydns/org/Example/WWW')
    expect(flushed(tree)['example.org. www.example.org.']).toEqual(['300 A 192.0.2.2'])
  })

  it('zones inside zones have their names, and answer for the outer ones as well', () => {
    const tree = treeOf(
      {
        '/skydns/org/example/sub/dns/ns/a': { host: '192.0.2.1', port: -1 },
        '/skydns/org/example/sub/dns/apex': { host: '192.0.2.2', port: -1 },
      },
      { zones: ['example.org.', 'sub.example.org.', 'example.net.'] },
    )
    const names = flushed(tree)
    expect(Object.keys(names).filter((name) => name.startsWith('example.org.'))).toEqual(['example.org. example.org.'])
    expect(names['example.org. example.org.']).toEqual(['300 A 192.0.2.2', '300 A 192.0.2.1'])
    expect(names['sub.example.org. sub.example.org.']).toEqual(['300 A 192.0.2.2', '300 NS a.ns.dns.sub.example.org.'])
  })
})

describe('problems', () => {
  it('a key that is no name is one line, until it is deleted', () => {
    const tree = treeOf({})
    const problem = put(tree, '/skydns/org/example//www', { host: '192.0.2.1' })
    expect(problem).toBe(
      'Cannot use "/skydns/org/example//www": it has an empty label; expected one slash between two labels, and none at the end',
    )
    expect([...tree.problems()]).toEqual([['/skydns/org/example//www', problem]])
    remove(tree, '/skydns/org/example//www')
    expect(tree.problems().size).toBe(0)
  })

  it('a broken value harms only its key, which keeps its last good value', () => {
    const tree = treeOf({
      '/skydns/org/example/a': { host: '192.0.2.1' },
      '/skydns/org/example/b': { host: '192.0.2.2' },
    })
    const before = flushed(tree)
    expect(put(tree, '/skydns/org/example/a', '{"host":')).toMatch(
      /^Cannot use "\/skydns\/org\/example\/a": its value is not JSON \(.*\); expected an object such as .*$/u,
    )
    expect(flushed(tree)).toEqual({})
    expect(flushed(treeFrom(tree))).toEqual(before)
    expect([tree.size, tree.problems().size]).toEqual([2, 1])
    put(tree, '/skydns/org/example/a', { host: '192.0.2.3', port: -1 })
    expect(flushed(tree)['example.org. a.example.org.']).toEqual(['300 A 192.0.2.3'])
    expect(tree.problems().size).toBe(0)
  })

  it('a key in other than ASCII is named as it is written', () => {
    const tree = treeOf({})
    put(tree, '/skydns/org/example/ä\n', '')
    expect([...tree.problems()]).toMatchObject([['/skydns/org/example/ä\n', expect.stringContaining('example/ä\\n"')]])
  })
})

describe('flush', () => {
  it('lists the names at and above what changed, each once, and nothing twice', () => {
    const tree = treeOf({
      '/skydns/org/example/x/a': { host: '192.0.2.1' },
      '/skydns/org/example/y': { host: 'a.test' },
    })
    flushed(tree)
    put(tree, '/skydns/org/example/x/a', { host: '192.0.2.1', ttl: 5 })
    put(tree, '/skydns/org/example/x/b', { host: '192.0.2.2' })
    expect([...tree.flush()]).toHaveLength(4)
    expect([...tree.flush()]).toEqual([])
  })

  it('is silent about a value that is put again', () => {
    const tree = treeOf({ '/skydns/org/example/x': { host: '192.0.2.1' } })
    flushed(tree)
    put(tree, '/skydns/org/example/x', { ttl: 0, host: '192.0.2.1' })
    expect([...tree.flush()]).toEqual([])
  })

  it('tells that a name has gone', () => {
    const tree = treeOf({ '/skydns/org/example/x': { host: '192.0.2.1' } })
    flushed(tree)
    remove(tree, '/skydns/org/example/x')
    remove(tree, '/skydns/org/example/never')
    expect(flushed(tree)).toEqual({ 'example.org. x.example.org.': [], 'example.org. example.org.': [] })
    expect(tree.size).toBe(0)
  })
})

describe('compatible mode', () => {
  it('an alias gives way to addresses, and is one', () => {
    const tree = treeOf({
      '/skydns/org/example/x/a': { host: 'x.example.org', port: -1 },
      '/skydns/org/example/x/b': { host: 'below.x.example.org', port: -1 },
      '/skydns/org/example/x/c': { host: 'One.test', port: -1 },
      '/skydns/org/example/x/d': { host: 'two.test', port: -1, ttl: 60 },
    })
    expect(flushed(tree)['example.org. x.example.org.']).toEqual(['300 CNAME One.test.'])
    put(tree, '/skydns/org/example/x/e', { host: '2001:db8::1', port: -1 })
    expect(flushed(tree)['example.org. x.example.org.']).toEqual(['300 AAAA 2001:db8::1'])
  })

  it('a text hides the name beside it and is hidden by an address', () => {
    const tree = treeOf({
      '/skydns/org/example/x': { host: 'a.test', text: 'x' },
      '/skydns/org/example/y': { host: '192.0.2.1', text: 'y', port: -1 },
    })
    const names = flushed(tree)
    expect(names['example.org. x.example.org.']).toEqual(['300 TXT "x"', '300 PTR a.test.'])
    expect(names['example.org. y.example.org.']).toEqual(['300 A 192.0.2.1'])
  })

  it('several addresses of one name at one port are one server', () => {
    const tree = treeOf({
      '/skydns/org/example/x/a': { host: '192.0.2.1', port: 80, targetstrip: 1, weight: 50 },
      '/skydns/org/example/x/b': { host: '192.0.2.2', port: 80, targetstrip: 1, weight: 150 },
      '/skydns/org/example/x/c': { host: '192.0.2.3', port: 81, targetstrip: 1, weight: 200 },
    })
    expect(flushed(tree)['example.org. x.example.org.'].slice(3)).toEqual([
      '300 SRV 10 12 80 x.example.org.',
      '300 SRV 10 50 81 x.example.org.',
    ])
  })

  it('a set has the smallest TTL and the earliest end of a lease', () => {
    const tree = treeOf({ '/skydns/org/example/x/a': { host: '192.0.2.1', ttl: 60 } })
    put(tree, '/skydns/org/example/x/b', { host: '192.0.2.2' }, 2000)
    put(tree, '/skydns/org/example/x/c', { host: '192.0.2.3', ttl: 50 }, 1000)
    const addresses = tree
      .recordsOf('example.org.', parseName('x.example.org.'))
      .filter(({ type }) => type === TYPE.A)
      .map(({ ttl, expiresAt }) => `${ttl} ${expiresAt}`)
    expect(addresses).toEqual(['50 1000', '50 1000', '50 1000'])
  })

  it('a lease without a TTL may last for the longest TTL of a lease', () => {
    const tree = treeOf({}, { maxLeaseTtlSeconds: 3600 })
    put(tree, '/skydns/org/example/x', { host: '192.0.2.1' }, 9_999_999)
    put(tree, '/skydns/org/example/y', { host: '192.0.2.1', ttl: 7200 }, 9_999_999)
    for (const { records } of tree.flush()) expect(records.every(({ ttl }) => ttl === 3600)).toBe(true)
  })

  it('names that questions search with are not served', () => {
    const tree = treeOf({
      '/skydns/org/example/*/a': { host: '192.0.2.1' },
      '/skydns/org/example/any': { host: 'a.test' },
    })
    expect(Object.keys(flushed(tree))).toEqual(['example.org. example.org.'])
    expect([...tree.owners('example.org.')].map((owner) => owner.length)).toEqual([13])
  })

  it('the names of the zone come from dns/ns, a name among them included', () => {
    const tree = treeOf({
      '/skydns/org/example/dns/ns/a': { host: '192.0.2.1', port: -1 },
      '/skydns/org/example/dns/ns/b': { host: 'ns.test', port: -1 },
    })
    expect(flushed(tree)['example.org. example.org.']).toEqual([
      '300 A 192.0.2.1',
      '300 NS a.ns.dns.example.org.',
      '300 NS ns.test.',
    ])
  })

  it('what stands at dns/apex hides the rest from questions for addresses, even if it has none', () => {
    const tree = treeOf({
      '/skydns/org/example/dns/apex': { text: 'apex', port: -1 },
      '/skydns/org/example/x': { host: '192.0.2.1', port: -1 },
    })
    expect(flushed(tree)['example.org. example.org.']).toEqual(['300 TXT "apex"'])
    remove(tree, '/skydns/org/example/dns/apex')
    expect(flushed(tree)['example.org. example.org.']).toEqual(['300 A 192.0.2.1'])
  })
})

describe('a name above very many keys', () => {
  const key = (i: number) => `/skydns/org/example/x/${String(i).padStart(5, '0')}`
  const value = (i: number) => ({ host: `10.0.${i >> 8}.${i & 255}`, port: -1 })
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [key(2 * i), value(i)]))

  it('answers with the first 1024, and what changes behind them makes no difference', () => {
    const tree = treeOf(many(3000))
    expect(flushed(tree)['example.org. x.example.org.']).toHaveLength(1024)
    put(tree, key(4001), value(5000))
    remove(tree, key(5000))
    expect(Object.keys(flushed(tree))).toEqual([
      'example.org. 04001.x.example.org.',
      'example.org. 05000.x.example.org.',
    ])
    remove(tree, key(0))
    const addresses = flushed(tree)['example.org. x.example.org.']
    expect([addresses.length, addresses[0], addresses.at(-1)]).toEqual([1024, '300 A 10.0.0.1', '300 A 10.0.4.0'])
    put(tree, key(1), value(9999))
    expect(flushed(tree)['example.org. x.example.org.'][0]).toBe('300 A 10.0.39.15')
  })

  it('hears of name servers behind them', () => {
    const tree = treeOf({})
    for (let i = 0; i < 2000; i++) put(tree, `/skydns/org/example/a${i}`, value(i))
    flushed(tree)
    put(tree, '/skydns/org/example/dns/ns/a', { host: '192.0.2.1', port: -1 })
    expect(flushed(tree)['example.org. example.org.']).toContain('300 NS a.ns.dns.example.org.')
  })

  it('has no set that would not fit into a message', () => {
    const tree = treeOf({})
    for (let i = 0; i < 100; i++) put(tree, key(i), { text: `${i}`.padStart(1000, '.') })
    const records = tree.recordsOf('example.org.', parseName('x.example.org.'))
    expect(records).toHaveLength(63)
    expect(records.reduce((sum, { rdata }) => sum + 12 + rdata.length, 0)).toBeLessThanOrEqual(65_000)
  })
})

describe('asked for single names', () => {
  it('the tree has all names of a zone and the records of each', () => {
    const values = {
      '/skydns/org/example/x-1': { host: '192.0.2.1' },
      '/skydns/org/example/x/a/b': { host: '192.0.2.2' },
      '/skydns/org/example/sub/c': { host: 'a.test' },
    }
    const options = { zones: ['example.org.', 'sub.example.org.'] }
    for (const mode of ['compatible', 'exact'] as const) {
      const tree = treeOf(values, { ...options, mode })
      const names = flushed(tree)
      for (const [name, records] of Object.entries(flushed(treeFrom(tree, options.zones))))
        expect(records).toEqual(names[name] ?? [])
    }
    const compatible = treeOf(values, options)
    expect([...compatible.owners('example.org.')]).toHaveLength(5)
    expect([...compatible.owners('other.test.')]).toEqual([])
    expect(compatible.recordsOf('example.org.', parseName('c.sub.example.org.'))).toEqual([])
    expect(compatible.recordsOf('other.test.', parseName('other.test.'))).toEqual([])
  })
})

/** The same names as if they were all new. */
function treeFrom(tree: SkydnsTree, zones: SkydnsTreeOptions['zones'] = ['example.org.']): Pick<SkydnsTree, 'flush'> {
  return {
    flush: () =>
      zones.flatMap((origin) =>
        Array.from(tree.owners(origin), (owner) => ({ origin, owner, records: tree.recordsOf(origin, owner) })),
      ),
  }
}
