// What a packet is to a server, read strictly and by itself: RFC 1035 section 4.1, RFC 6891 section 6, RFC 7873 section 5.2.

export type Kind =
  /** A query that has a right to an answer. */
  | 'proper'
  /** Of no known opcode. */
  | 'not implemented'
  | 'malformed'
  /** Well-formed as far as it matters here; what it gets depends on more: other records, EDNS versions, cookies alone. */
  | 'other'

export interface Classified {
  readonly kind: Kind
  /** Behind the question of a proper query. */
  readonly questionEnd: number
}

const HEADER_BYTES = 12
const TYPE_OPT = 41
const TYPE_IXFR = 251
const OPTION_COOKIE = 10

/** For packets with a header and without QR. */
export function classify(packet: Uint8Array): Classified {
  const of = (kind: Kind): Classified => ({ kind, questionEnd })
  const u16 = (at: number) => (packet[at] << 8) | packet[at + 1]
  let questionEnd = HEADER_BYTES
  if (((packet[2] >> 3) & 15) !== 0) return of('not implemented')
  const [questions, answers, authorities, additionals] = [u16(4), u16(6), u16(8), u16(10)]
  if (questions > 1 || answers > 0) return of('malformed')
  if (questions === 1) {
    const end = endOfPlainName(packet, HEADER_BYTES)
    if (end < 0 || end + 4 > packet.length) return of('malformed')
    questionEnd = end + 4
  }
  // RFC 1995 section 3: the client's SOA, in the authority section.
  const isIxfr = questions === 1 && u16(questionEnd - 4) === TYPE_IXFR
  if (isIxfr && authorities === 1) return of('other')
  if (isIxfr || authorities > 0) return of('malformed')
  if (additionals === 0)
    return of(questions === 1 && questionEnd === packet.length ? kindOfQuestion(packet, questionEnd) : 'malformed')
  const opt = questionEnd + 1
  if (additionals > 1 || packet[questionEnd] !== 0) return of('other')
  if (opt + 10 > packet.length) return of('malformed')
  if (u16(opt) !== TYPE_OPT) return of('other')
  if (opt + 10 + u16(opt + 8) !== packet.length) return of('malformed')
  const version = packet[opt + 5]
  if (version !== 0) return of('other')
  for (let at = opt + 10; at < packet.length; ) {
    const length = at + 4 <= packet.length ? u16(at + 2) : packet.length
    if (at + 4 + length > packet.length) return of('malformed')
    if (u16(at) === OPTION_COOKIE && length !== 8 && (length < 16 || length > 40)) return of('malformed')
    at += 4 + length
  }
  return of(questions === 1 ? kindOfQuestion(packet, questionEnd) : 'other')
}

/** Class IN and a type of data: the rest is refused, or malformed after all. */
function kindOfQuestion(packet: Uint8Array, end: number): Kind {
  const type = (packet[end - 4] << 8) | packet[end - 3]
  const klass = (packet[end - 2] << 8) | packet[end - 1]
  return klass === 1 && type !== 0 && type !== TYPE_OPT && type !== 249 && type !== 250 ? 'proper' : 'other'
}

/** Behind a name without compression; -1 when it is none. */
function endOfPlainName(packet: Uint8Array, start: number): number {
  let at = start
  while (at < packet.length && packet[at] > 0 && packet[at] < 64) at += packet[at] + 1
  return at < packet.length && packet[at] === 0 && at + 1 - start <= 255 ? at + 1 : -1
}
