// What each odd query must get from us, with the RFC that says so. The first row that fits counts; every query of
// odd-queries.ts has one, and at least one of NSD, Knot and BIND answers the same way unless `alone` says why not.

interface Expectation {
  readonly queries: RegExp
  readonly outcome: string
  readonly rfc: string
  readonly alone?: string
}

const TABLE: readonly Expectation[] = [
  {
    queries: /^CH version\.server\./u,
    outcome: 'NOERROR',
    rfc: 'RFC 4892 3',
    alone: 'NSD and Knot have the name only as TXT, BIND not at all',
  },
  { queries: /^CH (version|hostname|id)\./u, outcome: 'NOERROR', rfc: 'RFC 4892 3' },
  {
    queries: /^class (ANY|255)/u,
    outcome: 'REFUSED',
    rfc: 'RFC 1035 3.2.5',
    alone: 'an answer for every class can never be authoritative, and only mistakes ask for it',
  },
  { queries: /^(CH|class) /u, outcome: 'REFUSED', rfc: 'RFC 1035 4.1.1' },
  {
    queries: /^opcode 4/u,
    outcome: 'NOTIMP',
    rfc: 'RFC 1035 4.1.1',
    alone: 'there are no secondary zones that NOTIFY could be about',
  },
  { queries: /^opcode 5/u, outcome: 'NOTIMP', rfc: 'RFC 2136 3.1' },
  { queries: /^opcode /u, outcome: 'NOTIMP', rfc: 'RFC 1035 4.1.1, RFC 8906 3.1.4' },
  {
    queries: /^TSIG (of an unknown key|with a compressed key|behind another record)/u,
    outcome: 'NOTAUTH',
    rfc: 'RFC 8945 5.2.1',
  },
  {
    queries: /^TSIG (not last|twice|of class IN|cut off|empty|with bytes behind it)/u,
    outcome: 'FORMERR',
    rfc: 'RFC 8945 5.1 and 5.2',
  },
  {
    queries: /^IXFR with the SOA, elsewhere|^AXFR (below|elsewhere)/u,
    outcome: 'REFUSED',
    rfc: 'RFC 5936 2.2.1',
    alone: 'transfers are not offered of any zone, so it does not matter which one it is',
  },
  { queries: /^IXFR with the SOA/u, outcome: 'REFUSED', rfc: 'RFC 1995 4' },
  {
    queries: /^IXFR /u,
    outcome: 'FORMERR',
    rfc: 'RFC 1995 3',
    alone: 'the others look whether the client may, before they look at what it sent',
  },
  { queries: /^AXFR with an authority/u, outcome: 'FORMERR', rfc: 'RFC 5936 2.1.4' },
  { queries: /^AXFR /u, outcome: 'REFUSED', rfc: 'RFC 5936 2.2.1' },
  {
    queries: /^TYPE0 /u,
    outcome: 'FORMERR',
    rfc: 'RFC 6895 3.1',
    alone: 'the type is reserved, and no zone can have it',
  },
  { queries: /^(TKEY|TSIG|OPT) (over|below|elsewhere)/u, outcome: 'FORMERR', rfc: 'RFC 6895 3.1' },
  { queries: /^(outside: |CD elsewhere|[A-Z0-9]+ elsewhere)/u, outcome: 'REFUSED', rfc: 'RFC 1035 4.1.1' },
  { queries: /^[A-Z0-9]+ (over|below)/u, outcome: 'NOERROR', rfc: 'RFC 3597 3, RFC 2308 2.2' },
  { queries: /^CD in a denial/u, outcome: 'NXDOMAIN', rfc: 'RFC 4035 3' },
  { queries: /^([A-Z]+|rcode) in the query|^every flag/u, outcome: 'NOERROR', rfc: 'RFC 1035 4.1.1, RFC 8906 3.1.3' },
  { queries: /^(a response|one byte|ends in the header)/u, outcome: 'silence', rfc: 'RFC 1035 4.1.1' },
  { queries: /^(no|two) question/u, outcome: 'FORMERR', rfc: 'RFC 9619 3, RFC 7873 5.4' },
  {
    queries: /^(ends in|trailing bytes|a name|a label|an? (answer|authority))/u,
    outcome: 'FORMERR',
    rfc: 'RFC 1035 4.1',
  },
  {
    queries: /^(two OPT|OPT (in|not|announced|cut|with half|with an overlong))/u,
    outcome: 'FORMERR',
    rfc: 'RFC 6891 6.1.1',
  },
  { queries: /^EDNS version/u, outcome: 'BADVERS', rfc: 'RFC 6891 6.1.3' },
  { queries: /^(a cookie of|client cookie and a short)/u, outcome: 'FORMERR', rfc: 'RFC 7873 5.2.2' },
  {
    queries: /^(an additional|OPT with|EDNS with|NSID|client|keepalive|padding|an unknown option)/u,
    outcome: 'NOERROR',
    rfc: 'RFC 6891 6.1.1 and 6.1.2',
  },
]

export function expectationFor(label: string): Expectation | undefined {
  return TABLE.find(({ queries }) => queries.test(label))
}
