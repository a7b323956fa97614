// Zones for `zone check`, good and broken, each with what BIND makes of it. Texts are relative to the origin, which the
// test chooses. Where ours deliberately decides otherwise, `ours` says how and why.

export interface CorpusZone {
  readonly title: string
  readonly text: string
  /** What named-checkzone says. */
  readonly good: boolean
  /** Ours, where it differs: the verdict, or the same verdict with other records. */
  readonly ours?: { readonly good: boolean; readonly why: string }
}

const SOA = '@ 3600 IN SOA ns hostmaster 1 7200 3600 1209600 300\n'
const HEAD = `$TTL 3600\n${SOA}@ NS ns\nns A 192.0.2.1\n`

function good(title: string, lines: string, ours?: CorpusZone['ours']): CorpusZone {
  return { title, text: `${HEAD}${lines}\n`, good: true, ...(ours === undefined ? {} : { ours }) }
}

function bad(title: string, lines: string, ours?: CorpusZone['ours']): CorpusZone {
  return { title, text: `${HEAD}${lines}\n`, good: false, ...(ours === undefined ? {} : { ours }) }
}

function whole(title: string, text: string, isGood: boolean, ours?: CorpusZone['ours']): CorpusZone {
  return { title, text, good: isGood, ...(ours === undefined ? {} : { ours }) }
}

const label63 = 'x'.repeat(63)

const structure: readonly CorpusZone[] = [
  whole('the smallest zone', `${SOA}@ NS ns.elsewhere.test.\n`, true),
  whole('no SOA', '$TTL 60\n@ NS ns\nns A 192.0.2.1\n', false),
  whole('an empty file', '', false),
  whole('only comments', '; nothing\n\n   ; here\n', false),
  whole('no NS at the apex', `${SOA}www 60 A 192.0.2.1\n`, false),
  whole('two SOA records that differ', `${HEAD}@ SOA ns hostmaster 2 7200 3600 1209600 300\n`, false),
  whole('the same SOA twice', `${HEAD}${SOA}`, true),
  whole('an SOA below the apex', `${HEAD}sub SOA ns hostmaster 1 2 3 4 5\n`, false),
  whole('the SOA after other records', `$TTL 60\n@ NS ns\nns A 192.0.2.1\n${SOA}`, true),
  good('a CNAME alone', 'www CNAME ns'),
  bad('CNAME and other data', 'www CNAME ns\nwww A 192.0.2.2'),
  bad('other data and CNAME', 'www A 192.0.2.2\nwww CNAME ns'),
  bad('two CNAME records', 'www CNAME ns\nwww CNAME other'),
  good('the same CNAME twice', 'www CNAME ns\nwww CNAME ns'),
  good('the same NS in two spellings', '@ NS NS'),
  good('the same MX in two spellings', 'm MX 10 a\nm MX 10 A\na A 192.0.2.2'),
  good('the same CNAME in two spellings', 'www CNAME ns\nWWW CNAME NS'),
  bad('a CNAME at the apex', '@ CNAME elsewhere.test.'),
  good('data outside the zone is left out', 'www.elsewhere.test. A 192.0.2.2\nwww A 192.0.2.3', {
    good: false,
    why: 'BIND drops such records with a warning; a zone here is taken whole or not at all',
  }),
  good('a DNAME', 'old DNAME new'),
  bad('two DNAME records', 'old DNAME new\nold DNAME newer'),
  bad('a DNAME and a CNAME', 'old DNAME new\nold CNAME newer'),
  good('data below a DNAME', 'old DNAME new\nwww.old A 192.0.2.2'),
  good('a DNAME and data at the same name', 'old DNAME new\nold A 192.0.2.2\nold TXT "x"'),
  bad('a wildcard NS', '* NS ns'),
  good('a wildcard DNAME', '* DNAME elsewhere.test.'),
  good('a wildcard CNAME', '* CNAME ns'),
  good('an asterisk in the middle', 'a.*.b A 192.0.2.2'),
  good('missing glue', 'sub NS ns.sub'),
  bad('a name server without address', '@ NS nowhere', {
    good: true,
    why: 'a warning here: one server of several without address leaves the zone usable',
  }),
  bad('a name server that is an alias', '@ NS alias\nalias CNAME ns', {
    good: true,
    why: 'a warning here: most resolvers follow it, and refusing would take the whole zone down',
  }),
  good('a mail exchanger that is an alias', '@ MX 10 alias\nalias CNAME ns'),
  good('a mail exchanger without address', '@ MX 10 nowhere'),
  good('an SRV target that is an alias', '_x._tcp SRV 0 0 1 alias\nalias CNAME ns'),
  good('a delegation with glue', 'sub NS ns.sub\nns.sub A 192.0.2.9'),
  good('data below a cut', 'sub NS ns.sub\nns.sub A 192.0.2.9\nwww.sub A 192.0.2.10'),
  good('DS at a cut', 'sub NS ns\nsub DS 1 13 2 49FD46E6C4B45C55D4AC69CBD3CD34AC1AFE51DE8C5F5A4E4F3A0D7B3A7A3F33'),
  good('a duplicate record', 'www A 192.0.2.2\nwww A 192.0.2.2'),
  good('a duplicate in another spelling', 'www A 192.0.2.2\nWWW A 192.0.2.2'),
  good('different TTLs in an RRset', 'www 60 A 192.0.2.2\nwww 600 A 192.0.2.3'),
  good('an underscore and a slash in names', '_dmarc TXT "v"\n64/28 PTR ns'),
  good('mixed case', 'WwW A 192.0.2.2\nMail.WwW MX 10 Ns'),
  bad('another class', 'www CH A 192.0.2.2'),
  bad('a type alone', 'www A'),
  bad('a name alone', 'www'),
  good('the root as a target', 'mx MX 0 .'),
]

