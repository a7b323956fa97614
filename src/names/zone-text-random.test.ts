import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FollowedText } from '../../test/support/followed-text.ts'

const HEAD = '$TTL 1h\n@ SOA ns.elsewhere. hostmaster 7 2h 30m 2w 5m\n@ NS ns.elsewhere.\n'

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
/** Texts full of directives: what an entry means depends on many before it. */
const directed = fc.oneof({ weight: 3, arbitrary: line }, { weight: 2, arbitrary: directive })
const anyLine = fc.oneof({ weight: 15, arbitrary: line }, { weight: 1, arbitrary: unlikely })
const head = fc.oneof(
  { weight: 6, arbitrary: fc.constant(HEAD) },
  { weight: 1, arbitrary: oneOf(HEAD.replace('$TTL 1h\n', ''), HEAD.replace('$TTL 1h\n@', '@ 5'), '@ 5 NS a\n', '') },
  { weight: 1, arbitrary: fc.constant(`\ufeff${HEAD}`) },
  { weight: 1, arbitrary: fc.constant(HEAD.replace('7 2h 30m 2w 5m', '(\n  7 ; serial\n  2h 30m\n 2w 5m )')) },
)
/** Enough text for equal stretches to be long. */
const filler = Array.from({ length: 200 }, (_, i) => `host-${(i * 7919) % 1009} 3600 IN A 198.51.100.${i % 250}`).join(
  '\n',
)
const text = fc
  .record({
    head,
    lines: fc.oneof(
      {
        weight: 3,
        arbitrary: fc.array(fc.oneof({ weight: 99, arbitrary: line }, { weight: 1, arbitrary: unlikely }), {
          maxLength: 30,
        }),
      },
      { weight: 1, arbitrary: fc.array(directed, { maxLength: 30 }) },
    ),
    filled: fc.oneof({ weight: 19, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(30) }),
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
const BYTE_ORDER_MARK = Buffer.from('\ufeff')
const toggleMark: Edit = (text) =>
  text.subarray(0, 3).equals(BYTE_ORDER_MARK) ? text.subarray(3) : Buffer.concat([BYTE_ORDER_MARK, text])
const edits = fc
  .array(fc.oneof({ weight: 30, arbitrary: edit }, { weight: 1, arbitrary: fc.constant(toggleMark) }), {
    minLength: 0,
    maxLength: 4,
  })
  .map(
    (edits): Edit =>
      (text) =>
        edits.reduce((text, edit) => edit(text), text),
  )
const versions = fc.tuple(text, fc.array(edits, { minLength: 1, maxLength: 6 }))

describe('any new version of any zone text', () => {
  it('gives the verdict, the problems and the records that reading all of it gives', () => {
    const seen = { read: 0, edited: 0, refused: 0 }
    fc.assert(
      fc.property(versions, ([first, edits]) => {
        const followed = FollowedText.load(Buffer.from(first))
        if (followed === undefined) return
        for (const edit of edits) seen[followed.update(edit(Buffer.from(followed.bytes))).how]++
      }),
      { numRuns: 200 },
    )
    // Otherwise this shows nothing.
    expect(seen.edited).toBeGreaterThan(seen.read)
    expect(seen.refused).toBeGreaterThan(0)
  })
})
