// A query and its answer as the log sees them, read from their wire bytes. One object is refilled for every query.
// Anything can be in the query: what cannot be read is left at its default, and the line is still written.

import { nameLength } from '../../dns/name.ts'
import { OPCODE, RCODE, TYPE } from '../../dns/types.ts'
import { PROTO } from '../stats.ts'

/** CoreDNS's types of answers and the class each counts as. */
export const ANSWER_CLASS = {
  NOERROR: 'success',
  DELEGATION: 'success',
  NODATA: 'denial',
  NXDOMAIN: 'denial',
  SERVERERROR: 'error',
  META: 'error',
  UPDATE: 'error',
  OTHERERROR: 'error',
} as const

export type AnswerType = keyof typeof ANSWER_CLASS

const HEADER = 12
/** Type, class, TTL and length of a record, after its name. */
const FIXED = 10

export class Exchange {
  query: Uint8Array = new Uint8Array(0)
  queryBytes = 0
  responseBytes = 0
  remote: Uint8Array = this.query
  port = 0
  proto = 0
  seconds = 0

  id = 0
  opcode = 0
  /** Length of the name at byte 12 of the query; 0 when there is no question to speak of. */
  nameBytes = 0
  type = 0
  klass = 0
  dnssecOk = false
  udpBytes = 0
  /** Bytes 2 and 3 of the answer; -1 without an answer. */
  flags = -1
  rcode = 0
  answerType: AnswerType = 'OTHERERROR'

  read(query: Uint8Array, queryBytes: number, response: Uint8Array, responseBytes: number, proto: number): void {
    this.query = query
    this.queryBytes = queryBytes
    this.responseBytes = responseBytes
    this.proto = proto
    this.#readQuery()
    this.#readResponse(response)
  }

  #readQuery(): void {
    const { query, queryBytes } = this
    this.nameBytes = 0
    this.dnssecOk = false
    let udpBytes = 0
    this.id = queryBytes >= 2 ? uint16(query, 0) : 0
    this.opcode = queryBytes >= 3 ? (query[2] >> 3) & 15 : 0
    if (queryBytes >= HEADER && uint16(query, 4) === 1) {
      const length = nameLength(query, HEADER, queryBytes - 4)
      if (length > 0) {
        const end = HEADER + length
        this.nameBytes = length
        this.type = uint16(query, end)
        this.klass = uint16(query, end + 2)
        const records = uint16(query, 6) + uint16(query, 8) + uint16(query, 10)
        const opt = findRecord(query, queryBytes, end + 4, records, TYPE.OPT)
        if (opt !== -1) {
          udpBytes = uint16(query, opt + 2)
          this.dnssecOk = (query[opt + 6] & 0x80) !== 0
        }
      }
    }
    // As CoreDNS shows it: what the client can take, so 64 KiB over TCP and never less than 512.
    this.udpBytes = this.proto === PROTO.tcp ? 65_535 : Math.max(512, udpBytes)
  }

  #readResponse(response: Uint8Array): void {
    if (this.responseBytes < HEADER) {
      this.flags = -1
      this.answerType = 'OTHERERROR'
      return
    }
    this.flags = uint16(response, 2)
    this.rcode = this.flags & 15
    // An answer with records in it says all in its header; only without them the rest is worth walking through.
    const answers = uint16(response, 6)
    this.answerType = answers > 0 ? this.#withAnswers() : this.#withoutAnswers(response)
  }

  #withAnswers(): AnswerType {
    const meta = this.#meta()
    if (meta !== undefined) return meta
    if (this.rcode === RCODE.NOERROR) return 'NOERROR'
    return this.rcode === RCODE.SERVFAIL || this.rcode === RCODE.NOTIMP ? 'SERVERERROR' : 'OTHERERROR'
  }

  #withoutAnswers(response: Uint8Array): AnswerType {
    const end = this.responseBytes
    let at = HEADER
    if (uint16(response, 4) > 0) at = skipName(response, end, at) + 4
    const authorities = uint16(response, 8)
    const opt = findRecord(response, end, at, authorities + uint16(response, 10), TYPE.OPT)
    if (opt !== -1) this.rcode |= response[opt + 4] << 4
    const meta = this.#meta()
    if (meta !== undefined) return meta
    if (this.rcode === RCODE.NXDOMAIN) return 'NXDOMAIN'
    if (this.rcode === RCODE.SERVFAIL || this.rcode === RCODE.NOTIMP) return 'SERVERERROR'
    if (this.rcode !== RCODE.NOERROR) return 'OTHERERROR'
    if (findRecord(response, end, at, authorities, TYPE.SOA) !== -1) return 'NODATA'
    return findRecord(response, end, at, authorities, TYPE.NS) !== -1 ? 'DELEGATION' : 'NOERROR'
  }

  #meta(): AnswerType | undefined {
    if (this.opcode === OPCODE.UPDATE) return 'UPDATE'
    if (this.opcode === OPCODE.NOTIFY) return 'META'
    const transfer = this.type === TYPE.AXFR || this.type === TYPE.IXFR
    return this.nameBytes > 0 && transfer ? 'META' : undefined
  }
}

/** Where the first record of this type has its type field, among `count` records from `at` on; -1 when there is none. */
function findRecord(message: Uint8Array, end: number, at: number, count: number, type: number): number {
  let from = at
  for (let i = 0; i < count; i++) {
    const fixed = skipName(message, end, from)
    if (fixed + FIXED > end) return -1
    if (uint16(message, fixed) === type) return fixed
    from = fixed + FIXED + uint16(message, fixed + 8)
  }
  return -1
}

/** The byte after the name at `at`, which may be compressed; at or beyond `end` when it is cut off. */
function skipName(message: Uint8Array, end: number, at: number): number {
  let i = at
  while (i < end) {
    const length = message[i]
    if (length === 0) return i + 1
    if (length >= 0xc0) return i + 2
    i += length + 1
  }
  return end
}

function uint16(bytes: Uint8Array, at: number): number {
  return (bytes[at] << 8) | bytes[at + 1]
}
