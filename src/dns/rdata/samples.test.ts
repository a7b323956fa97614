// Samples of every record type, good and bad: ours against what BIND's named-checkzone makes of the same lines.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { needing } from '../../../test/support/needing.ts'
import { formatName, parseName } from '../name.ts'
import { TYPE } from '../types.ts'
import { formatRecord, parseRecord, textSource, type ZoneRecord } from '../zonefile/format.ts'
import { parseZoneFile } from '../zonefile/parse.ts'
import { formatRdata } from './rdata.ts'
import { RDATA_TYPES } from './table.ts'

const ORIGIN = parseName('example.')
const SHA1 = '0123456789abcdef0123456789abcdef01234567'
const SHA256 = 'e2d3c916f6deeac73294e8268fb5885044a833fc5459588f4a9184cfc41a5766'

/** What is written, and what is printed; one text stands for both. */
const GOOD: readonly (string | readonly [string, string])[] = [
  'A 192.0.2.1',
  ['A \\# 4 C0 000201', 'A 192.0.2.1'],
  ['TYPE1 192.0.2.1', 'A 192.0.2.1'],
  ['NS ns1', 'NS ns1.example.'],
  ['CNAME A.b\\.c', 'CNAME A.b\\.c.example.'],
  'DNAME other.',
  'PTR host.example.org.',
  'HINFO "PC" "li\\"n ux"',
  'MX 10 mail.example.',
  ['MX 010 @', 'MX 10 example.'],
  'MX 0 .',
  ['TXT plain "with blanks;" \\065\\"b\\;c', 'TXT "plain" "with blanks;" "A\\"b;c"'],
  ['TXT a="b c"', 'TXT "a=" "b c"'],
  'TXT ""',
  'TXT "\\000\\031 ~\\127\\255\\\\"',
  ['SPF v=spf1', 'SPF "v=spf1"'],
  'RP mail.example. txt.example.',
  'AFSDB 1 afs.example.',
  'AAAA 2001:db8::1',
  ['AAAA 2001:DB8:0:0:8:800:200C:417A', 'AAAA 2001:db8::8:800:200c:417a'],
  ['AAAA 0:0:1:0:0:0:0:0', 'AAAA 0:0:1::'],
  'AAAA ::ffff:192.0.2.1',
  'AAAA ::192.0.2.1',
  'AAAA ::1',
  'AAAA ::',
  'AAAA 1:0:0:2::3',
  ['AAAA ::2:3:4:5:6:7:8', 'AAAA 0:2:3:4:5:6:7:8'],
  ['AAAA 1:2:3:4:5:6:1.2.3.4', 'AAAA 1:2:3:4:5:6:102:304'],
  ['AAAA 1:2:3:4:5:6:7::', 'AAAA 1:2:3:4:5:6:7:0'],
  ['LOC 42 21 54 N 71 06 18 W -24m 30m', 'LOC 42 21 54.000 N 71 6 18.000 W -24.00m 30m 10000m 10m'],
  ['LOC 42 N 71 W 0', 'LOC 42 0 0.000 N 71 0 0.000 W 0.00m 1m 10000m 10m'],
  [
    'LOC 42 21 54.123 S 71 06 18.9 E 1234.56m 30.5m 0.5m 0.00m',
    'LOC 42 21 54.123 S 71 6 18.900 E 1234.56m 30m 0.50m 0.00m',
  ],
  ['LOC 90 S 180 E 42849672.95m 90000000m', 'LOC 90 0 0.000 S 180 0 0.000 E 42849672.95m 90000000m 10000m 10m'],
  'SRV 0 5 5060 sip.example.',
  'NAPTR 100 50 "s" "z3950+I2L+I2C" "" _z3950._tcp.gatech.edu.',
  'NAPTR 1 1 "U" "E2U+sip" "!^.*$!sip:a@b!i" .',
  'KX 1 kx.example.',
  ['CERT PKIX 1 RSASHA256 AAEC AwQF', 'CERT PKIX 1 RSASHA256 AAECAwQF'],
  ['CERT 253 0 13 AA==', 'CERT URI 0 ECDSAP256SHA256 AA=='],
  'CERT 9 0 0 AAE=',
  ['APL 1:192.168.32.0/21 !2:ff00:0:0:0::/8', 'APL 1:192.168.32.0/21 !2:ff00::/8'],
  [`DS 60485 RSASHA1 SHA-1 ${SHA1}`, `DS 60485 5 1 ${SHA1.toUpperCase()}`],
  [`DS 1 8 2 ${SHA256.slice(0, 30)} ${SHA256.slice(30)}`, `DS 1 8 2 ${SHA256.toUpperCase()}`],
  'DS 1 8 9 00',
  'CDS 0 0 0 00',
  [`SSHFP 1 1 ${SHA1}`, `SSHFP 1 1 ${SHA1.toUpperCase()}`],
  'SSHFP 4 9 00',
  [
    'RRSIG A RSASHA256 2 60 20300101000000 1577836800 1 @ AAAA AAAA',
    'RRSIG A 8 2 60 20300101000000 20200101000000 1 example. AAAAAAAA',
  ],
  'RRSIG TYPE1234 8 2 60 20300228235959 20240229000000 65535 . AAAA',
  ['NSEC b A NSEC TYPE1234 RRSIG A', 'NSEC b.example. A RRSIG NSEC TYPE1234'],
  'NSEC \\000.example. A CAA TYPE65535',
  ['DNSKEY 257 3 ED25519 AwEA AQ==', 'DNSKEY 257 3 15 AwEAAQ=='],
  ['DNSKEY ZONE|KSK DNSSEC ED25519 AwEAAQ==', 'DNSKEY 257 3 15 AwEAAQ=='],
  'CDNSKEY 0 3 0 AA==',
  'DHCID AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=',
  [
    'NSEC3 1 1 12 aabbccdd 2t7b4g4vsa5smi47k61mv5bv1a22bojr MX DNSKEY',
    'NSEC3 1 1 12 AABBCCDD 2T7B4G4VSA5SMI47K61MV5BV1A22BOJR MX DNSKEY',
  ],
  'NSEC3 1 0 1 - 2T7B4G4VSA5SMI47K61MV5BV1A22BOJR',
  'NSEC3PARAM 1 0 12 -',
  'NSEC3PARAM 1 0 0 AB',
  ['TLSA 3 1 1 a ab b', 'TLSA 3 1 1 AABB'],
  'SMIMEA 3 1 1 AABB',
  ['OPENPGPKEY A A E C AwQ=', 'OPENPGPKEY AAECAwQ='],
  'CSYNC 66 3 A NS AAAA',
  'CSYNC 66 3',
  'ZONEMD 1 1 240 00112233445566778899AABB',
  'SVCB 0 foo.example.',
  'SVCB 1 .',
  [
    'HTTPS 1 . ipv6hint=2001:db8::1 ipv4hint=1.2.3.4,5.6.7.8 alpn=h2,h3',
    'HTTPS 1 . alpn="h2,h3" ipv4hint=1.2.3.4,5.6.7.8 ipv6hint=2001:db8::1',
  ],
  [
    'SVCB 16 f alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1',
    'SVCB 16 f.example. mandatory=alpn,ipv4hint alpn="h2,h3-19" ipv4hint=192.0.2.1',
  ],
  'SVCB 16 f.example. alpn="f\\\\\\\\oo\\\\,bar,h2"',
  ['SVCB 16 f alpn=f\\\\\\092oo\\092,bar,h2', 'SVCB 16 f.example. alpn="f\\\\\\\\oo\\\\,bar,h2"'],
  ['SVCB 1 . port="53" no-default-alpn alpn=h2 ech=AAEC', 'SVCB 1 . alpn="h2" no-default-alpn port=53 ech=AAEC'],
  'SVCB 1 . key667="hello\\210qoo"',
  ['SVCB 1 . key300="a b;c" key301 key302=', 'SVCB 1 . key300="a b;c" key301 key302'],
  ['SVCB 1 . key3=\\000\\053', 'SVCB 1 . port=53'],
  'SVCB 0 . port=53',
  'URI 10 1 "https://x/"',
  'URI 10 1 ""',
  ['CAA 0 issue ca.example', 'CAA 0 issue "ca.example"'],
  'CAA 128 tbs "Unknown \\"x"',
  'EUI48 00-00-5e-00-53-2a',
  ['EUI64 00-00-5e-ef-10-00-00-2A', 'EUI64 00-00-5e-ef-10-00-00-2a'],
  'TYPE65280 \\# 0',
  'TYPE65280 \\# 3 0A0B0C',
  ...['MB mb.example.', 'MG mg.example.', 'MR mr.example.', 'MINFO a.example. b.example.', 'RT 10 rt.example.'],
  ['WKS 192.0.2.1 TCP ( ftp smtp 8080 )', 'WKS 192.0.2.1 6 21 25 8080'],
  'WKS 192.0.2.1 17',
  ['X25 311061700956', 'X25 "311061700956"'],
  ['ISDN 150862028003217 004', 'ISDN "150862028003217" "004"'],
  'ISDN "150862028003217"',
  ['NSAP 0x47.0005.80.005A00.0000.0001', 'NSAP 0x47000580005a0000000001'],
  'NSAP-PTR nsap.example.',
  'SIG NXT 1 3 3600 20000102030405 19961211100908 2143 example. AAAA',
  'KEY 512 255 1 AAECAwQF',
  ['KEY HOST|FLAG8|SIG1 DNSSEC RSASHA256 AAEC', 'KEY 641 3 8 AAEC'],
  ['KEY user ipsec 13 AAEC', 'KEY 0 4 13 AAEC'],
  ['KEY NOKEY|ZONE ALL 0', 'KEY 49408 255 0'],
  'KEY 49152 3 0',
  'RKEY 0 255 1 AAEC',
  'PX 50 example. c.example.',
  ['GPOS -32.6882 116.8652 10.0', 'GPOS "-32.6882" "116.8652" "10.0"'],
  'NXT b.example. A NS SIG NXT',
  ...['EID 1289AB', 'NIMLOC 1289AB', 'ATMA +61200000000'],
  ['ATMA 47.0005.80.FFE1', 'ATMA 47000580ffe1'],
  ...['A6 0 2001:db8::1', 'A6 64 ::1 prefix.example.', 'A6 128 prefix.example.'],
  ['A6 68 ffff:ffff:ffff:ffff:ffff::1 prefix.example.', 'A6 68 ::fff:0:0:1 prefix.example.'],
  'SINK 8 0 2 AAEC',
  'IPSECKEY 10 1 2 192.0.2.38 AQNRU3mG7TVT',
  'IPSECKEY 10 0 2 . AQNRU3mG7TVT',
  'IPSECKEY 10 2 2 2001:db8::8002:2001:0 AQNRU3mG7TVT',
  'IPSECKEY 10 3 2 gateway.example. AQNRU3mG7TVT',
  'HIP 2 200100107B1A74DF365639CC39F1D578 AwEAAbdx rvs1.example. rvs2.example.',
  'HIP 2 200100107B1A74DF365639CC39F1D578 AwEAAbdx',
  'NINFO "foo" "bar"',
  'TALINK a.example. .',
  ['DSYNC CDS 1 5359 scanner.example.', 'DSYNC CDS NOTIFY 5359 scanner.example.'],
  'DSYNC TYPE1234 99 53 .',
  ...['HHIT AAECAw==', 'BRID AAECAw=='],
  ['NID 10 0014:4FFF:FF20:EE64', 'NID 10 14:4fff:ff20:ee64'],
  ...['L32 10 10.1.2.0', 'L64 10 2001:db8:1140:1000', 'LP 10 l64.example.'],
  'AVC "app-name:WOLFGANG|app-class:OAM"',
  ...['DOA 1234567890 1 1 "image/gif" R0lGODlh', 'DOA 0 1 2 "" -'],
  ...['AMTRELAY 0 0 0 .', 'AMTRELAY 10 1 1 203.0.113.15', 'AMTRELAY 10 0 2 2001:db8::15'],
  'AMTRELAY 128 1 3 amtrelays.example.',
  ['RESINFO qnamemin exterr=15,16', 'RESINFO "qnamemin" "exterr=15,16"'],
  'WALLET "BTC" "x"',
  ...['TA 1 8 9 00', 'DLV 1 8 9 00'],
]

