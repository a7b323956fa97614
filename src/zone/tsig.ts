// TSIG (RFC 8945) as far as a server without keys goes: a query that is signed gets NOTAUTH with the error BADKEY, in a
// TSIG record without a MAC that names the key it did not find (section 5.2.1); one that is malformed gets FORMERR.

import { RCODE, TYPE } from '../dns/types.ts'
import type { EdnsContext } from './edns.ts'
import type { Query } from './query.ts'
import { expandName, skipName } from './read-name.ts'

const CLASS_ANY = 255
const BADKEY = 17
const FUDGE_SECONDS = 300
/** Type, class, TTL and length. */
const RECORD_HEADER_BYTES = 10
/** Of the rdata behind the algorithm: time (6), fudge, MAC size; then original ID, error and the length of other data. */
const BEFORE_MAC_BYTES = 10
const BEHIND_MAC_BYTES = 6

/** Takes the key and the algorithm of the record whose owner is at `owner` and whose type is at `at`; returns the rcode. */
export function readTsig(q: Query, owner: number, at: number, rdataLength: number): number {
  const { packetView, base } = q
  if (packetView.getUint16(base + at + 2) !== CLASS_ANY) return RCODE.FORMERR
  const keyLength = expandName(q, owner, q.tsigNames, 0)
  const start = at + RECORD_HEADER_BYTES
  const end = start + rdataLength
  const algorithmLength = keyLength < 0 ? -1 : expandName(q, start, q.tsigNames, keyLength)
  // The algorithm is not compressed (RFC 8945 section 4.2), so it is as long here as there.
  const mac = start + algorithmLength + BEFORE_MAC_BYTES
  if (algorithmLength < 0 || mac > end || skipName(q, start) !== start + algorithmLength) return RCODE.FORMERR
  const behind = mac + packetView.getUint16(base + mac - 2) + BEHIND_MAC_BYTES
  if (behind > end || behind + packetView.getUint16(base + behind - 2) !== end) return RCODE.FORMERR
  q.tsigKeyLength = keyLength
  q.tsigAlgorithmLength = algorithmLength
  return RCODE.NOERROR
}

/** The last record of the response; it is left out where it does not fit. */
export function emitTsig(q: Query, context: EdnsContext): void {
  const { packet, base, tsigNames, tsigKeyLength, tsigAlgorithmLength } = q
  const rdataLength = tsigAlgorithmLength + BEFORE_MAC_BYTES + BEHIND_MAC_BYTES
  const most = q.tcp ? q.capacity : Math.min(q.capacity, q.clientBytes)
  if (q.at + tsigKeyLength + RECORD_HEADER_BYTES + rdataLength > most) return
  let at = base + q.at
  for (let i = 0; i < tsigKeyLength; i++) packet[at++] = tsigNames[i]
  at = put16(packet, at, TYPE.TSIG)
  at = put16(packet, at, CLASS_ANY)
  at = put16(packet, at, 0)
  at = put16(packet, at, 0)
  at = put16(packet, at, rdataLength)
  for (let i = 0; i < tsigAlgorithmLength; i++) packet[at++] = tsigNames[tsigKeyLength + i]
  at = put16(packet, at, Math.floor(context.nowSeconds / 2 ** 32))
  at = put16(packet, at, context.nowSeconds >>> 16)
  at = put16(packet, at, context.nowSeconds)
  at = put16(packet, at, FUDGE_SECONDS)
  at = put16(packet, at, 0)
  packet[at++] = packet[base]
  packet[at++] = packet[base + 1]
  at = put16(packet, at, BADKEY)
  at = put16(packet, at, 0)
  q.at = at - base
  // The OPT record is no longer the end of the response.
  q.optLength = 0
  q.additionals++
}

function put16(packet: Uint8Array, at: number, value: number): number {
  packet[at] = value >> 8
  packet[at + 1] = value
  return at + 2
}
