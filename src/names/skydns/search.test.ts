import { describe, expect, it } from 'vitest'
import { formatName, parseName } from '../../dns/name.ts'
import { formatRdata } from '../../dns/rdata/rdata.ts'
import { typeName, typeNumber } from '../../dns/types.ts'
import { put, treeOf } from './testing.ts'

const tree = treeOf({
  '/skydns/org/example/east/web/a': { host: '192.0.2.1' },
  '/skydns/org/example/east/web/b': { host: 'web.west.example.org', port: 80 },
  '/skydns/org/example/west/web': { host: '192.0.2.2', targetstrip: 1 },
  '/skydns/org/example/west/db': { host: 'db.test' },
  '/skydns/org/example/west/note': { text: 'x' },
  '/skydns/org/example/alias/m': { host: 'far.example.org', mail: true },
  '/skydns/org/example/far': { host: 'near.example.org' },
  '/skydns/org/example/near': { host: '2001:db8::1' },
})

function search(name: string, type: string) {
  const { found, records, additional } = tree.search('example.org.', parseName(name), typeNumber(type) ?? 0)
  return {
    found,
    records: records.map((record) => `${typeName(record.type)} ${formatRdata(record.type, record.rdata)}`),
    additional: additional.map(
      ({ owner, record }) => `${formatName(owner)} ${typeName(record.type)} ${formatRdata(record.type, record.rdata)}`,
    ),
  }
}

describe('a search', () => {
  it.each(['web.*.example.org.', 'web.ANY.example.org.'])('for %s finds what matches and all below', (name) => {
    expect(search(name, 'A')).toEqual({ found: true, records: ['A 192.0.2.1', 'A 192.0.2.2'], additional: [] })
  })

  it('compares whole labels, and the rest of the name too', () => {
    expect(search('we.*.example.org.', 'A')).toEqual({ found: true, records: [], additional: [] })
    expect(search('*.east.example.org.', 'A').records).toEqual(['A 192.0.2.1'])
    expect(search('*.*.*.example.org.', 'A').records).toEqual(['A 192.0.2.1'])
  })

  it('finds nothing below names that are not there', () => {
    expect(search('*.north.example.org.', 'A')).toEqual({ found: false, records: [], additional: [] })
    expect(search('*.a/b.example.org.', 'A').found).toBe(false)
    expect(tree.search('other.test.', parseName('*.other.test.'), 1).found).toBe(false)
  })

  it('gives an alias where it finds no addresses, to be followed', () => {
    expect(search('db.*.example.org.', 'AAAA').records).toEqual(['CNAME db.test.'])
    expect(search('db.*.example.org.', 'MX').records).toEqual([])
    expect(search('note.*.example.org.', 'A').records).toEqual([])
    expect(search('note.*.example.org.', 'TXT').records).toEqual(['TXT "x"'])
  })

  it('adds the addresses of targets in the zone, once', () => {
    expect(search('web.*.example.org.', 'SRV')).toEqual({
      found: true,
      records: [
        'SRV 10 33 0 a.web.east.example.org.',
        'SRV 10 33 80 web.west.example.org.',
        'SRV 10 33 0 west.example.org.',
      ],
      additional: [
        'a.web.east.example.org. A 192.0.2.1',
        'web.west.example.org. A 192.0.2.2',
        'west.example.org. A 192.0.2.2',
      ],
    })
    expect(search('*.alias.example.org.', 'MX')).toEqual({
      found: true,
      records: ['MX 10 far.example.org.'],
      additional: ['far.example.org. CNAME near.example.org.', 'near.example.org. AAAA 2001:db8::1'],
    })
  })

  it('takes what would be special in a pattern as it is', () => {
    const odd = treeOf({ '/skydns/org/example/a+b/x': { host: '192.0.2.1' } })
    put(odd, '/skydns/org/example/aab/x', { host: '192.0.2.2' })
    const { records } = odd.search('example.org.', parseName('*.a+b.example.org.'), 1)
    expect(records.map(({ rdata }) => rdata[3])).toEqual([1])
  })
})
