import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseName } from '../name.ts'
import { Tokens } from '../tokens.ts'
import { TYPE, typeName } from '../types.ts'
import { parseRecord } from '../zonefile/format.ts'
import {
  canonicalRdata,
  formatRdata,
  nameOffset,
  newRdataBuffer,
  parseRdata,
  rdataNames,
  validateRdata,
} from './rdata.ts'
import { RDATA_TYPES } from './table.ts'

const ORIGIN = parseName('example.')

/** Well-formed rdata to start mutations from, in the generic form where the type has no shorter one. */
const SEEDS: Readonly<Record<string, string>> = {
  A: '192.0.2.1',
  NS: 'ns1',
  CNAME: 'a.b',
  SOA: 'ns1 host 1 2 3 4 5',
  PTR: 'host',
  HINFO: 'PC "lin ux"',
  MX: '10 mail',
  TXT: 'a "b c" \\000',
  RP: 'mail txt',
  AFSDB: '1 afs',
  AAAA: '2001:db8::ffff:192.0.2.1',
  LOC: '42 21 54.123 S 71 06 18.9 E 1234.56m 30m 5m 0.5m',
  SRV: '0 5 5060 sip',
  NAPTR: '1 1 "U" "E2U+sip" "!^.*$!sip:a@b!i" b',
  KX: '1 kx',
  CERT: 'PKIX 1 RSASHA256 AAEC',
  DNAME: 'other.',
  OPT: '\\# 12 000A00080102030405060708',
  APL: '1:192.168.32.0/21 !2:ff00::/8',
  DS: '1 8 9 00',
  SSHFP: '4 9 00AA',
  RRSIG: 'A 8 2 60 20300101000000 20200101000000 1 @ AAAA',
  NSEC: 'b A NSEC TYPE1234 RRSIG',
  DNSKEY: '257 3 8 AwEAAQ==',
  DHCID: 'AAIB',
  NSEC3: '1 1 12 aabbccdd 2t7b4g4vsa5smi47k61mv5bv1a22bojr MX DNSKEY',
  NSEC3PARAM: '1 0 12 aa',
  TLSA: '3 1 1 AABB',
  SMIMEA: '3 1 1 AABB',
  CDS: '0 0 0 00',
  CDNSKEY: '0 3 0 AA==',
  OPENPGPKEY: 'AAEC',
  CSYNC: '66 3 A NS AAAA',
  ZONEMD: '1 1 240 00112233445566778899AABB',
  SVCB: '16 f mandatory=alpn alpn="f\\\\\\\\oo\\\\,bar,h2" no-default-alpn port=1 ipv4hint=192.0.2.1 ohttp tls-supported-groups=29,23 docpath=dns pvd key667=a',
  HTTPS: '1 . alpn=h2 ech=AAEC ipv6hint=2001:db8::1 dohpath=/q{?dns}',
  SPF: 'v=spf1',
  EUI48: '00-00-5e-00-53-2a',
  EUI64: '00-00-5e-ef-10-00-00-2a',
  URI: '10 1 "https://x/"',
  CAA: '0 issue "ca.example"',
  MD: 'md',
  MF: 'mf',
  MB: 'mb',
  MG: 'mg',
  MR: 'mr',
  WKS: '192.0.2.1 6 21 25',
  MINFO: 'a b',
  X25: '311061700956',
  ISDN: '150862028003217 004',
  RT: '10 rt',
  NSAP: '0x47000580',
  'NSAP-PTR': 'nsap',
  SIG: 'NXT 1 3 3600 20000102030405 19961211100908 2143 @ AAAA',
  KEY: '512 255 1 AAEC',
  PX: '50 a b',
  GPOS: '-32.6882 116.8652 10.0',
  NXT: 'b A NS SIG NXT',
  EID: '1289AB',
  NIMLOC: '1289AB',
  ATMA: '+61200000000',
  A6: '68 ::fff:0:0:1 prefix',
  SINK: '8 0 2 AAEC',
  IPSECKEY: '10 3 2 gateway AQNR',
  HIP: '2 20010010 AwEAAbdx rvs1 rvs2',
  NINFO: 'a b',
  RKEY: '0 255 1 AAEC',
  TALINK: 'a .',
  DSYNC: 'CDS NOTIFY 5359 scanner',
  HHIT: 'AAEC',
  BRID: 'AAEC',
  NID: '10 14:4fff:ff20:ee64',
  L32: '10 10.1.2.0',
  L64: '10 2001:db8:1140:1000',
  LP: '10 l64',
  AVC: 'a',
  DOA: '1 2 3 "image/gif" AAEC',
  AMTRELAY: '10 1 3 relay',
  RESINFO: 'qnamemin',
  WALLET: 'BTC x',
  CLA: 'a',
  IPN: '1234567890123456789',
  TA: '1 8 9 00',
  DLV: '1 8 9 00',
}

