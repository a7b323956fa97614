import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatName, parseName } from '../dns/name.ts'
import { formatRecord, textSource } from '../dns/zonefile/format.ts'
import { parseZoneFile } from '../dns/zonefile/parse.ts'
import type { ZoneFileProblem } from '../dns/zonefile/problem.ts'
import { ZoneBuilder } from '../zone/build.ts'
import { checkZone } from '../zone/check.ts'
import { ZoneText } from './zone-text.ts'

const ORIGIN = parseName('example.')
const OPTIONS = { label: 'zones/example', previousSerial: 7 }
const HEAD = '$TTL 1h\n@ SOA ns.elsewhere. hostmaster 7 2h 30m 2w 5m\n@ NS ns.elsewhere.\n'

function load(text: string): ZoneText {
  const { text: loaded, problems } = ZoneText.load(Buffer.from(text), ORIGIN, OPTIONS)
  if (loaded === undefined) throw new Error(problems.map(({ line, message }) => `${line}: ${message}`).join('\n'))
  return loaded
}

/** Everything about the records: in order of the text, and by name in order of its chain. */
function dump(zone: ZoneBuilder) {
  const lineOf = (r: number) => {
    const owner = zone.name(zone.recordName[r])
    return `${zone.recordLine[r]}: ${formatRecord(owner, zone.recordTtl[r], zone.recordType[r], zone.rdata(r))}`
  }
  const records = Array.from({ length: zone.recordCount }, (_, r) => lineOf(r))
  const names = new Map<string, string[]>()
  for (let name = 0; name < zone.nameCount; name++) {
    const chain: number[] = []
    for (let r = zone.firstRecord[name]; r >= 0; r = zone.nextRecord[r]) chain.push(r)
    expect(zone.lastRecord[name]).toBe(chain.at(-1) ?? -1)
    expect(zone.findName(zone.name(name), 0, zone.nameLength[name])).toBe(name)
    if (chain.length > 0) names.set(formatName(zone.name(name)), chain.map(lineOf))
  }
  return { records, names: new Map([...names].sort(([a], [b]) => (a < b ? -1 : 1))) }
}

function loadAlone(text: Uint8Array): { zone: ZoneBuilder; problems: readonly ZoneFileProblem[] } {
  const zone = new ZoneBuilder(ORIGIN)
  const problems = parseZoneFile(textSource(text), { file: OPTIONS.label, origin: ORIGIN }, zone)
  if (problems.some(({ severity }) => severity === 'error')) return { zone, problems }
  const findings = checkZone(zone, OPTIONS).map((finding) => ({
    ...finding,
    file: OPTIONS.label,
    column: 0,
    token: '',
  }))
  return { zone, problems: [...problems, ...findings] }
}

/** Names whose records differ, whatever their lines. */
function differing(before: ZoneBuilder, after: ZoneBuilder): string[] {
  const plain = (zone: ZoneBuilder) => {
    const entries = [...dump(zone).names].map(([name, chain]): [string, string] => {
      const records = chain.map((record) => record.replace(/^\d+: \S+/u, ''))
      return [name.toLowerCase(), records.join('\n')]
    })
    return new Map(entries)
  }
  const [a, b] = [plain(before), plain(after)]
  return [...new Set([...a.keys(), ...b.keys()])].filter((name) => a.get(name) !== b.get(name)).sort()
}

function namesOf(text: ZoneText, touched: readonly number[] | undefined): string[] {
  return (touched ?? []).map((name) => formatName(text.builder.name(name)).toLowerCase()).sort()
}

// Texts -------------------------------------------------------------------------------------------------------------

