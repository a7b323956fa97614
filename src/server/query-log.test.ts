import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import type { LogConfig } from './config.ts'
import { LineBuffer } from './query-log/line-buffer.ts'
import { QueryLog } from './query-log.ts'
import { PROTO } from './stats.ts'

const LOCALHOST = Uint8Array.of(127, 0, 0, 1)
const EXAMPLE = '07 6578616d706c65 03 6f7267 00'
const OPT_DO = '00 0029 1000 00 00 8000 0000'
const SOA = 'c00c 0006 0001 00000e10 0016 00 00 00000001 00000002 00000003 00000004 00000005'
/** example.org. A, id 29008, rd, with EDNS 4096 and DO. */
const QUERY = bytes(`7150 0100 0001 0000 0000 0001 ${EXAMPLE} 0001 0001 ${OPT_DO}`)
const ANSWER = bytes(`7150 8500 0001 0001 0000 0000 ${EXAMPLE} 0001 0001 c00c 0001 0001 00000e10 0004 c0000201`)

function bytes(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex.replaceAll(' ', ''), 'hex'))
}

/** An answer without answer records: `flags`, then authority records. */
function empty(flags: string, ...authorities: string[]): Uint8Array {
  const count = String(authorities.length).padStart(4, '0')
  return bytes(`7150 ${flags} 0001 0000 ${count} 0000 ${EXAMPLE} 0001 0001 ${authorities.join('')}`)
}

interface Case {
  readonly rules?: readonly Partial<LogConfig>[]
  readonly query?: Uint8Array
  readonly response?: Uint8Array
  readonly remote?: Uint8Array
  readonly proto?: number
  readonly seconds?: number
}

function line(options: Case = {}): string {
  const { rules = [{}], query = QUERY, response = ANSWER, remote = LOCALHOST } = options
  const config = rules.map((rule): LogConfig => ({ names: ['.'], format: '{common}', classes: ['all'], ...rule }))
  const out = new LineBuffer()
  const log = new QueryLog(config, '2001:db8::53')
  const { proto = PROTO.udp, seconds = 0.00003799 } = options
  log.append(out, query, query.length, response, response.length, remote, 50_759, proto, seconds)
  expect(out.lines).toBeLessThanOrEqual(1)
  return Buffer.from(out.take()).toString()
}

