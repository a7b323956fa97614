import { describe, expect, it, vi } from 'vitest'
import { parseName } from '../dns/name.ts'
import { textSource } from '../dns/zonefile/format.ts'
import { parseZoneFile } from '../dns/zonefile/parse.ts'
import { ZoneBuilder } from './build.ts'
import { checkZone } from './check.ts'
import type { CheckOptions } from './check.ts'

const APEX = '$TTL 1h\n@ SOA ns hostmaster 5 2h 30m 2w 5m\n@ NS ns.elsewhere.\n'

function findings(text: string, options: CheckOptions = {}, included: Record<string, string> = {}): string[] {
  const zone = new ZoneBuilder(parseName('example.'))
  const openInclude = (path: string) => textSource(included[path], path)
  const problems = parseZoneFile(textSource(text), { file: 'db.example', origin: zone.origin, openInclude }, zone)
  expect(problems).toEqual([])
  return checkZone(zone, options).map(
    ({ severity, file, line, message }) => `${severity} ${file ?? '-'}:${line} ${message.split(';')[0]}`,
  )
}

describe('a zone is checked as a whole', () => {
  it('accepts one SOA and an NS at the apex', () => {
    expect(findings(APEX)).toEqual([])
  })

  it('wants exactly one SOA, and only at the apex', () => {
    expect(findings('@ 1 NS ns.elsewhere.\n')).toEqual(['error -:0 no SOA record at example.'])
    expect(findings(`${APEX}@ SOA ns hostmaster 6 2h 30m 2w 5m\n`)).toEqual([
      'error db.example:2 2 SOA records at example.',
    ])
    expect(findings(`${APEX}a SOA ns hostmaster 6 2h 30m 2w 5m\n`)).toEqual(['error db.example:4 SOA at a.example.'])
  })

  it('wants NS at the apex, unless told that a warning is enough', () => {
    const text = '@ 1 SOA ns hostmaster 5 2h 30m 2w 5m\n'
    expect(findings(text)).toEqual(['error -:0 no NS record at example.'])
    expect(findings(text, { requireNs: false })).toEqual(['warning -:0 no NS record at example.'])
  })

  it('lets a CNAME stand alone, and names the file of the clash', () => {
    expect(findings(`${APEX}a CNAME b.elsewhere.\na A 192.0.2.1\n`)).toEqual([
      'error db.example:5 CNAME and A at a.example.',
    ])
    const clash = findings(
      `${APEX}a CNAME b.elsewhere.\n$INCLUDE part\nz A 192.0.2.2\n`,
      {},
      { part: '\na A 192.0.2.1\n' },
    )
    expect(clash).toEqual(['error part:2 CNAME and A at a.example.'])
  })

  it('takes records that differ only in the case of a name as one', () => {
    expect(findings(`${APEX}a CNAME b.elsewhere.\na CNAME B.elsewhere.\n`)).toEqual([])
    expect(findings(`${APEX}a CNAME b.elsewhere.\na CNAME c.elsewhere.\n`)).toEqual([
      'error db.example:4 2 CNAME records at a.example.',
    ])
  })

  it('notices a serial that went backwards, also around zero', () => {
    const older = 'warning db.example:2 serial 5 is older than'
    expect(findings(APEX, { previousSerial: 6 })).toEqual([`${older} 6, which is in service`])
    expect(findings(APEX, { previousSerial: 5 })).toEqual([])
    expect(findings(APEX, { previousSerial: 0xffff_fff0 })).toEqual([])
  })

  it('warns of a name server without an address and of one that is an alias', () => {
    const text = `${APEX}sub NS ns.sub\nother NS alias\nalias CNAME b.elsewhere.\n`
    expect(findings(text)).toEqual([
      'warning db.example:4 NS of sub.example. points at ns.sub.example., which has no A or AAAA record in the zone',
      'warning db.example:5 NS of other.example. points at alias.example., which is a CNAME (RFC 2181 section 10.3)',
    ])
  })

  it('warns of a set that no message can hold', () => {
    const large = (bytes: number) => `${APEX}big TYPE65280 \\# ${bytes} ${'00'.repeat(bytes)}\n`
    const warning = 'warning db.example:4 1 TYPE65280 records at big.example. do not fit into a DNS message'
    expect(findings(large(65_530))).toEqual([warning])
    // The header, the question and the record around it take 41 bytes.
    expect(findings(large(65_535 - 41 + 1))).toEqual([warning])
    expect(findings(large(65_535 - 41))).toEqual([])
    const many = Array.from({ length: 5000 }, (_, i) => `many A 10.0.${i >> 8}.${i & 255}\n`).join('')
    expect(findings(APEX + many)).toEqual([
      'warning db.example:4 5000 A records at many.example. do not fit into a DNS message',
    ])
  })

  it('refuses DS at the apex', () => {
    const ds = 'DS 4711 13 2 49FD46E6C4B45C55D4AC69CBD3CD34AC1AFE51DE8C5F5A4E4F3A0D7B3A7A3F33'
    expect(findings(`${APEX}@ ${ds}\n`)).toEqual(['error db.example:4 DS at the apex example.'])
    expect(findings(`${APEX}sub NS ns.elsewhere.\nsub ${ds}\n`)).toEqual([])
  })

  it('refuses NSEC3 where no NSEC3PARAM can be used', () => {
    const record = 'NSEC3 1 0 0 - 2vptu5timamqttgl4luu9kg21e0aor3s A'
    expect(findings(`${APEX}@ ${record}\n@ NSEC3PARAM 1 0 0 -\n`)).toEqual(['error db.example:4 NSEC3 at example.'])
    expect(findings(`${APEX}@ NSEC3PARAM 1 0 151 -\n`)).toEqual(['error db.example:4 NSEC3PARAM with 151 iterations'])
    expect(findings(`${APEX}@ NSEC3PARAM 6 0 0 -\n`)).toEqual(['error db.example:4 NSEC3PARAM with hash algorithm 6'])
    expect(findings(`${APEX}@ NSEC3PARAM 6 0 0 -\n@ NSEC3PARAM 1 0 151 -\n@ NSEC3PARAM 1 0 0 -\n`)).toEqual([])
  })

  it('accepts NSEC3 without NSEC3PARAM, as on the way from NSEC to NSEC3', () => {
    const record = '0p9mhaveqvm6t7vbl5lop2u3t2rp3tom NSEC3 1 0 0 - 2vptu5timamqttgl4luu9kg21e0aor3s A'
    const warning = 'warning db.example:4 NSEC3 records, but no NSEC3PARAM with flags 0 at example.'
    expect(findings(`${APEX}${record}\n`)).toEqual([warning])
    expect(findings(`${APEX}${record}\n@ NSEC3PARAM 1 1 0 -\n`)).toEqual([warning])
    expect(findings(`${APEX}${record}\n@ NSEC example. SOA NS NSEC\n`)).toEqual([])
  })
})

