import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatName, parseName } from '../name.ts'
import { formatRecord, textSource } from './format.ts'
import { type ByteSource, formatProblem, type ParseOptions, parseZoneFile, type ZoneFileProblem } from './parse.ts'

const ORIGIN = parseName('example.')

interface Parsed {
  readonly records: readonly string[]
  readonly lines: readonly number[]
  readonly problems: readonly string[]
  readonly raw: readonly ZoneFileProblem[]
}

function parse(text: string | Uint8Array | ByteSource, options: Partial<ParseOptions> = {}): Parsed {
  const records: string[] = []
  const lines: number[] = []
  const source = typeof text === 'object' && 'read' in text ? text : textSource(text)
  const raw = parseZoneFile(
    source,
    { file: 'db', origin: ORIGIN, ...options },
    {
      record(owner, ownerLength, type, _klass, ttl, rdata, rdataLength, line) {
        records.push(formatRecord(owner.slice(0, ownerLength), ttl, type, rdata.slice(0, rdataLength)))
        lines.push(line)
      },
    },
  )
  return { records, lines, problems: raw.map(formatProblem), raw }
}

describe('a zone file', () => {
  it('gives owner, TTL and class in every order RFC 1035 allows', () => {
    const { records, problems } = parse(
      [
        '$TTL 1h',
        'a A 192.0.2.1',
        'b 60 A 192.0.2.1',
        'c IN A 192.0.2.1',
        'd 60 in A 192.0.2.1',
        'e CLASS1 1m a 192.0.2.1',
        '  TXT x',
        'A A 192.0.2.1',
        'IN IN IN A 192.0.2.1',
      ].join('\n'),
    )
    expect(problems).toEqual(['db:9:7: "IN": unknown RR type: expected a record type, such as A or TYPE123'])
    expect(records).toEqual([
      'a.example. 3600 IN A 192.0.2.1',
      'b.example. 60 IN A 192.0.2.1',
      'c.example. 3600 IN A 192.0.2.1',
      'd.example. 60 IN A 192.0.2.1',
      'e.example. 60 IN A 192.0.2.1',
      'e.example. 3600 IN TXT "x"',
      'A.example. 3600 IN A 192.0.2.1',
    ])
  })

  it('joins lines in parentheses, skips comments and blank lines, and counts lines', () => {
    const { records, lines, problems } = parse(
      '; head\n\n@ 60 SOA ns host (\n 1 ; serial )\n\n 2 3\n 4 5 ) ; end\n(a 60\nTXT) "x;(" ; "\n\n  (\n60 TXT y\n)\n',
    )
    expect(problems).toEqual([])
    expect(records).toEqual([
      'example. 60 IN SOA ns.example. host.example. 1 2 3 4 5',
      'a.example. 60 IN TXT "x;("',
      'a.example. 60 IN TXT "y"',
    ])
    expect(lines).toEqual([3, 8, 11])
  })

  it('reads CRLF, tabs, a missing last newline and a byte order mark', () => {
    const { records, lines, problems } = parse('\ufeff$TTL 5\r\na\tIN\tA\t192.0.2.1\r\n\tTXT\t"x"\r\nb A 192.0.2.2')
    expect(problems).toEqual([])
    expect(records).toEqual(['a.example. 5 IN A 192.0.2.1', 'a.example. 5 IN TXT "x"', 'b.example. 5 IN A 192.0.2.2'])
    expect(lines).toEqual([2, 3, 4])
  })

  it('keeps letter case and escapes of owners', () => {
    const { records } = parse(
      'Home\\032Media._smb._tcp 5 IN SRV 0 0 445 samba.home.arpa.\nhas\\046dot 5 TXT x\n\\@ 5 TXT x',
    )
    expect(records).toEqual([
      'Home\\032Media._smb._tcp.example. 5 IN SRV 0 0 445 samba.home.arpa.',
      'has\\.dot.example. 5 IN TXT "x"',
      '\\@.example. 5 IN TXT "x"',
    ])
  })

  it('reads the same however the bytes arrive', () => {
    const text = `$TTL 60\n${Array.from({ length: 200 }, (_, i) => `n${i} TXT "a b" ( ; c\n \\"x )\n`).join('')}`
    const bytes = new TextEncoder().encode(text)
    const whole = parse(bytes)
    expect(whole.records).toHaveLength(200)
    for (const step of [1, 7, 1000]) {
      let from = 0
      const read = (into: Uint8Array, at: number) => {
        const chunk = bytes.subarray(from, from + Math.min(step, into.length - at))
        into.set(chunk, at)
        from += chunk.length
        return chunk.length
      }
      expect(parse({ read })).toEqual(whole)
    }
  })

  it('moves its window over a file larger than it, and widens it for a large entry', () => {
    const large = Array.from({ length: 60000 }, () => '00 ; a comment').join('\n')
    const small = Array.from({ length: 20000 }, (_, i) => `n${i} A 192.0.2.1`).join('\n')
    const { records, lines, problems } = parse(
      `$TTL 60\n${small}\nbig TYPE65280 \\# 60000 (\n${large}\n)\nend A 192.0.2.2\n!`,
    )
    expect(problems).toEqual(['db:80005:2: expected a record type, found the end of the entry'])
    expect(records).toHaveLength(20002)
    expect(records.at(-1)).toBe('end.example. 60 IN A 192.0.2.2')
    expect(lines.at(-1)).toBe(80004)
  })
})

describe('TTLs', () => {
  it('come from $TTL, with units in any letter case', () => {
    expect(parse('$TTL 1W2d3h4M5s\na TXT x\n$TTL 0\na TXT x').records.map((text) => text.split(' ')[1])).toEqual([
      '788645',
      '0',
    ])
  })

  it('come from the last one written when there is no $TTL, with one warning', () => {
    const { records, problems } = parse('a 60 TXT x\nb TXT x\nc 70 TXT x\nd TXT x')
    expect(records.map((text) => text.split(' ')[1])).toEqual(['60', '60', '70', '70'])
    expect(problems).toEqual(['db:2:3: warning: "TXT": expected a TTL or $TTL; the last TTL is used (RFC 1035)'])
  })

  it('come from the minimum of the SOA when there is no other, with a warning', () => {
    const { records, problems } = parse('@ SOA ns host 1 2 3 4 5\n@ NS ns')
    expect(records[1]).toBe('example. 5 IN NS ns.example.')
    expect(problems).toEqual(['db:1:3: warning: "SOA": expected a TTL or $TTL; the minimum of the SOA is used'])
    expect(parse('@ NS ns').problems).toEqual(['db:1:3: "NS": no TTL specified: expected a TTL, or $TTL before'])
  })

  it('above 31 bits count as zero, with a warning (RFC 2181 8)', () => {
    const { records, problems } = parse('a 2147483647 TXT x\na 2147483648 TXT x\n$TTL 3000000000')
    expect(records.map((text) => text.split(' ')[1])).toEqual(['2147483647', '0'])
    expect(problems).toHaveLength(2)
    expect(problems[0]).toBe('db:2:3: warning: "2147483648": expected a TTL of at most 2147483647; taken as 0')
  })
})

describe('directives', () => {
  it('$ORIGIN is relative to the origin before, and may be outside the zone', () => {
    const { records, problems } = parse(
      '$TTL 9\n$ORIGIN a\n@ TXT x\n$ORIGIN b\nc TXT x\n$origin other.\nx.example. TXT x\ny TXT x',
    )
    expect(records.map((text) => text.split(' ')[0])).toEqual(['a.example.', 'c.b.a.example.', 'x.example.'])
    expect(problems).toEqual(['db:8:1: "y": out of zone: expected a name at or below example.'])
  })

  it.each([
    ['$ORIGIN', 'db:1:8: expected an origin, found the end of the entry'],
    ['$ORIGIN a b', 'db:1:11: "b": expected the end of the line'],
    ['$ORIGIN a..b', 'db:1:9: "a..b": expected an origin: no empty label (two dots in a row, or a dot in front)'],
    ['$TTL', 'db:1:5: expected a TTL, found the end of the entry'],
    ['$TTL 1x', 'db:1:6: "1x": expected a TTL: seconds, or a period such as 1h30m'],
    ['$TTL 1h30', 'db:1:6: "1h30": expected a TTL: seconds, or a period such as 1h30m'],
    ['$BOGUS x', 'db:1:1: "$BOGUS": expected $ORIGIN, $TTL, $INCLUDE or $GENERATE'],
    ['$INCLUDE x', 'db:1:10: "x": expected no $INCLUDE: files cannot be included here'],
    ['$INCLUDE', 'db:1:9: expected a file name, found the end of the entry'],
  ])('%s is refused: %s', (text, problem) => {
    expect(parse(text).problems).toEqual([problem])
  })

  const files: Readonly<Record<string, string>> = {
    sub: '  TXT inherited\nx TXT x\n$ORIGIN deeper\ny TXT y\n',
    broken: '\na A 1\n',
    self: '$INCLUDE self\n',
    ping: '$INCLUDE pong\n',
    pong: '$INCLUDE ping\n',
    first: '$INCLUDE second\n',
    second: '',
  }
  const openInclude = (path: string, from: string): ByteSource => {
    if (files[path] === undefined) throw new Error(`no ${path} beside ${from}`)
    return textSource(files[path], path)
  }

  it('$INCLUDE reads a file under its own origin and restores origin and owner', () => {
    const { records, problems } = parse('$TTL 9\nz TXT z\n$INCLUDE sub s\n  TXT still-z\n$INCLUDE "sub"\n@ TXT apex', {
      openInclude,
    })
    expect(problems).toEqual([])
    expect(records.map((text) => text.replace(' 9 IN TXT', ''))).toEqual([
      'z.example. "z"',
      'z.example. "inherited"',
      'x.s.example. "x"',
      'y.deeper.s.example. "y"',
      'z.example. "still-z"',
      'z.example. "inherited"',
      'x.example. "x"',
      'y.deeper.example. "y"',
      'example. "apex"',
    ])
  })

  it('$INCLUDE reports problems under the name of the included file', () => {
    expect(parse('$TTL 9\n$INCLUDE broken', { openInclude }).problems).toEqual([
      'broken:2:5: "1": expected an IPv4 address, such as 192.0.2.1',
    ])
    expect(parse('$INCLUDE absent', { openInclude }).problems).toEqual([
      'db:1:10: "absent": expected a file that can be opened: no absent beside db',
    ])
  })

  it('$INCLUDE refuses loops and bounds the depth', () => {
    expect(parse('$INCLUDE self', { openInclude }).problems).toEqual([
      'self:1:10: "self": expected a file that does not include itself',
    ])
    expect(parse('$INCLUDE ping', { openInclude }).problems[0]).toContain('does not include itself')
    let depth = 0
    const endless = () => textSource(`$INCLUDE file${depth + 1}\n`, `file${depth++}`)
    expect(parse('$INCLUDE file0', { openInclude: endless }).problems).toEqual([
      'file9:1:10: "file10": expected at most 10 files that include each other',
    ])
  })

  it('reports a source that fails while it is read', () => {
    const openFailing = () => ({
      read(): number {
        throw new Error('is a directory')
      },
    })
    expect(parse('$INCLUDE dir', { openInclude: openFailing }).problems).toEqual([
      'dir:1:1: expected a readable file: is a directory',
    ])
  })
})

describe('errors', () => {
  it.each([
    ['a 9 A 1.2.3', 'db:1:7: "1.2.3": expected an IPv4 address, such as 192.0.2.1'],
    ['a 9 A', 'db:1:6: expected an IPv4 address, such as 192.0.2.1, found the end of the entry'],
    ['a 9 MX 10 b c', 'db:1:13: "c": expected the end of the MX record'],
    ['a 9 BOGUS x', 'db:1:5: "BOGUS": unknown RR type: expected a record type, such as A or TYPE123'],
    ['a', 'db:1:2: expected a record type, found the end of the entry'],
    ['a 9 CH TXT x', 'db:1:5: "CH": expected class IN, as CH zones are not served'],
    ['a HS 9 TXT x', 'db:1:3: "HS": expected class IN, as HS zones are not served'],
    ['a 1h30 TXT x', 'db:1:3: "1h30": expected a TTL: seconds, or a period such as 1h30m'],
    ['a 9 ANY x', 'db:1:5: "ANY": expected a type of data, not a meta type'],
    ['  9 TXT x', 'db:1:3: "9": expected an owner name, as there is none before'],
    ['a..b 9 TXT x', 'db:1:1: "a..b": expected an owner name: no empty label (two dots in a row, or a dot in front)'],
    ['other. 9 TXT x', 'db:1:1: "other.": out of zone: expected a name at or below example.'],
    ['badexample. 9 TXT x', 'db:1:1: "badexample.": out of zone: expected a name at or below example.'],
    ['a 9 TXT ( x', 'db:1:9: unbalanced parentheses: expected ")" before the end of the file'],
    ['a 9 TXT x )', 'db:1:11: unbalanced parentheses: expected "(" before ")"'],
    ['a 9 TXT "x', 'db:1:9: unbalanced quotes: expected the closing quote on the same line'],
    ['a 9 TXT (\n"x\n)', 'db:2:1: unbalanced quotes: expected the closing quote on the same line'],
    ['a 9 TXT x\u0000y', 'db:1:10: NUL byte: expected text'],
    ['a 9 TXT "x\u0000y"', 'db:1:11: NUL byte: expected text'],
    ['ä 9 TXT "ö" \\999', 'db:1:13: "\\999": expected an escape \\DDD (000 to 255) or \\ and one character'],
    [
      'a 9 MX (\n 10\n   b..c )',
      'db:3:4: "b..c": expected the name of a mail exchanger: no empty label (two dots in a row, or a dot in front)',
    ],
    [
      '@ 9 SOA ns h abc 1 1 1 1',
      'db:1:14: "abc": bad SOA zone parameter: expected a 32-bit serial number, 0 to 4294967295',
    ],
    [
      '@ 9 SOA ns h 202512200817 1 1 1 1',
      'db:1:14: "202512200817": bad SOA zone parameter: expected a 32-bit serial number, 0 to 4294967295',
    ],
  ])('%j is refused: %s', (text, problem) => {
    const { records, problems } = parse(`${text}\n`)
    expect(problems).toEqual([problem])
    expect(records).toEqual([])
  })

  it('of one entry leave the next ones alone, and an owner that was refused is reported once', () => {
    const { records, problems } = parse(
      '$TTL 9\na A 1\n  A 192.0.2.1\nother. A 192.0.2.1\n  TXT x\n  TXT y\nb "A" (\n192.0.2.3 )\nc TXT "\nd TXT z',
    )
    expect(problems.map((text) => text.split(' ')[0])).toEqual(['db:2:5:', 'db:4:1:', 'db:9:7:'])
    expect(records).toEqual(['a.example. 9 IN A 192.0.2.1', 'b.example. 9 IN A 192.0.2.3', 'd.example. 9 IN TXT "z"'])
  })

  it('stop the parser after maxProblems of them', () => {
    const text = 'a 9 A bad\n'.repeat(100)
    expect(parse(text).problems).toHaveLength(20)
    expect(parse(text, { maxProblems: 3 }).problems).toHaveLength(3)
    expect(parse('a 3000000000 TXT x\n'.repeat(100)).problems).toHaveLength(20)
    expect(parse('a 3000000000 TXT x\n'.repeat(100)).records).toHaveLength(100)
  })

  it('carry every part a program needs, with long tokens shortened', () => {
    expect(parse(`a 9 A ${'x'.repeat(100)}`).raw).toEqual([
      {
        file: 'db',
        line: 1,
        column: 7,
        token: `${'x'.repeat(57)}...`,
        message: 'expected an IPv4 address, such as 192.0.2.1',
        severity: 'error',
      },
    ])
  })

  it('name the line of an error deep in a large file', () => {
    const text = `$TTL 9\n${'a A 192.0.2.1\n'.repeat(89_998)}b A nonsense\n`
    expect(parse(text).problems).toEqual(['db:90000:5: "nonsense": expected an IPv4 address, such as 192.0.2.1'])
  })

  it('include an entry without end', () => {
    const { problems } = parse(`a 9 TXT (\n${'; not closed\n'.repeat(400_000)}`)
    expect(problems).toEqual([
      'db:1:1: entry too long: expected its end within 4194304 bytes (unbalanced parentheses?)',
    ])
  })
})

describe('random input', () => {
  const word = fc.constantFrom(
    'a',
    '@',
    '60',
    'IN',
    'A',
    'TXT',
    'SOA',
    'MX',
    'SVCB',
    'LOC',
    '(',
    ')',
    '"',
    ';',
    '\\',
    '\n',
    ' ',
    '\t',
    '\r\n',
    '$TTL',
    '$ORIGIN',
    '$INCLUDE',
    '$GENERATE',
    '1-9',
    '$',
    '${0,3,x}',
    '192.0.2.1',
    '.',
    '=',
    '\\#',
    '4',
    'ab',
    '\u0000',
    'é',
  )

  it('never throws, and reports places inside the text', () => {
    const text = fc.oneof(
      fc.array(word, { maxLength: 60 }).map((words) => new TextEncoder().encode(words.join(''))),
      fc.array(word, { maxLength: 60 }).map((words) => new TextEncoder().encode(words.join(' '))),
      fc.uint8Array({ maxLength: 400 }),
    )
    fc.assert(
      fc.property(text, (bytes) => {
        const { raw } = parse(bytes, { openInclude: () => textSource('x 60 A 192.0.2.1\n') })
        const lines = bytes.filter((byte, i) => byte === 0x0a || (byte === 0x0d && bytes[i + 1] !== 0x0a)).length + 1
        for (const problem of raw) {
          expect(problem.line).toBeGreaterThanOrEqual(1)
          expect(problem.line).toBeLessThanOrEqual(lines)
          expect(problem.column).toBeGreaterThanOrEqual(1)
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('reads back every record it printed', () => {
    const owner = fc
      .array(fc.uint8Array({ minLength: 1, maxLength: 12 }), { maxLength: 4 })
      .map((labels) => formatName(Uint8Array.from([...labels.flatMap((bytes) => [bytes.length, ...bytes]), ...ORIGIN])))
    fc.assert(
      fc.property(owner, fc.nat(0x7fffffff), fc.uint8Array({ minLength: 1, maxLength: 255 }), (name, ttl, bytes) => {
        const line = formatRecord(parseName(name), ttl, 16, Uint8Array.from([bytes.length, ...bytes]))
        expect(parse(line)).toMatchObject({ records: [line], problems: [] })
      }),
    )
  })
})
