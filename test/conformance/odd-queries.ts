// Everything that is not a plain question for a type in class IN: other classes and opcodes, transfers, EDNS in odd
// forms, and messages that are broken in one place. The labels are what rules-odd.ts goes by.

import type { Edns, ResourceRecord } from '../../src/dns/message.ts'
import { parseName } from '../../src/dns/name.ts'
import { CLASS, TYPE } from '../../src/dns/types.ts'
import { opt, type Query, query, type Shape } from './queries.ts'

export function oddities(): Query[] {
  const at = 'www2.corp.example.'
  const odd = (label: string, shape: Shape, more: Partial<Query> = {}, name = at, type = 'A'): Query =>
    query(name, type, shape, { label, odd: true, ...more })
  const raw = (label: string, edit: (bytes: number[]) => number[], shape: Shape = {}): Query => {
    const base = odd(label, shape)
    return { ...base, bytes: Uint8Array.from(edit([...base.bytes])) }
  }
  const option = (label: string, code: number, data: number[], more: Partial<Edns> = {}): Query =>
    odd(label, { edns: opt({ options: [{ code, data: Uint8Array.from(data) }], ...more }) })
  const eight = [1, 2, 3, 4, 5, 6, 7, 8]
  const set =
    (at: number, ...values: number[]) =>
    (bytes: number[]) =>
      bytes.with(at, values[0]).toSpliced(at, values.length, ...values)
  const optRecord = (owner: number[], ttl = [0, 0, 0, 0], rdata: number[] = []): number[] => [
    ...owner,
    0,
    41,
    4,
    208,
    ...ttl,
    rdata.length >> 8,
    rdata.length & 255,
    ...rdata,
  ]
  const A_RECORD = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1]
  return [
    ...['version.bind.', 'hostname.bind.', 'id.server.', 'version.server.', 'other.bind.', 'authors.bind.'].flatMap(
      (name) => [
        odd(`CH ${name}`, {}, { klass: CLASS.CH }, name, 'TXT'),
        odd(`CH ${name} with EDNS`, { edns: opt() }, { klass: CLASS.CH }, name, 'TXT'),
        odd(`CH ${name} ANY`, {}, { klass: CLASS.CH }, name, 'ANY'),
        odd(`CH ${name} A`, {}, { klass: CLASS.CH }, name, 'A'),
      ],
    ),
    ...[CLASS.CH, CLASS.HS, CLASS.NONE, CLASS.ANY, 0, 2, 1000].map((klass) => odd(`class ${klass}`, {}, { klass })),
    ...['corp.example.', 'nx.corp.example.', 'www.corp.example.'].map((name) =>
      odd(`class ANY ${name}`, {}, { klass: CLASS.ANY }, name),
    ),
    ...[1, 2, 3, 4, 5, 6, 7, 15].flatMap((opcode) => [
      odd(`opcode ${opcode}`, { opcode }),
      odd(`opcode ${opcode} with EDNS`, { opcode, edns: opt() }),
      odd(`opcode ${opcode} SOA`, { opcode }, {}, 'corp.example.', 'SOA'),
      odd(`opcode ${opcode} SOA elsewhere`, { opcode, rd: true }, {}, 'elsewhere.test.', 'SOA'),
    ]),
    ...['AXFR', 'IXFR', 'MAILA', 'MAILB', 'TKEY', 'TSIG', 'OPT', 'TYPE0', 'TYPE65535', 'NULL', 'RRSIG', 'NSEC'].flatMap(
      (type) => [
        odd(`${type} over UDP`, {}, {}, 'corp.example.', type),
        odd(`${type} over UDP, signed zone`, { edns: opt({ do: true }) }, {}, 'secure.example.', type),
        odd(`${type} below the apex`, {}, {}, at, type),
        odd(`${type} elsewhere`, {}, {}, 'elsewhere.test.', type),
        odd(`${type} over TCP`, {}, { transport: 'tcp' }, 'corp.example.', type),
      ],
    ),
    ...signedQueries(),
    ...(['udp', 'tcp'] as const).flatMap((transport) => [
      odd(
        `IXFR with the SOA of the client, ${transport}`,
        { authorities: [SOA] },
        { transport },
        'corp.example.',
        'IXFR',
      ),
      odd(
        `IXFR with the SOA, elsewhere, ${transport}`,
        { authorities: [SOA] },
        { transport },
        'elsewhere.test.',
        'IXFR',
      ),
      odd(`IXFR without the SOA, ${transport}`, {}, { transport }, 'corp.example.', 'IXFR'),
    ]),
    odd('AXFR with an authority', { authorities: [SOA] }, { transport: 'tcp' }, 'corp.example.', 'AXFR'),
    ...[1, 2, 3, 6, 15].map((opcode) =>
      odd(`opcode ${opcode} with every flag`, { opcode, aa: true, rd: true, ra: true, z: true, ad: true, cd: true }),
    ),
    odd('every flag', { aa: true, tc: true, rd: true, ra: true, z: true, ad: true, cd: true }),
    odd('CD in a denial', { cd: true }, {}, 'nx.corp.example.'),
    odd('CD elsewhere', { cd: true }, {}, 'elsewhere.test.'),
    ...['.', 'example.', 'elsewhere.test.', 'xcorp.example.', 'com.', 'arpa.', '192.in-addr.arpa.'].flatMap((name) =>
      ['A', 'NS', 'SOA', 'DS', 'ANY'].flatMap((type) => [
        odd(`outside: ${name} ${type}`, {}, {}, name, type),
        odd(`outside: ${name} ${type} with EDNS, RD`, { rd: true, edns: opt({ do: true }) }, {}, name, type),
      ]),
    ),
    odd('AA in the query', { aa: true }),
    odd('TC in the query', { tc: true }),
    odd('RA in the query', { ra: true }),
    odd('Z in the query', { z: true }),
    odd('AD in the query', { ad: true }),
    odd('CD in the query', { cd: true }),
    odd('rcode in the query', { rcode: 3 }),
    odd('a response', { qr: true }),
    raw('no question', (bytes) => set(5, 0)(bytes.slice(0, 12))),
    raw('no question, EDNS', (bytes) => [...set(11, 1)(set(5, 0)(bytes.slice(0, 12))), ...optRecord([0])]),
    raw('no question, but bytes', set(5, 0)),
    raw('two questions', (bytes) => [...set(5, 2)(bytes), ...bytes.slice(12)]),
    raw('two questions announced', set(5, 2)),
    raw('ends in the header', (bytes) => bytes.slice(0, 11)),
    raw('ends in the name', (bytes) => bytes.slice(0, 20)),
    raw('ends in the type', (bytes) => bytes.slice(0, -3)),
    raw('ends in the class', (bytes) => bytes.slice(0, -1)),
    raw('one byte', () => [0]),
    raw('trailing bytes', (bytes) => [...bytes, 1, 2, 3]),
    raw('trailing bytes after OPT', (bytes) => [...bytes, 1, 2, 3], { edns: opt() }),
    raw('an answer announced', set(7, 1)),
    raw('an answer in the query', (bytes) => [...set(7, 1)(bytes), ...A_RECORD]),
    raw('an authority in the query', (bytes) => [...set(9, 1)(bytes), ...A_RECORD]),
    raw('an additional in the query', (bytes) => [...set(11, 1)(bytes), ...A_RECORD]),
    raw('an additional before OPT', (bytes) => [...set(11, 2)(bytes), ...A_RECORD, ...optRecord([0])]),
    raw('an additional after OPT', (bytes) => [...set(11, 2)(bytes), ...optRecord([0]), ...A_RECORD]),
    raw('OPT in the answer', (bytes) => [...set(7, 1)(bytes), ...optRecord([0])]),
    raw('OPT in the authority', (bytes) => [...set(9, 1)(bytes), ...optRecord([0])]),
    raw('two OPT', (bytes) => [...set(11, 2)(bytes), ...optRecord([0]), ...optRecord([0])]),
    raw('OPT not at the root', (bytes) => [...set(11, 1)(bytes), ...optRecord([1, 0x61, 0])]),
    raw('OPT announced', set(11, 1)),
    raw('OPT cut off', (bytes) => [...set(11, 1)(bytes), ...optRecord([0]).slice(0, -2)]),
    raw('OPT with half an option', (bytes) => [...set(11, 1)(bytes), ...optRecord([0], [0, 0, 0, 0], [0, 3, 0])]),
    raw('OPT with an overlong option', (bytes) => [
      ...set(11, 1)(bytes),
      ...optRecord([0], [0, 0, 0, 0], [0, 3, 0, 9, 1]),
    ]),
    raw('OPT with an rcode', (bytes) => [...set(11, 1)(bytes), ...optRecord([0], [1, 0, 0, 0])]),
    raw('OPT with Z bits', (bytes) => [...set(11, 1)(bytes), ...optRecord([0], [0, 0, 0x7f, 0xff])]),
    raw('EDNS version 1', (bytes) => [...set(11, 1)(bytes), ...optRecord([0], [0, 1, 0, 0])]),
    raw('EDNS version 1, DO', (bytes) => [...set(11, 1)(bytes), ...optRecord([0], [0, 1, 0x80, 0])]),
    raw('EDNS version 255 with an unknown option', (bytes) => [
      ...set(11, 1)(bytes),
      ...optRecord([0], [0, 255, 0, 0], [0xfd, 0xe9, 0, 1, 7]),
    ]),
    raw('a name that points to itself', (bytes) => [...bytes.slice(0, 12), 0xc0, 12, ...bytes.slice(-4)]),
    raw('a name that points ahead', (bytes) => [...bytes.slice(0, 12), 0xc0, 18, ...bytes.slice(-4)]),
    raw('a name that points into the header', (bytes) => [...bytes.slice(0, 12), 0xc0, 4, ...bytes.slice(-4)]),
    raw('a label of kind 0x40', (bytes) => set(12, 0x41)(bytes)),
    raw('a label of kind 0x80', (bytes) => set(12, 0x81)(bytes)),
    raw('a name of 256 bytes', (bytes) => [
      ...bytes.slice(0, 12),
      ...'x'
        .repeat(127)
        .split('')
        .flatMap(() => [1, 0x78]),
      1,
      0x78,
      0,
      ...bytes.slice(-4),
    ]),
    ...[0, 100, 511, 512, 65535].map((udpBytes) =>
      odd(
        `EDNS with ${udpBytes} bytes`,
        { edns: opt({ udpBytes }) },
        { udpBytes: Math.max(512, udpBytes) },
        'big.corp.example.',
      ),
    ),
    option('NSID', 3, []),
    option('NSID with data', 3, [1, 2]),
    option('client cookie', 10, eight),
    option('client cookie and a wrong server cookie', 10, [...eight, ...eight, ...eight]),
    option('client cookie and a short server cookie', 10, [...eight, 1, 2, 3]),
    option('a cookie of 5 bytes', 10, [1, 2, 3, 4, 5]),
    option(
      'a cookie of 41 bytes',
      10,
      Array.from({ length: 41 }, () => 7),
    ),
    option('client subnet', 8, [0, 1, 24, 0, 192, 0, 2]),
    option('client subnet, bad family', 8, [0, 9, 24, 0, 192, 0, 2]),
    option('keepalive', 11, []),
    option('padding', 12, [0, 0, 0, 0]),
    option('an unknown option', 65001, [1]),
    odd(
      'client cookie over TCP',
      { edns: opt({ options: [{ code: 10, data: Uint8Array.from(eight) }] }) },
      { transport: 'tcp' },
    ),
    odd(
      'keepalive over TCP',
      { edns: opt({ options: [{ code: 11, data: new Uint8Array(0) }] }) },
      { transport: 'tcp' },
    ),
    odd('padding over TCP', { edns: opt({ options: [{ code: 12, data: new Uint8Array(9) }] }) }, { transport: 'tcp' }),
  ]
}

