// Zones that ask much of a name server: one of everything that RFC 4592 (wildcards), RFC 6672 (DNAME), RFC 2181
// (names of any bytes) and delegations can do, unsigned and signed in three ways, below a root and a top-level domain
// that are here, too.

import type { ZonePlan } from './zones.ts'

const NSEC: readonly string[] = []
const NSEC3 = ['-3', 'beef', '-H', '2']
const OPT_OUT = ['-3', '-', '-H', '0', '-A']
const DS = 'DS 4711 13 2 49FD46E6C4B45C55D4AC69CBD3CD34AC1AFE51DE8C5F5A4E4F3A0D7B3A7A3F33'
const LONGEST_NAME = 255
/** dnssec-signzone also hashes the wildcard below each name. */
const LONGEST_HASHED_NAME = LONGEST_NAME - 2

const HEAD = ['$TTL 300', '@ SOA ns hostmaster 1 3600 900 604800 60', '@ NS ns', 'ns A 192.0.2.1']

const TORTURE = [
  ...HEAD,
  '; RFC 4592 section 2.2.1',
  '$ORIGIN @ORIGIN@',
  '*.w TXT "this is a wildcard"',
  '*.w MX 10 host1.w',
  'sub.*.w TXT "this is not a wildcard"',
  'host1.w A 192.0.2.2',
  '_ssh._tcp.host1.w SRV 0 0 22 host1.w',
  '_ssh._tcp.host2.w SRV 0 0 22 host2.w',
  'subdel.w NS ns.elsewhere.invalid.',
  'subdel.w NS ns.subdel.w',
  'ns.subdel.w A 192.0.2.3',
  '; wildcards below wildcards, in the middle, as aliases, around names',
  '*.*.twice A 192.0.2.4',
  'a.*.middle A 192.0.2.5',
  '*.alias CNAME host1.w',
  '*.self CNAME x.self',
  '*.far CNAME nowhere.elsewhere.invalid.',
  'x.hides A 192.0.2.6',
  '*.hides TXT "hidden by x"',
  'a.b.c.hides TXT "and by the names above it"',
  '; DNAME: chains, itself, twice, with other data',
  'd1 DNAME w',
  'd2 DNAME d1',
  'd2 TXT "data at the DNAME itself"',
  'circle DNAME circle',
  'there DNAME back',
  'back DNAME there',
  'again DNAME target',
  'q.target CNAME r.again',
  'r.target A 192.0.2.7',
  'out DNAME elsewhere.invalid.',
  '; delegations: signed, unsigned, glue inside and beside, cuts below cuts, data below cuts',
  'cut1 NS ns.cut1',
  'cut1 NS ns.cut2',
  'ns.cut1 A 192.0.2.9',
  'data.cut1 TXT "not ours"',
  'below.cut1 NS ns.below.cut1',
  'cut2 NS ns.cut2',
  `cut2 ${DS}`,
  'ns.cut2 AAAA 2001:db8::9',
  'cut3 NS cut3',
  'cut3 A 192.0.2.10',
  'unsigned.ent1 NS ns.elsewhere.invalid.',
  'a.b.unsigned.ent2 NS ns.elsewhere.invalid.',
  'signed.ent3 NS ns.elsewhere.invalid.',
  `signed.ent3 ${DS}`,
  'to-cut CNAME x.cut1',
  'to-ent CNAME ent1',
  'x.y.z A 192.0.2.11',
  '; names of any bytes, and internationalized ones',
  '\\000 A 192.0.2.12',
  '\\255.\\000\\001 A 192.0.2.13',
  'a\\.b A 192.0.2.14',
  '\\032\\@\\"\\; A 192.0.2.15',
  'UPPER.Case A 192.0.2.16',
  'xn--bcher-kva A 192.0.2.17',
  '*.xn--e1afmkfd TXT "wildcard below an IDN"',
  '; services',
  'www HTTPS 1 . alpn=h2',
  'www A 192.0.2.18',
  'service SVCB 0 www',
  'service2 HTTPS 0 www',
  'to-www CNAME www',
]

/** As long as a name can be, and one byte shorter; with a wildcard, and with a DNAME that makes names too long. */
function longNames(origin: string, longest: number): string[] {
  const label = 'l'.repeat(63)
  const room = longest - (origin === '.' ? 1 : origin.length + 1)
  const name = (bytes: number): string => {
    const labels: string[] = []
    for (let left = bytes; left > 1; left -= 64) labels.push(label.slice(0, Math.min(63, left - 1)))
    return labels.join('.')
  }
  return [
    `${name(room)} A 192.0.2.19`,
    `${name(room - 2)} A 192.0.2.20`,
    `*.${name(room - 100)} A 192.0.2.21`,
    `long DNAME ${name(room - 60)}`,
  ]
}

/** A chain of NSEC without one signature. */
const BARE = [...HEAD, 'www A 192.0.2.22', '*.w TXT "wildcard"', 'x.ent A 192.0.2.23', 'cut NS ns.elsewhere.invalid.']

const ROOT = [
  ...HEAD,
  'com NS ns.nic.com',
  'ns.nic.com A 192.0.2.30',
  `com ${DS}`,
  'net NS ns.nic.com',
  'tld NS ns.tld',
  'ns.tld A 192.0.2.31',
  `tld ${DS}`,
  'arpa NS ns.tld',
  'torture NS ns.tld',
  'xn--p1ai NS ns.elsewhere.invalid.',
]

const TLD = [
  ...HEAD,
  'plain NS ns.plain',
  'ns.plain A 192.0.2.32',
  'nsec NS ns.nsec',
  `nsec ${DS}`,
  ...Array.from({ length: 40 }, (_, i) => `d${i} NS ns${i % 3}.elsewhere.invalid.`),
  ...Array.from({ length: 5 }, (_, i) => `d${i * 7} ${DS}`),
  'e1.ent NS ns.elsewhere.invalid.',
  'e2.ent NS ns.elsewhere.invalid.',
]

const ARPA = [
  ...HEAD,
  'in-addr NS ns',
  'ip6 NS ns.ip6',
  'ns.ip6 AAAA 2001:db8::33',
  'e164 NS ns.elsewhere.invalid.',
  'home NS blackhole.elsewhere.invalid.',
]

export function torturePlans(): ZonePlan[] {
  const plan = (origin: string, lines: readonly string[], how?: readonly string[]): ZonePlan => ({
    origin,
    text: `${lines.join('\n').replaceAll('@ORIGIN@', origin)}\n`,
    how,
  })
  const torture = (origin: string, how?: readonly string[]) =>
    plan(
      origin,
      [...TORTURE, ...longNames(origin, how?.includes('-3') === true ? LONGEST_HASHED_NAME : LONGEST_NAME)],
      how,
    )
  return [
    plan('.', ROOT, NSEC),
    plan('tld.', TLD, OPT_OUT),
    plan('arpa.', ARPA),
    { ...plan('bare.tld.', BARE, NSEC), isStripped: true },
    torture('plain.tld.'),
    torture('nsec.tld.', NSEC),
    torture('nsec3.torture.', NSEC3),
    torture('optout.torture.', OPT_OUT),
  ]
}