describe('records that point at a name with many records', () => {
  it('do not look through them each time', () => {
    const zone = new ZoneBuilder(parseName('example.'))
    const lines = (count: number, line: (i: number) => string) =>
      Array.from({ length: count }, (_, i) => line(i)).join('')
    const host = lines(500, (i) => `big TXT ${i}\n`)
    const text = `${APEX}${host}${lines(500, (i) => `m${i} MX 1 big\n`)}${lines(500, (i) => `d${i} NS big\n`)}`
    expect(parseZoneFile(textSource(text), { file: 'db', origin: zone.origin }, zone)).toEqual([])
    const find = vi.spyOn(zone, 'findRecord')
    expect(checkZone(zone)).toHaveLength(500)
    expect(find.mock.calls.length).toBeLessThan(100)
  })
})

describe('NSEC3 records at a name with many records', () => {
  it('are looked at once', () => {
    const zone = new ZoneBuilder(parseName('example.'))
    const hash = '0p9mhaveqvm6t7vbl5lop2u3t2rp3tom'
    const records = Array.from({ length: 300 }, (_, i) => `${hash} NSEC3 1 0 ${i} - ${hash} A\n`).join('')
    const text = `${APEX}@ NSEC3PARAM 1 0 0 -\n${records}`
    expect(parseZoneFile(textSource(text), { file: 'db', origin: zone.origin }, zone)).toEqual([])
    const find = vi.spyOn(zone, 'findRecord')
    checkZone(zone)
    expect(find.mock.calls.length).toBeLessThan(100)
  })
})