const oneOf = <T>(...values: T[]) => fc.constantFrom(...values)
const owner = fc.oneof(
  { weight: 12, arbitrary: oneOf('a', 'b', 'c', 'a.b', '*.w', 'x.sub', 'd.example.', 'ns', 'longer-name') },
  { weight: 6, arbitrary: oneOf(' ', '\t', '   ') },
  { weight: 2, arbitrary: oneOf('@', 'example.', 'EXAMPLE.') },
  { weight: 1, arbitrary: oneOf('A', 'B.example.', 'a.B', '\\097') },
)
const ttl = fc.oneof(
  { weight: 8, arbitrary: oneOf('', '', '60 ', 'IN ') },
  { weight: 2, arbitrary: oneOf('1h ', '61 IN ', 'IN 62 ', '0 ') },
  { weight: 1, arbitrary: oneOf('4294967295 ', '2147483648 ') },
)
const data = fc.oneof(
  { weight: 8, arbitrary: fc.nat(5).map((n) => `A 192.0.2.${n}`) },
  { weight: 3, arbitrary: fc.nat(5).map((n) => `AAAA 2001:db8::${n}`) },
  {
    weight: 2,
    arbitrary: oneOf('TXT "a b" c', 'TXT "; no comment" ; comment', 'TXT "q\\"uote"', 'TXT ( "a"\n "b" ) ; c'),
  },
  {
    weight: 3,
    arbitrary: oneOf('MX 10 a', 'MX 10 A', 'MX ( 20 ; half\n\n b )', 'SRV 0 0 1 c', 'TYPE65280 \\# 2 abcd'),
  },
)
const clashing = fc.oneof(
  { weight: 4, arbitrary: oneOf('CNAME a', 'CNAME a.elsewhere.', 'DNAME elsewhere.', 'NS a', 'NS ns.sub', 'NS x.c') },
  { weight: 1, arbitrary: oneOf('SOA a b 1 2 3 4 5', 'NSEC3PARAM 1 0 0 -', 'NSEC a A', 'RRSIG A 8 1 60 1 0 7 @ AAAA') },
)
const broken = oneOf(
  'a A 192.0.2',
  'a BOGUS 1',
  ')',
  'a A ( 192.0.2.1',
  '"a',
  'a TXT "x',
  'a\0 A 192.0.2.1',
  '$FOO',
  '$TTL',
)
const directive = oneOf('$ORIGIN sub', '$ORIGIN example.', '$ORIGIN sub.example.', '$ORIGIN Sub', '$TTL 60', '$TTL 1h')
const generate = oneOf('$GENERATE 1-3 g$ A 192.0.2.$', '$GENERATE 1-2 g$ 5 A 192.0.2.$', '$GENERATE 1-2 a A 192.0.2.$')
const silent = oneOf('', '  ', '; comment', '\t; comment ( "', '\r', ';', '( )')
const unlikely = fc.oneof(
  { weight: 20, arbitrary: fc.tuple(owner, ttl, clashing).map(([owner, ttl, data]) => `${owner} ${ttl}${data}`) },
  { weight: 12, arbitrary: broken },
  { weight: 1, arbitrary: oneOf('$INCLUDE x', '$ORIGIN net.') },
)
const line = fc.oneof(
  { weight: 40, arbitrary: fc.tuple(owner, ttl, data).map(([owner, ttl, data]) => `${owner} ${ttl}${data}`) },
  { weight: 8, arbitrary: silent },
  { weight: 2, arbitrary: directive },
  { weight: 1, arbitrary: generate },
)
const anyLine = fc.oneof({ weight: 15, arbitrary: line }, { weight: 1, arbitrary: unlikely })
const head = fc.oneof(
  { weight: 6, arbitrary: fc.constant(HEAD) },
  { weight: 1, arbitrary: oneOf(HEAD.replace('$TTL 1h\n', ''), HEAD.replace('$TTL 1h\n@', '@ 5'), '@ 5 NS a\n', '') },
  { weight: 1, arbitrary: fc.constant(`\ufeff${HEAD}`) },
  { weight: 1, arbitrary: fc.constant(HEAD.replace('7 2h 30m 2w 5m', '(\n  7 ; serial\n  2h 30m\n 2w 5m )')) },
)
/** Enough text for equal stretches to be long. */
const filler = Array.from({ length: 300 }, (_, i) => `host-${(i * 7919) % 1009} 3600 IN A 198.51.100.${i % 250}`).join(
  '\n',
)
const text = fc
  .record({
    head,
    lines: fc.array(fc.oneof({ weight: 99, arbitrary: line }, { weight: 1, arbitrary: unlikely }), { maxLength: 30 }),
    filled: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(30) }),
    newline: oneOf('\n', '\n', '\r\n'),
    ended: fc.boolean(),
  })
  .map(({ head, lines, filled, newline, ended }) => {
    const all = filled === 0 ? lines : [...lines.slice(0, filled), filler, ...lines.slice(filled)]
    return (head + all.join('\n')).replaceAll('\n', newline) + (ended ? newline : '')
  })