/** Types and keys that older versions of BIND refuse or print otherwise. */
const NEWER: readonly (string | readonly [string, string])[] = [
  ...['MD md.example.', 'MF mf.example.', 'IPSECKEY 10 0 0 .', 'CLA "TCP-v4-v6"'],
  ['IPN 18446744073709551615', 'IPN 18446744073709551615'],
  'ZONEMD 1 241 1 E1846540E33A9E4189792D18D5D131F605FC283E',
  'SVCB 1 . dohpath="/dns-query{?dns}"',
  ...['SVCB 1 . ohttp', 'SVCB 1 . tls-supported-groups=29,23', 'SVCB 1 . docpath', 'SVCB 1 . pvd'],
  ['SVCB 1 . docpath=dns,q\\\\,x', 'SVCB 1 . docpath="dns,q\\\\,x"'],
  ['SVCB 1 . key9=\\000\\029', 'SVCB 1 . tls-supported-groups=29'],
]

const BAD: readonly (readonly [string, string])[] = [
  ['A 192.0.2', 'expected an IPv4 address'],
  ['A 192.0.2.01', 'expected an IPv4 address'],
  ['A 192.0.2.256', 'expected an IPv4 address'],
  ['A "192.0.2.1"', 'without quotes'],
  ['A 192.0.2.1 x', 'expected the end of the A record'],
  ['A \\# 3 010203', 'expected well-formed A rdata'],
  ['A \\# 4 010203', 'expected 4 bytes of rdata, found 3'],
  ['A \\# x 010203', 'expected the length of the rdata'],
  ['A \\# 1 0', 'even number of hexadecimal digits'],
  ['AAAA 1::2::3', 'expected an IPv6 address'],
  ['AAAA 1:2:3:4:5:6:7:8:9', 'expected an IPv6 address'],
  ['AAAA 1:2:3:4:5:6:7', 'expected an IPv6 address'],
  ['AAAA :1::', 'expected an IPv6 address'],
  ['AAAA 1:', 'expected an IPv6 address'],
  ['AAAA 12345::', 'expected an IPv6 address'],
  ['AAAA 1:2:3:4:5:6:7:1.2.3.4', 'expected an IPv6 address'],
  ['CNAME a..b', 'no empty label'],
  ['CNAME "q"', 'without quotes'],
  ['HINFO a', 'expected an operating system name'],
  ['MX 65536 b', 'expected a preference, 0 to 65535'],
  ['MX 0x10 b', 'expected a preference'],
  ['MX b', 'expected a preference'],
  ['MX 10', 'expected the name of a mail exchanger'],
  ['TXT', 'expected a character string'],
  [`TXT ${'x'.repeat(256)}`, 'at most 255 bytes, found 256'],
  ['TXT \\256', 'an escape'],
  ['TXT \\# 2 0261', 'expected well-formed TXT rdata'],
  ['SRV 1 2 3', 'expected a target name'],
  ['LOC 91 0 0 N 0 0 0 E 0m', 'expected a latitude'],
  ['LOC 42 n 71 w 0m', 'expected a latitude'],
  ['LOC 90 0 1 N 0 0 0 E 0m', 'at most 90 degrees'],
  ['LOC 1 60 0 N 0 0 0 E 0m', 'expected a latitude'],
  ['LOC 1 2 3.1234 N 4 5 6 E 1m', 'expected a latitude'],
  ['LOC 1 2 3 N 4 5 6 E -100000.01m', 'expected an altitude in metres'],
  ['LOC 1 2 3 N 4 5 6 E 1 2 3 4 5', 'expected the end of the LOC record'],
  ['NAPTR 1 1 "" "" "!^.*$!x" .', 'expected a regular expression'],
  ['CERT 65536 0 0 AA==', 'expected a certificate type'],
  ['CERT 0 0 0 AA=', 'in base64'],
  ['CERT 0 0 0 AB==', 'in base64'],
  ['CERT 0 0 0 A*==', 'in base64'],
  ['APL 1:1.2.3.4/33', 'expected a prefix'],
  ['APL 3:1.2.3.4/3', 'expected a prefix'],
  ['DS 1 8 2 aabb', 'expected a digest of 32 bytes'],
  ['CDS 0 0 0 0', 'even number'],
  ['SSHFP 1 1 aabbcc', 'expected a digest of 20 bytes'],
  ['RRSIG A 8 2 1h 20300101000000 20200101000000 1 @ AAAA', 'expected the original TTL'],
  ['RRSIG A 8 2 1 20301301000000 20200101000000 1 @ AAAA', 'expected an expiration time'],
  ['RRSIG NOTYPE 8 2 1 20300101000000 20200101000000 1 @ AAAA', 'expected the type covered'],
  ['NSEC b', 'expected the types at this name'],
  ['NSEC b A BOGUS', 'expected a record type'],
  ['DNSKEY 256 3 UNKNOWN AAAA', 'expected an algorithm'],
  ['DNSKEY 257 3 8', 'expected a public key'],
  ['NSEC3PARAM 1 0 0 aab', 'expected a salt'],
  ['NSEC3 1 0 1 - 2t7b4g4vsa5smi47k61mv5bv1a22boj! A', 'base32hex'],
  ['TLSA 3 1 1', 'expected certificate association data'],
  ['ZONEMD 1 1 1 aabb', 'at least 12 bytes'],
  ['ZONEMD 1 1 1 00112233445566778899AABB', 'expected a digest of 48 bytes'],
  ['SVCB 1', 'expected a target name'],
  ['SVCB 1 . no-default-alpn', 'expected alpn beside no-default-alpn'],
  ['SVCB 1 . mandatory=port', 'expected the key port, which is mandatory'],
  ['SVCB 1 . mandatory=mandatory', 'other than mandatory'],
  ['SVCB 1 . alpn=h2 mandatory=alpn,alpn', 'distinct keys'],
  ['SVCB 1 . port=53 port=54', 'the key port only once'],
  ['SVCB 1 . port=65536', 'a port, 0 to 65535'],
  ['SVCB 1 . port="53"x', 'expected a blank after the value'],
  ['SVCB 1 . key667=a"b"', 'expected a blank after the value'],
  ['SVCB 1 . "alpn=h2"', 'expected key=value'],
  ['SVCB 1 . ALPN=h2', 'expected a parameter key'],
  ['SVCB 1 . key007=a', 'expected a parameter key'],
  ['SVCB 1 . key1=h2', 'expected alpn with a list of protocol identifiers'],
  ['SVCB 1 . alpn=h2,,h3', 'protocol identifiers'],
  ['SVCB 1 . alpn=""', 'protocol identifiers'],
  ['SVCB 1 . ipv4hint=', 'a list of IPv4 addresses'],
  ['SVCB 1 . ipv6hint=1.2.3.4', 'a list of IPv6 addresses'],
  ['SVCB 1 . no-default-alpn=x alpn=h2', 'no value'],
  ['SVCB 1 . dohpath=dns', 'a relative URI template'],
  ['URI 10 1 https://x/', 'in quotes'],
  ['CAA 0 is-sue ca.example', 'expected a property tag'],
  ['CAA 0 "issue" ca.example', 'without quotes'],
  ['CAA 256 issue ca.example', 'expected flags, 0 to 255'],
  ['EUI48 00-00-5e-00-53', 'expected an EUI-48 address'],
  ['EUI48 00:00:5e:00:53:2a', 'expected an EUI-48 address'],
  ['TYPE65280 abc', 'has no other text form'],
  ['TYPE65536 \\# 0', 'unknown RR type'],
  ['BOGUS x', 'unknown RR type'],
  ['OPT \\# 0', 'not a meta type'],
  ['TYPE200 \\# 0', 'not a meta type'],
  ['TYPE128 \\# 0', 'not a meta type'],
  ['X25 "311"', 'at least 4 decimal digits'],
  ['X25 31106x', 'at least 4 decimal digits'],
  ['NSAP 4700', 'expected 0x'],
  ['NSAP 0x470', 'even number'],
  ['KEY 49152 3 0 AAAA', 'expected no key'],
  ['KEY 256 3 8', 'expected a public key'],
  ['KEY HOST|FLAG12 3 8 AAEC', 'expected flags'],
  ['KEY toString 3 8 AAEC', 'expected flags'],
  ['KEY 256 CONSTRUCTOR 8 AAEC', 'expected a protocol'],
  ['KEY \\# 0', 'expected well-formed KEY rdata'],
  ['MINFO \\# 0', 'expected well-formed MINFO rdata'],
  ['L32 \\# 0', 'expected well-formed L32 rdata'],
  ['IPSECKEY \\# 0', 'expected well-formed IPSECKEY rdata'],
  ['IPSECKEY 10 4 2 . AAAA', 'a type from 0 to 3'],
  ['IPSECKEY 10 1 2 2001:db8::1 AAAA', 'an IPv4 address'],
  ['IPSECKEY 10 0 2 x AAAA', '. for no gateway'],
  ['AMTRELAY 10 2 1 192.0.2.1', 'the discovery bit, 0 to 1'],
  ['AMTRELAY 10 0 4 .', 'a relay type, 0 to 3'],
  ['NXT b A TYPE128', 'a type from 1 to 127'],
  ['A6 129 a.', 'a prefix length, 0 to 128'],
  ['A6 64 1.2.3.4 a.', 'an address suffix'],
  ['ATMA 47+0', 'an ATM address'],
  ['WKS 192.0.2.1 6 70000', 'a service: a port'],
  ['HIP 2 2001001 AAAA', 'a host identity tag'],
  ['HIP 2 20010010 A', 'in base64'],
  ['L64 10 2001:db8::1', '64 bits'],
  ['L64 10 1:2:3:4:5', '64 bits'],
  ['NID 10 12345:1:1:1', '64 bits'],
  ['DSYNC CDS NOTIFY 65536 a.', 'a port, 0 to 65535'],
  ['DOA 1 1 1 "" *', 'in base64'],
  ['IPN 18446744073709551616', 'at most 64 bits'],
  ['SVCB 1 . ohttp=x', 'no value'],
  ['SVCB 1 . pvd=x', 'no value'],
  ['SVCB 1 . tls-supported-groups=', 'a list of distinct numbers'],
  ['SVCB 1 . tls-supported-groups=29,29', 'a list of distinct numbers'],
  ['SVCB 1 . ipv4hint=1\\.2.3.4', 'without escapes'],
  ['SVCB 1 . ipv6hint="2001:db8:\\:1"', 'without escapes'],
  ['SVCB 1 . port=5\\051', 'without escapes'],
  ['SVCB 1 . ech="AA\\=="', 'without escapes'],
  ['SVCB 1 . alpn=h2 mandatory=\\097lpn', 'without escapes'],
]

