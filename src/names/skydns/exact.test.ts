import { describe, expect, it } from 'vitest'
import { parseName } from '../../dns/name.ts'
import { TYPE } from '../../dns/types.ts'
import { flushed, put, remove, treeOf } from './testing.ts'

const exact = (values: Readonly<Record<string, object>>, zones = ['example.org.']) =>
  treeOf(values, { mode: 'exact', zones })

describe('exact mode', () => {
  it('gives each service to the one name its key spells without targetstrip', () => {
    const tree = exact({
      '/skydns/org/example/www/1a2b3c4d': { host: '192.0.2.1', targetstrip: 1 },
      '/skydns/org/example/www/5e6f7a8b': { host: '192.0.2.2', targetstrip: 1, ttl: 60 },
      '/skydns/org/example/www/sub': { host: '192.0.2.3' },
    })
    expect(flushed(tree)).toEqual({
      'example.org. www.example.org.': ['60 A 192.0.2.1', '60 A 192.0.2.2'],
      'example.org. sub.www.example.org.': ['300 A 192.0.2.3'],
    })
  })

  it('a parent is not hidden by its children, groups do not matter, and a star is a wildcard', () => {
    const tree = exact({
      '/skydns/org/example/x': { host: '192.0.2.1', group: 'a' },
      '/skydns/org/example/x/y': { host: '192.0.2.2', group: 'b' },
      '/skydns/org/example/*/1a2b3c4d': { host: '192.0.2.3', targetstrip: 1 },
    })
    expect(flushed(tree)).toEqual({
      'example.org. x.example.org.': ['300 A 192.0.2.1'],
      'example.org. y.x.example.org.': ['300 A 192.0.2.2'],
      'example.org. *.example.org.': ['300 A 192.0.2.3'],
    })
    expect(tree.search('example.org.', parseName('*.example.org.'), TYPE.A)).toMatchObject({
      found: false,
      records: [],
    })
  })

  it('makes SRV and MX of what has a port or is mail', () => {
    const tree = exact({
      '/skydns/org/example/x/a': { host: '192.0.2.1', port: 80, targetstrip: 1 },
      '/skydns/org/example/x/b': { host: 'b.test', port: 81, weight: 300, targetstrip: 1 },
      '/skydns/org/example/m/a': { host: 'mx.test', mail: true, priority: 5, record: 'MX' },
      '/skydns/org/example/m/b': { host: '192.0.2.2', mail: true, targetstrip: 1 },
    })
    expect(flushed(tree)).toEqual({
      'example.org. x.example.org.': ['300 A 192.0.2.1', '300 SRV 10 25 80 x.example.org.', '300 SRV 10 75 81 b.test.'],
      'example.org. m.example.org.': ['300 A 192.0.2.2', '300 MX 5 mx.test.', '300 MX 10 m.example.org.'],
    })
    expect(tree.problems().size).toBe(0)
  })

  it('makes PTR of names in reverse zones', () => {
    const zones = ['2.0.192.in-addr.arpa.', '8.b.d.0.1.0.0.2.ip6.arpa.']
    const tree = exact(
      {
        '/skydns/arpa/in-addr/192/0/2/1': { host: 'a.test', text: 'note' },
        '/skydns/arpa/ip6/2/0/0/1/0/d/b/8/1': { host: 'b.test' },
      },
      zones,
    )
    expect(flushed(tree)).toEqual({
      '2.0.192.in-addr.arpa. 1.2.0.192.in-addr.arpa.': ['300 PTR a.test.', '300 TXT "note"'],
      '8.b.d.0.1.0.0.2.ip6.arpa. 1.8.b.d.0.1.0.0.2.ip6.arpa.': ['300 PTR b.test.'],
    })
  })

  it('serves the zone itself from its own key, dns/apex and dns/ns', () => {
    const tree = exact({
      '/skydns/org/example': { host: '192.0.2.1' },
      '/skydns/org/example/dns/apex/a': { host: '192.0.2.2' },
      '/skydns/org/example/dns/ns/a': { host: '192.0.2.3' },
    })
    expect(flushed(tree)['example.org. example.org.']).toEqual([
      '300 A 192.0.2.1',
      '300 A 192.0.2.2',
      '300 NS a.ns.dns.example.org.',
    ])
    remove(tree, '/skydns/org/example/dns/ns/a')
    expect(flushed(tree)).toEqual({
      'example.org. example.org.': ['300 A 192.0.2.1', '300 A 192.0.2.2'],
      'example.org. a.ns.dns.example.org.': [],
    })
  })

  it('follows a key whose targetstrip changes to its new name', () => {
    const tree = exact({ '/skydns/org/example/x/a': { host: '192.0.2.1' } })
    flushed(tree)
    put(tree, '/skydns/org/example/x/a', { host: '192.0.2.1', targetstrip: 1 })
    expect(flushed(tree)).toEqual({
      'example.org. a.x.example.org.': [],
      'example.org. x.example.org.': ['300 A 192.0.2.1'],
    })
    expect(put(tree, '/skydns/org/example/x/a', { host: '192.0.2.1', targetstrip: 3 })).toContain(
      '"targetstrip" 3 leads out of the zone',
    )
    expect(flushed(tree)).toEqual({})
  })
})