// Edits -------------------------------------------------------------------------------------------------------------

type Edit = (text: Buffer) => Buffer

const fraction = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })
const lines = (text: Buffer) => text.toString('latin1').split(/(?<=\n)/u)
const joined = (lines: readonly string[]) => Buffer.from(lines.join(''), 'latin1')
const latin1 = (text: string) => Buffer.from(text).toString('latin1')

const edit: fc.Arbitrary<Edit> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.nat(9).map(
      (n): Edit =>
        (text) =>
          Buffer.from(text.toString('latin1').replace(/ [0-9]+( ; serial| 2h)/u, ` ${n}$1`), 'latin1'),
    ),
  },
  {
    weight: 8,
    arbitrary: fc.tuple(fraction, fc.nat(3), fc.array(anyLine, { maxLength: 3 })).map(
      ([at, removed, added]): Edit =>
        (text) => {
          const all = lines(text)
          all.splice(Math.floor(at * (all.length + 1)), removed, ...added.map((line) => latin1(`${line}\n`)))
          return joined(all)
        },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fraction, fraction, fc.nat(12)).map(
      ([from, to, count]): Edit =>
        (text) => {
          const all = lines(text)
          const block = all.splice(Math.floor(from * all.length), count)
          all.splice(Math.floor(to * all.length), 0, ...block)
          return joined(all)
        },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fraction, fc.nat(4), oneOf('', '1', 'x', ' ', '\n', '(', ')', '"', ';', '\\', '\r\n', '$')).map(
      ([at, removed, added]): Edit =>
        (text) => {
          const from = Math.floor(at * (text.length + 1))
          return Buffer.concat([text.subarray(0, from), Buffer.from(added), text.subarray(from + removed)])
        },
    ),
  },
)
const edits = fc.array(edit, { minLength: 0, maxLength: 4 }).map(
  (edits): Edit =>
    (text) =>
      edits.reduce((text, edit) => edit(text), text),
)
const versions = fc.tuple(text, fc.array(edits, { minLength: 1, maxLength: 6 }))

describe.concurrent('a new version of a zone text', () => {
  it('gives the verdict, the problems and the records that reading all of it gives', { timeout: 3e6 }, () => {
    const seen = { read: 0, edited: 0, refused: 0 }
    fc.assert(
      fc.property(versions, ([first, edits]) => {
        let current: Uint8Array = Buffer.from(first)
        const loaded = ZoneText.load(current, ORIGIN, OPTIONS)
        expect(loaded.problems).toEqual(loadAlone(current).problems)
        if (loaded.text === undefined) return
        const zoneText = loaded.text
        expect(dump(zoneText.builder)).toEqual(dump(loadAlone(current).zone))
        for (const edit of edits) {
          const before = zoneText.builder
          const dumpBefore = dump(before)
          const markBefore = before.mark()
          const old = loadAlone(current).zone
          const bytes = edit(Buffer.from(current))
          const wanted = loadAlone(bytes)
          const change = zoneText.update(bytes, OPTIONS)
          expect(change.problems).toEqual(wanted.problems)
          expect(change.accepted).toBe(wanted.problems.every(({ severity }) => severity === 'warning'))
          if (!change.accepted) {
            seen.refused++
            expect(zoneText.builder).toBe(before)
            expect(before.mark()).toEqual(markBefore)
            expect(dump(before)).toEqual(dumpBefore)
            expect(change.touched).toEqual([])
            continue
          }
          seen[zoneText.builder === before ? 'edited' : 'read']++
          expect(dump(zoneText.builder)).toEqual(dump(wanted.zone))
          if (change.touched !== undefined)
            expect(namesOf(zoneText, change.touched)).toEqual(expect.arrayContaining(differing(old, wanted.zone)))
          current = bytes
        }
      }),
      { numRuns: 60000 },
    )
    // Otherwise this shows nothing.
    expect(seen.edited).toBeGreaterThan(seen.read)
    expect(seen.refused).toBeGreaterThan(0)
    console.log(seen)
  })
})