describe('the query log', () => {
  test('writes the common format of CoreDNS', () => {
    expect(line()).toBe(
      '[INFO] 127.0.0.1:50759 - 29008 "A IN example.org. udp 40 true 4096" NOERROR qr,aa,rd 45 0.000037990s\n',
    )
  })

  test('writes the combined format with the opcode', () => {
    expect(line({ rules: [{ format: '{combined}' }] })).toBe(
      '[INFO] 127.0.0.1:50759 - 29008 "A IN example.org. udp 40 true 4096" NOERROR qr,aa,rd 45 0.000037990s "0"\n',
    )
  })

  test('fills in templates; what is no placeholder stays as it is', () => {
    expect(line({ rules: [{ format: '{local} {proto} { {type} } {nope} é{/kube/pod} {>opcode}}' }] })).toBe(
      '[INFO] [2001:db8::53] udp { A } {nope} é- 0}\n',
    )
    expect(line({ rules: [{ format: '{/log/class} {/log/type}' }] })).toBe('[INFO] success NOERROR\n')
  })

  test('shows 64 KiB for TCP, 512 without EDNS, and lower-case names', () => {
    const plain = bytes(`0001 0000 0001 0000 0000 0000 ${EXAMPLE.replace('65', '45')} 0041 0003`)
    const format = '{name} {type} {class} {>do} {>bufsize}'
    expect(line({ query: plain, rules: [{ format }] })).toBe('[INFO] example.org. HTTPS CH false 512\n')
    expect(line({ proto: PROTO.tcp, rules: [{ format }] })).toBe('[INFO] example.org. A IN true 65535\n')
  })

  test('a name cannot forge a line or a field', () => {
    const query = bytes('0001 0000 0001 0000 0000 0000 07 610a 2220 2e5c ff 00 0001 0001')
    expect(line({ query, rules: [{ format: '{name}' }] })).toBe('[INFO] a\\010\\"\\032\\.\\\\\\255.\n')
  })

  test('prints types, classes and rcodes without a mnemonic as numbers', () => {
    const query = bytes(`0001 0000 0001 0000 0000 0000 ${EXAMPLE} ff00 1234`)
    expect(line({ query, response: empty('800c'), rules: [{ format: '{type} {class} {rcode}' }] })).toBe(
      '[INFO] TYPE65280 CLASS4660 12\n',
    )
  })

  test('prints the extended rcode and every flag', () => {
    const badvers = bytes(`7150 8000 0001 0000 0000 0001 ${EXAMPLE} 0001 0001 00 0029 04d0 01 00 0000 0000`)
    expect(line({ response: badvers, rules: [{ format: '{rcode} {/log/class}' }] })).toBe('[INFO] BADVERS error\n')
    expect(line({ response: empty('87f5'), rules: [{ format: '{>rflags} {rcode}' }] })).toBe(
      '[INFO] qr,aa,tc,rd,ra,z,ad,cd REFUSED\n',
    )
  })

  test.each([
    ['20010db8000000000000000000000001', '[2001:db8::1]'],
    ['00000000000000000000000000000001', '[::1]'],
    ['00000000000000000000000000000000', '[::]'],
    ['20010db8000000010000000000000000', '[2001:db8:0:1::]'],
    ['20010db8000000010001000100010001', '[2001:db8:0:1:1:1:1:1]'],
    ['20010000000000010000000000000abc', '[2001:0:0:1::abc]'],
    ['00000000000000000000ffffc0000201', '192.0.2.1'],
  ])('prints the client address %s as %s', (hex, text) => {
    expect(line({ remote: bytes(hex), rules: [{ format: '{remote}:{port}' }] })).toBe(`[INFO] ${text}:50759\n`)
  })

  test.each([
    ['an answer', ANSWER, 'success NOERROR'],
    ['an empty answer without SOA', empty('8000'), 'success NOERROR'],
    ['a referral', empty('8000', 'c00c 0002 0001 00000e10 0002 c00c'), 'success DELEGATION'],
    ['no data', empty('8400', SOA), 'denial NODATA'],
    ['NXDOMAIN', empty('8403', SOA), 'denial NXDOMAIN'],
    ['SERVFAIL', empty('8002'), 'error SERVERERROR'],
    ['REFUSED', empty('8005'), 'error OTHERERROR'],
    ['an alias to nothing', bytes(Buffer.from(ANSWER).toString('hex').replace('8500', '8503')), 'error OTHERERROR'],
    ['no answer at all', new Uint8Array(0), 'error OTHERERROR'],
  ])('classes %s as CoreDNS does', (_, response, expected) => {
    expect(line({ response, rules: [{ format: '{/log/class} {/log/type}' }] })).toBe(`[INFO] ${expected}\n`)
    for (const name of ['success', 'denial', 'error'] as const) {
      const written = line({ response, rules: [{ classes: [name] }] }) !== ''
      expect(written).toBe(expected.startsWith(name))
    }
  })

  test('transfers and notifications count as errors, as in CoreDNS', () => {
    const transfer = bytes(`7150 0000 0001 0000 0000 0000 ${EXAMPLE} 00fc 0001`)
    const notify = bytes(`7150 2000 0001 0000 0000 0000 ${EXAMPLE} 0006 0001`)
    const format = '{/log/class} {/log/type}'
    expect(line({ query: transfer, rules: [{ format }] })).toBe('[INFO] error META\n')
    expect(line({ query: notify, rules: [{ format }] })).toBe('[INFO] error META\n')
  })

  test('the first rule whose name covers the question decides', () => {
    const rules = [
      { names: ['other.org.', 'xample.org.', 'a.example.org.'], format: 'not this' },
      { names: ['EXAMPLE.org.'], format: 'this' },
      { names: ['.'], format: 'too late' },
    ]
    expect(line({ rules })).toBe('[INFO] this\n')
    expect(line({ rules: [{ names: ['org.'], classes: ['denial'] }, { names: ['.'] }] })).toBe('')
    expect(line({ rules: [{ names: ['net.'] }] })).toBe('')
  })

  test('a query without a question gives a line too', () => {
    const query = bytes('7150 0000 0000 0000 0000 0000')
    const response = bytes('7150 8001 0000 0000 0000 0000')
    expect(line({ query, response })).toBe(
      '[INFO] 127.0.0.1:50759 - 29008 "  . udp 12 false 512" FORMERR qr 12 0.000037990s\n',
    )
    expect(line({ query, response: new Uint8Array(0) })).toContain('" - - 0 ')
  })

  test.each([
    [0, '0.000000000s'],
    [0.0000000004, '0.000000000s'],
    [0.037990251, '0.037990251s'],
    [1.9999999999, '2.000000000s'],
    [75.5, '75.500000000s'],
  ])('prints %d seconds as %s', (seconds, text) => {
    expect(line({ seconds, rules: [{ format: '{duration}' }] })).toBe(`[INFO] ${text}\n`)
  })

  test('any bytes at all make exactly one line of printable text', () => {
    const mutated = (base: Uint8Array) =>
      fc.array(fc.tuple(fc.nat(base.length - 1), fc.nat(255)), { maxLength: 4 }).map((changes) => {
        const copy = base.slice()
        for (const [at, value] of changes) copy[at] = value
        return copy
      })
    const message = (base: Uint8Array) => fc.oneof(fc.uint8Array({ maxLength: 80 }), mutated(base))
    fc.assert(
      fc.property(message(QUERY), message(ANSWER), (query, response) => {
        expect(line({ query, response })).toMatch(/^\[INFO\] [\x20-\x7e]+\n$/u)
      }),
      { numRuns: 2000 },
    )
  })

  test('a full buffer grows and keeps every line', () => {
    const out = new LineBuffer()
    const log = new QueryLog([{ names: ['.'], format: '{name} {>id}', classes: ['all'] }], '::')
    for (let i = 0; i < 5000; i++) {
      const query = QUERY.slice()
      new DataView(query.buffer).setUint16(0, i)
      log.append(out, query, query.length, ANSWER, ANSWER.length, LOCALHOST, 1, PROTO.udp, 0)
    }
    expect(out.lines).toBe(5000)
    const lines = Buffer.from(out.take()).toString().split('\n')
    expect(lines).toEqual([...Array.from({ length: 5000 }, (_, i) => `[INFO] example.org. ${i}`), ''])
    expect([out.lines, out.take().length]).toEqual([0, 0])
  })
})