const syntax: readonly CorpusZone[] = [
  good('parentheses over lines', 'www ( A ; comment\n  192.0.2.2 )\nmx MX (\n10\nns\n)'),
  bad('an open parenthesis', 'www A ( 192.0.2.2\nmail A 192.0.2.3'),
  bad('a closing parenthesis alone', 'www A 192.0.2.2 )'),
  good('nested parentheses', 'www A ( ( 192.0.2.2 ) )'),
  good('owner left out', 'www A 192.0.2.2\n    AAAA 2001:db8::2\n\tTXT "x"'),
  whole('owner left out in the first record', '   3600 IN SOA ns hostmaster 1 2 3 4 5\n   3600 NS ns\n', false),
  good('CRLF line ends', 'www A 192.0.2.2\r\nmail A 192.0.2.3\r'),
  whole('no newline at the end', `${HEAD}www A 192.0.2.2`, true),
  good('class before TTL', 'www IN 60 A 192.0.2.2'),
  good('TTL before class', 'www 60 IN A 192.0.2.2'),
  good('lower-case type and class', 'www in a 192.0.2.2'),
  good('TTL units', 'a 1h A 192.0.2.2\nb 1d2h3m4s A 192.0.2.2\nc 1W A 192.0.2.2'),
  whole('TTL units in the SOA', '@ 1D SOA ns hostmaster 1 2h 30m 2w 5m\n@ NS ns\nns A 192.0.2.1\n', true),
  bad('a TTL unit that is none', 'a 1y A 192.0.2.2'),
  bad('a TTL beyond 32 bits', 'a 4294967296 A 192.0.2.2'),
  good('a TTL of 2^31-1', 'a 2147483647 A 192.0.2.2'),
  good('a TTL of 0', 'a 0 A 192.0.2.2'),
  bad('a negative TTL', 'a -1 A 192.0.2.2'),
  whole('no TTL anywhere', '@ SOA ns hostmaster 1 7200 3600 1209600 300\n@ NS ns\nns A 192.0.2.1\n', true),
  whole('TTL of the record before', `${SOA}@ NS ns\nns 60 A 192.0.2.1\nb A 192.0.2.2\n`, true),
  good('$TTL changes', 'a A 192.0.2.2\n$TTL 60\nb A 192.0.2.2\n$TTL 1h\nc A 192.0.2.2'),
  bad('$TTL without a value', '$TTL\na A 192.0.2.2'),
  bad('$TTL with a bad value', '$TTL x\na A 192.0.2.2'),
  good('$ORIGIN, relative', '$ORIGIN sub\nwww A 192.0.2.2\n@ MX 10 www'),
  good('$ORIGIN in lower case', '$origin sub\nwww A 192.0.2.2'),
  bad('$ORIGIN without a name', '$ORIGIN\nwww A 192.0.2.2'),
  bad('an unknown directive', '$UNKNOWN x\nwww A 192.0.2.2'),
  bad('$INCLUDE of a missing file', '$INCLUDE missing.inc'),
  good('$INCLUDE', '$INCLUDE included.inc\nafter A 192.0.2.7'),
  good('$INCLUDE with an origin', '$INCLUDE included.inc sub\nafter A 192.0.2.7'),
  good('$GENERATE', '$GENERATE 1-5 host-$ A 192.0.2.$'),
  good('$GENERATE with a step', '$GENERATE 0-10/5 host-$ A 192.0.2.$'),
  good(
    '$GENERATE with offset, width and base',
    '$GENERATE 1-3 h${0,3,d} A 192.0.2.${10,0,d}\n$GENERATE 9-11 x${0,2,x} CNAME h$',
  ),
  good('$GENERATE of PTR and CNAME', '$GENERATE 1-3 $ PTR h$\n$GENERATE 1-3 alias$ CNAME h$'),
  bad('$GENERATE without a range', '$GENERATE host-$ A 192.0.2.$'),
  bad('$GENERATE backwards', '$GENERATE 5-1 host-$ A 192.0.2.$'),
  bad('$GENERATE out of address range', '$GENERATE 250-260 host-$ A 192.0.2.$'),
  good(
    'a name with escapes',
    'a\\.b A 192.0.2.2\n\\065 TXT "is A"\nc\\ d A 192.0.2.3\n\\@ A 192.0.2.4\n\\255 A 192.0.2.5',
  ),
  bad('an escape above 255', 'a\\256 A 192.0.2.2'),
  bad('an escape of two digits', 'a\\25 A 192.0.2.2'),
  good('a label of 63 bytes', `${label63} A 192.0.2.2`),
  bad('a label of 64 bytes', `${label63}x A 192.0.2.2`),
  bad('a name beyond 255 bytes', `${[label63, label63, label63, label63].join('.')} A 192.0.2.2`),
  bad('an empty label', 'a..b A 192.0.2.2'),
  bad('a leading dot', '.a A 192.0.2.2'),
  bad('an unknown type', 'www FOO bar'),
  good('an unknown type by RFC 3597', 'www TYPE65280 \\# 3 0a0B0c'),
  good('an unknown type without data', 'www TYPE65280 \\# 0'),
  good('a known type by RFC 3597', 'www TYPE1 \\# 4 c0000202\nmail A \\# 4 c0000203\nx CLASS1 A 192.0.2.4'),
  good('RFC 3597 data in pieces', 'www TYPE65280 \\# 4 0a 0b0c 0d'),
  bad('RFC 3597 data too short', 'www TYPE65280 \\# 4 0a0b0c'),
  bad('RFC 3597 data too long', 'www TYPE65280 \\# 2 0a0b0c'),
  bad('RFC 3597 data of odd length', 'www TYPE65280 \\# 2 0a0b0'),
  bad('RFC 3597 data that does not fit the type', 'www TYPE1 \\# 3 c00002'),
  bad('a type beyond 65535', 'www TYPE65536 \\# 0'),
  bad('a quote left open', 'www TXT "open\nmail A 192.0.2.2'),
  good('semicolons in quotes and escaped', 'www TXT "a;b" a\\;b'),
  good('an empty string', 'www TXT ""'),
  good('several strings', 'www TXT one two "three four"'),
  bad('TXT without a string', 'www TXT'),
  good('a string of 255 bytes', `www TXT "${'x'.repeat(255)}"`),
  bad('a string of 256 bytes', `www TXT "${'x'.repeat(256)}"`),
  good('escapes in a string', 'www TXT "a\\"b\\\\c\\000\\255"'),
  bad('a bad escape in a string', 'www TXT "\\999"'),
  bad('too much rdata', 'www A 192.0.2.2 192.0.2.3'),
]