function parse(type: number, text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text)
  const tokens = new Tokens(bytes)
  tokens.origin = ORIGIN
  tokens.readEntry(0, bytes.length, true)
  const out = newRdataBuffer()
  parseRdata(type, tokens, out)
  return out.bytes.slice(0, out.length)
}

/** Rdata near a valid one: a few bytes replaced, perhaps cut or lengthened. */
function near(rdata: Uint8Array): fc.Arbitrary<Uint8Array> {
  return fc
    .record({
      edits: fc.array(fc.tuple(fc.nat(rdata.length - 1), fc.oneof(fc.nat(255), fc.nat(4))), { maxLength: 4 }),
      cut: fc.oneof(
        { weight: 4, arbitrary: fc.constant(rdata.length) },
        { weight: 1, arbitrary: fc.nat(rdata.length) },
      ),
      tail: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.array(fc.nat(255)) }),
    })
    .map(({ edits, cut, tail }) => {
      const copy = rdata.slice()
      for (const [at, value] of edits) copy[at] = value
      return Uint8Array.from([...copy.subarray(0, cut), ...tail])
    })
}

describe('rdata of every type', () => {
  const cases = [...RDATA_TYPES.keys()].map((type) => [typeName(type), type] as const)

  it.each(cases)('of %s: what is printed reads back as the same bytes', (name, type) => {
    const seed = parse(type, SEEDS[name])
    expect(validateRdata(type, seed)).toBeUndefined()
    fc.assert(
      fc.property(near(seed), (rdata) => {
        const text = formatRdata(type, rdata)
        if (validateRdata(type, rdata) === undefined) expect(parse(type, text)).toEqual(rdata)
        else expect(text).toMatch(/^\\# \d+/)
      }),
      { numRuns: 150 },
    )
  })

  it('never throws on random bytes', () => {
    fc.assert(
      fc.property(fc.constantFrom(...RDATA_TYPES.keys(), 65280), fc.uint8Array({ maxLength: 300 }), (type, rdata) => {
        const text = formatRdata(type, rdata)
        expect(text).toMatch(/^[\x20-\x7e]+$/)
        expect(canonicalRdata(type, rdata)).toHaveLength(rdata.length)
        if (type === 65280) expect(parse(type, text)).toEqual(rdata)
      }),
      { numRuns: 1000 },
    )
  })

  it('refuses more than 65535 bytes', () => {
    expect(() => parse(TYPE.TXT, '"0123456789" '.repeat(6000))).toThrow('expected at most 65535 bytes of rdata')
    expect(parse(TYPE.TXT, `"${'x'.repeat(255)}" `.repeat(255))).toHaveLength(65280)
  })
})

describe('names in rdata', () => {
  it('are where the layout says', () => {
    expect(rdataNames(TYPE.A)).toBeUndefined()
    expect(rdataNames(TYPE.MX)).toEqual({ offset: 2, count: 1, compress: true, lower: true })
    expect(rdataNames(TYPE.SOA)).toEqual({ offset: 0, count: 2, compress: true, lower: true })
    expect(rdataNames(TYPE.SRV)).toEqual({ offset: 6, count: 1, compress: false, lower: true })
    expect(rdataNames(TYPE.RRSIG)).toEqual({ offset: 18, count: 1, compress: false, lower: true })
    expect(rdataNames(TYPE.NSEC)).toEqual({ offset: 0, count: 1, compress: false, lower: false })
    expect(rdataNames(TYPE.NAPTR)?.offset).toBe(-1)
    expect(nameOffset(TYPE.NAPTR, parse(TYPE.NAPTR, '1 2 "ab" "c" "" x.'))).toBe(10)
  })

  it('are lower-cased in the canonical form, and nothing else is', () => {
    const canonical = (text: string) => {
      const { type, rdata } = parseRecord(`@ 60 ${text}`, ORIGIN)
      return formatRdata(type, canonicalRdata(type, rdata))
    }
    expect(canonical('SOA NS1.A. Host.A\\000B. 1 2 3 4 5')).toBe('ns1.a. host.a\\000b. 1 2 3 4 5')
    expect(canonical('NAPTR 1 2 "AB" "C" "" X.Y.')).toBe('1 2 "AB" "C" "" x.y.')
    expect(canonical('NSEC B. A')).toBe('B. A')
    expect(canonical('SVCB 1 B. key667=A')).toBe('1 B. key667="A"')
    expect(canonical('TXT ABC')).toBe('"ABC"')
  })
})