/** BIND accepts these, and takes FLAG1 for FLAG10. */
const STRICTER: readonly (readonly [string, string])[] = [
  ['KEY HOST|FLAG1 3 8 AAEC', 'expected flags'],
  ['KEY HOST| 3 8 AAEC', 'expected flags'],
  ['KEY 0x100 3 8 AAEC', 'expected flags'],
]

const asPair = (sample: string | readonly [string, string]) =>
  typeof sample === 'string' ? ([sample, sample] as const) : sample
const pairs = GOOD.map(asPair)
const newer = NEWER.map(asPair)

describe('rdata text', () => {
  it.each([...pairs, ...newer])('reads %s and prints %s', (written, printed) => {
    const record = parseRecord(`a 60 ${written}`, ORIGIN)
    expect(formatRecord(record.owner, record.ttl, record.type, record.rdata)).toBe(`a.example. 60 IN ${printed}`)
    expect(parseRecord(`a 60 ${printed}`, ORIGIN).rdata).toEqual(record.rdata)
  })

  it.each([...BAD, ...STRICTER])('refuses %s: %s', (written, expected) => {
    expect(() => parseRecord(`a 60 ${written}`, ORIGIN)).toThrow(expected)
  })

  it('reads an SOA with periods and prints seconds', () => {
    const record = parseRecord('@ 60 SOA ns1 host.mail 4294967295 1h30m 1M 2w1D 0', ORIGIN)
    expect(formatRdata(record.type, record.rdata)).toBe('ns1.example. host.mail.example. 4294967295 5400 60 1296000 0')
    expect(() => parseRecord('@ 60 SOA ns1 host abc 1 1 1 1', ORIGIN)).toThrow('bad SOA zone parameter')
    expect(() => parseRecord('@ 60 SOA ns1 host 1 1 1 1 1h30', ORIGIN)).toThrow('bad SOA zone parameter')
  })

  it('has a sample of every type in the table but OPT, which has no text, and SOA', () => {
    const sampled = new Set([...pairs, ...newer].map(([written]) => parseRecord(`a 60 ${written}`, ORIGIN).type))
    expect(
      [...RDATA_TYPES.keys()].filter((type) => type !== TYPE.OPT && type !== TYPE.SOA && !sampled.has(type)),
    ).toEqual([])
  })
})