/** type, good rdata, broken rdata */
const rdata: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['A', ['192.0.2.255', '0.0.0.0'], ['192.0.2', '192.0.2.256', '2001:db8::1', '192.0.2.1.1', 'x']],
  [
    'AAAA',
    ['2001:db8::1', '::', '::ffff:192.0.2.1', '2001:DB8:0:0:0:0:0:1'],
    ['192.0.2.1', '2001:db8', '2001:db8:::1', '1:2:3:4:5:6:7:8:9', 'g::'],
  ],
  ['NS', ['ns'], ['', 'ns extra']],
  ['MX', ['0 ns', '65535 ns'], ['ns', '65536 ns', '-1 ns', '10', '10 a..b']],
  ['PTR', ['ns'], ['', 'a b']],
  ['HINFO', ['PC Linux', '"a b" ""'], ['PC', 'a b c']],
  ['RP', ['admin text', '. .'], ['admin']],
  ['AFSDB', ['1 ns'], ['ns', '65536 ns']],
  [
    'LOC',
    ['52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m', '42 21 54 N 71 06 18 W -24m 30m', '0 N 0 E 0m'],
    ['52 N', '91 N 0 E 0m', '52 22 60 N 4 E 0m', '52 X 4 E 0m'],
  ],
  ['SRV', ['0 0 0 .', '10 60 5060 ns'], ['10 60 5060', '10 60 65536 ns', 'a b c ns']],
  [
    'NAPTR',
    ['100 10 "S" "SIP+D2T" "" ns', '1 2 "" "" "!^.*$!x!" .'],
    ['100 10 "S" "SIP+D2T" ns', '65536 1 "" "" "" .'],
  ],
  ['CERT', ['1 12345 8 AwEAAQ==', 'PKIX 0 RSASHA256 AwEAAQ=='], ['1 12345 8', '1 12345 8 !!!!']],
  ['DNAME', ['elsewhere.test.'], ['', 'a b']],
  [
    'DS',
    [
      '1 13 2 49FD46E6C4B45C55D4AC69CBD3CD34AC1AFE51DE8C5F5A4E4F3A0D7B3A7A3F33',
      '1 8 1 3A6E1A2B5C6D7E8F90A1B2C3D4E5F60718293A4B',
    ],
    [
      '1 13 2',
      '1 13 2 49FD',
      '65536 13 2 49FD46E6C4B45C55D4AC69CBD3CD34AC1AFE51DE8C5F5A4E4F3A0D7B3A7A3F33',
      '1 13 2 xyz',
    ],
  ],
  ['SSHFP', ['4 2 123456789abcdef67890123456789abcdef67890123456789abcdef123456789'], ['4 2', '256 2 12', '4 2 1']],
  [
    'DNSKEY',
    ['256 3 8 AwEAAaetidLzsKWUt4swWR8yu0wPHPiUi8LU', 'ZONE|KSK DNSSEC 8 AwEAAaetidLzsKWUt4swWR8yu0wPHPiUi8LU'],
    ['256 3 8', '256 3 8 !', '65536 3 8 AwEAAQ=='],
  ],
  [
    'RRSIG',
    ['A 13 2 3600 20361231235959 20260101000000 12345 elsewhere.test. AwEAAQ=='],
    [
      'A 13 2 3600 20361331235959 20260101000000 12345 elsewhere.test. AwEAAQ==',
      'A 13 2 3600 20361231235959 1 12345 elsewhere.test.',
    ],
  ],
  ['NSEC', ['ns A NS TYPE65280', 'ns A RRSIG NSEC'], ['', 'ns FOO']],
  ['NSEC3PARAM', ['1 0 10 AABBCCDD', '1 0 0 -'], ['1 0 10', '1 0 65536 -', '1 0 10 XY']],
  ['DHCID', ['AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA='], ['', '!']],
  [
    'TLSA',
    ['3 1 1 92003ba34942dc74152e2f2c408d29eca5a520e7f2e06bb944f4dca346baf63c'],
    ['3 1 1', '256 1 1 92', '3 1 1 9'],
  ],
  ['SMIMEA', ['3 1 1 92003ba34942dc74152e2f2c408d29eca5a520e7f2e06bb944f4dca346baf63c'], ['3 1 1', '3 1 256 92']],
  ['OPENPGPKEY', ['AwEAAQ=='], ['', '!']],
  [
    'KEY',
    ['512 3 8 AwEAAaet', 'HOST|FLAG8|SIG1 EMAIL 8 AwEAAaet', 'NOKEY 3 8'],
    ['HOST|FLAG12 3 8 AwEAAaet', '512 3 8'],
  ],
  ['CDNSKEY', ['257 3 13 AwEAAaetidLzsKWUt4swWR8yu0wPHPiUi8LU', '0 3 0 AA=='], ['257 3 13']],
  ['CSYNC', ['66 3 A NS AAAA', '0 0'], ['66', '66 65536 A', '66 3 FOO']],
  ['ZONEMD', [`1 1 1 ${'ab'.repeat(48)}`], ['1 1 1', '1 1 1 abcd', '1 1 1 xyz']],
  [
    'SVCB',
    [
      '0 ns',
      '1 .',
      '1 . alpn=h2,h3 port=8443 ipv4hint=192.0.2.1 ipv6hint=2001:db8::1',
      '16 ns mandatory=alpn alpn="h2"',
      '1 . key65333=ex1',
    ],
    [
      '1',
      '65536 .',
      '1 . port=65536',
      '1 . ipv4hint=x',
      '1 . alpn=h2 alpn=h3',
      '1 . mandatory=port',
      '1 . nosuchkey=1',
      '1 . no-default-alpn',
    ],
  ],
  ['HTTPS', ['1 . alpn=h2 no-default-alpn', '0 elsewhere.test.'], ['x .', '1 . port=x']],
  ['SPF', ['"v=spf1 -all"'], ['']],
  ['URI', ['10 1 "https://example.test/"'], ['10 1', '10 "x"', '65536 1 "x"']],
  [
    'CAA',
    ['0 issue "ca.test"', '128 iodef "mailto:a@b.test"', '0 issuewild ";"'],
    ['0 issue', '256 issue "x"', '0 "" "x"', '0 is-sue "x"'],
  ],
  ['EUI48', ['00-00-5e-00-53-2a'], ['00-00-5e-00-53', '00:00:5e:00:53:2a', 'x']],
  ['EUI64', ['00-00-5e-ef-10-00-00-2a'], ['00-00-5e-ef-10-00-00', 'x']],
  ['KX', ['10 ns'], ['ns']],
  [
    'APL',
    ['1:192.168.32.0/21 !1:192.168.38.0/28', '2:2001:db8::/32'],
    ['1:192.168.32.0', '1:192.168.32.0/33', '3:x/1'],
  ],
]

const soa: readonly CorpusZone[] = (
  [
    ['ns hostmaster 4294967295 7200 3600 1209600 300', true],
    ['ns hostmaster 4294967296 7200 3600 1209600 300', false],
    ['ns hostmaster 1 7200 3600 1209600', false],
    ['ns hostmaster x 7200 3600 1209600 300', false],
    ['ns 1 7200 3600 1209600 300', false],
    ['ns hostmaster ( 1 ; serial\n 2 3 4 5 )', true],
    ['ns host\\.master 1 2 3 4 5', true],
  ] as const
).map(([text, isGood]) => whole(`SOA ${text}`, `$TTL 60\n@ SOA ${text}\n@ NS ns\nns A 192.0.2.1\n`, isGood))

export const INCLUDED = 'in-a A 192.0.2.51\n$ORIGIN deeper\nin-b A 192.0.2.52\n'

export const ZONE_CORPUS: readonly CorpusZone[] = [
  ...structure,
  ...syntax,
  ...soa,
  ...rdata.flatMap(([type, accepted, refused]) => [
    ...accepted.map((text) => good(`${type} ${text}`, `x ${type} ${text}`)),
    ...refused.map((text) => bad(`${type} ${text}`, `x ${type} ${text}`)),
  ]),
]