const SOA: ResourceRecord = {
  name: parseName('corp.example.'),
  type: TYPE.SOA,
  klass: CLASS.IN,
  ttlSeconds: 0,
  rdata: Uint8Array.from([...parseName('ns1.corp.example.'), ...parseName('h.corp.example.'), ...new Uint8Array(20)]),
}

/** TSIG (RFC 8945): nobody has this key, and in some queries the record is not what it should be. */
function signedQueries(): Query[] {
  const MAC_BYTES = 32
  const numbers = [0, 0, 0x6b, 0x49, 0xd2, 0, 1, 0x2c, 0, MAC_BYTES, ...new Uint8Array(MAC_BYTES), 0, 0, 0, 0, 0, 0]
  const rdata = [...parseName('hmac-sha256.'), ...numbers]
  const record = (data: readonly number[], klass = 255, owner: readonly number[] = [...parseName('key.example.')]) => [
    ...[...owner, 0, 250, 0, klass, 0, 0, 0, 0, data.length >> 8, data.length & 255],
    ...data,
  ]
  const address = [...parseName('www.example.'), 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 192, 0, 2, 1]
  const signed = (
    label: string,
    records: readonly (readonly number[])[],
    shape: Shape = {},
    more: Partial<Query> = {},
  ) => {
    const base = query('www2.corp.example.', 'A', shape, { label: `TSIG ${label}`, odd: true, ...more })
    const bytes = Uint8Array.from([...base.bytes, ...records.flat()])
    bytes[11] += records.length
    return { ...base, bytes }
  }
  return [
    signed('of an unknown key', [record(rdata)]),
    signed('of an unknown key over TCP', [record(rdata)], {}, { transport: 'tcp' }),
    signed('of an unknown key with EDNS', [record(rdata)], { edns: opt({ do: true }) }),
    signed('with a compressed key', [record(rdata, 255, [0xc0, 12])]),
    signed('behind another record', [address, record(rdata)]),
    signed('not last', [record(rdata), address]),
    signed('twice', [record(rdata), record(rdata)]),
    signed('of class IN', [record(rdata, 1)]),
    signed('cut off', [record(rdata.slice(0, -7))]),
    signed('cut off in the algorithm', [record(rdata.slice(0, 5))]),
    signed('empty', [record([])]),
    signed('with bytes behind it', [[...record(rdata), 1, 2, 3]]),
  ]
}