describe('an alias in exact mode', () => {
  const A = '/skydns/org/example/x/a'
  const B = '/skydns/org/example/x/b'
  const alias = { host: 'One.test', targetstrip: 1 }
  const records = (tree: ReturnType<typeof exact>) => flushed(tree)['example.org. x.example.org.']

  it('wins over the text of its own key, which ExternalDNS keeps there as a note', () => {
    const tree = exact({ [A]: { ...alias, text: '"heritage=external-dns"' } })
    expect(records(tree)).toEqual(['300 CNAME One.test.'])
    expect(tree.problems().size).toBe(0)
  })

  it('leaves out the text of another key, and says so', () => {
    const tree = exact({ [A]: alias, [B]: { text: 'x', targetstrip: 1 } })
    expect(records(tree)).toEqual(['300 CNAME One.test.'])
    expect([...tree.problems().values()]).toEqual([
      `Cannot use "${B}": its text stands beside an alias, which must stand alone; expected a name of its own`,
    ])
    remove(tree, A)
    expect(records(tree)).toEqual(['300 TXT "x"'])
    expect(tree.problems().size).toBe(0)
  })

  it('gives way to addresses, which may have a text, and says so', () => {
    const tree = exact({ [A]: alias, [B]: { host: '192.0.2.1', text: 'x', targetstrip: 1 } })
    expect(records(tree)).toEqual(['300 A 192.0.2.1', '300 TXT "x"'])
    expect([...tree.problems().keys()]).toEqual([A])
    remove(tree, B)
    expect(records(tree)).toEqual(['300 CNAME One.test.'])
    expect(tree.problems().size).toBe(0)
  })

  it('is the first of several, and not the name itself', () => {
    const tree = exact({
      [A]: { host: 'X.example.org', targetstrip: 1 },
      [B]: alias,
      '/skydns/org/example/x/c': { host: 'two.test', targetstrip: 1 },
      '/skydns/org/example/x/d': alias,
    })
    expect(records(tree)).toEqual(['300 CNAME One.test.'])
    expect([...tree.problems().keys()]).toEqual([A, '/skydns/org/example/x/c'])
  })

  it('cannot stand at the zone itself', () => {
    const tree = exact({ '/skydns/org/example/dns/apex': { host: 'a.test' } })
    expect(flushed(tree)).toEqual({
      'example.org. apex.dns.example.org.': ['300 CNAME a.test.'],
      'example.org. example.org.': [],
    })
    expect([...tree.problems().keys()]).toEqual(['/skydns/org/example/dns/apex'])
  })
})