const APEX = '$TTL 60\n@ SOA ns1 host 1 2 3 4 5\n@ NS ns1\nns1 A 192.0.2.1\n'

needing('named-checkzone').describe('rdata text next to named-checkzone', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rdata-samples-'))
  afterAll(() => rmSync(directory, { recursive: true }))
  const checkZone = (text: string) => {
    const file = join(directory, 'zone')
    writeFileSync(file, text)
    const options = ['-i', 'none', '-k', 'ignore', '-s', 'full', '-o', '-', '-D', 'example.', file]
    return spawnSync('named-checkzone', options, { encoding: 'utf8' })
  }

  it('has the same wire form and the same text for every good sample', () => {
    // NSEC3 is the only type whose owner BIND looks at, and CNAME and DNAME want a name of their own.
    const owner = (i: number) => (pairs[i][0].startsWith('NSEC3 ') ? `${i}`.padStart(32, '0') : `n${i}`)
    const { stdout, stderr } = checkZone(APEX + pairs.map(([written], i) => `${owner(i)} ${written}\n`).join(''))
    const theirs = new Map<string, ZoneRecord>()
    const problems = parseZoneFile(
      textSource(stdout),
      { file: 'theirs', origin: ORIGIN },
      {
        record(name, nameLength, type, _klass, ttl, rdata, rdataLength) {
          const record = { owner: name.slice(0, nameLength), ttl, type, rdata: rdata.slice(0, rdataLength) }
          theirs.set(formatName(record.owner), record)
        },
      },
    )
    expect(stderr).toMatch(/OK\n$/)
    expect(problems).toEqual([])
    for (const [i, [written]] of pairs.entries()) {
      const ours = parseRecord(`${owner(i)} 60 ${written}`, ORIGIN)
      expect(theirs.get(formatName(ours.owner)), written).toEqual(ours)
      const line = stdout.split('\n').find((text) => text.startsWith(`${owner(i)}.example.`)) ?? ''
      // BIND breaks long digests and keys with blanks.
      const text = formatRecord(ours.owner, ours.ttl, ours.type, ours.rdata)
      expect(text.replaceAll(/\s/g, '')).toBe(line.replaceAll(/\s/g, ''))
    }
  })

  it('refuses every bad sample too', () => {
    const { stderr } = checkZone(APEX + BAD.map(([written], i) => `n${i} ${written}\n`).join(''))
    const first = APEX.split('\n').length
    const refused = new Set(Array.from(stderr.matchAll(/zone:(\d+): /gu), ([, line]) => Number(line) - first))
    expect(BAD.filter((_, i) => !refused.has(i)).map(([written]) => written)).toEqual([])
  })
})
