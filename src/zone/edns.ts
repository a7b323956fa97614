// EDNS (RFC 6891): what the client said in its OPT record, and the one we send back, with NSID (RFC 5001), TCP
// keepalive (RFC 7828) and cookies (RFC 7873, 9018).

import { RCODE, TYPE } from '../dns/types.ts'
import type { Query, View } from './query.ts'
import { skipName } from './read-name.ts'
import { SipHash } from './siphash.ts'
import { readTsig } from './tsig.ts'

const OPTION = { nsid: 3, cookie: 10, keepalive: 11 } as const
const OPT_HEADER_BYTES = 11
const CLIENT_COOKIE_BYTES = 8
const SERVER_COOKIE_BYTES = 16

/** What cookies and keepalive need beyond the query; one per thread. */
export class EdnsContext {
  /** Client address of the packet at hand: 4 or 16 bytes. */
  readonly address: Uint8Array = new Uint8Array(16)
  addressLength = 4
  /** Seconds since the epoch, refreshed by the transport now and then. */
  nowSeconds = 0
  /** In units of 100 ms. */
  readonly keepaliveTenths: number
  readonly sip: SipHash
  readonly scratch: Uint8Array = new Uint8Array(32)

  constructor(cookieSecret: Uint8Array, keepaliveTenths: number) {
    this.sip = new SipHash(cookieSecret)
    this.keepaliveTenths = keepaliveTenths
  }
}

/** Reads the additional records, which start at `start`. Returns NOERROR, or the rcode that ends the matter. */
export function readAdditional(q: Query, start: number, records: number): number {
  const { packet, base, length } = q
  let at = start
  for (let i = 0; i < records; i++) {
    const owner = at
    at = skipName(q, at)
    if (at < 0 || at + 10 > length) return RCODE.FORMERR
    const type = (packet[base + at] << 8) | packet[base + at + 1]
    const rdataLength = (packet[base + at + 8] << 8) | packet[base + at + 9]
    if (at + 10 + rdataLength > length) return RCODE.FORMERR
    if (type === TYPE.OPT) {
      if (q.edns || packet[base + owner] !== 0) return RCODE.FORMERR
      const problem = readOpt(q, at, rdataLength)
      if (problem !== RCODE.NOERROR) return problem
    } else if (type === TYPE.TSIG) {
      // It is the last record, or the message is malformed (RFC 8945 section 5.1).
      const problem = i < records - 1 ? RCODE.FORMERR : readTsig(q, owner, at, rdataLength)
      if (problem !== RCODE.NOERROR) return problem
    }
    at += 10 + rdataLength
  }
  if (at !== length) return RCODE.FORMERR
  return q.tsigKeyLength === 0 ? RCODE.NOERROR : RCODE.NOTAUTH // no keys are configured
}

function readOpt(q: Query, at: number, rdataLength: number): number {
  const { packet, base } = q
  q.edns = true
  const size = (packet[base + at + 2] << 8) | packet[base + at + 3]
  q.clientBytes = size < 512 ? 512 : size
  q.ednsVersion = packet[base + at + 5]
  q.dnssecOk = (packet[base + at + 6] & 0x80) !== 0
  if (q.ednsVersion !== 0) return RCODE.NOERROR // options of other versions mean nothing to us; BADVERS follows
  let option = at + 10
  const end = option + rdataLength
  while (option < end) {
    if (option + 4 > end) return RCODE.FORMERR
    const code = (packet[base + option] << 8) | packet[base + option + 1]
    const length = (packet[base + option + 2] << 8) | packet[base + option + 3]
    option += 4
    if (option + length > end) return RCODE.FORMERR
    if (code === OPTION.nsid) q.nsidAsked = true
    else if (code === OPTION.keepalive) q.keepaliveAsked = q.tcp
    else if (code === OPTION.cookie) {
      // RFC 7873 section 5.2.2: 8 bytes, or 16 to 40.
      if (length !== CLIENT_COOKIE_BYTES && (length < 16 || length > 40)) return RCODE.FORMERR
      // Of several, the first counts (RFC 7873 section 5.2).
      if (q.cookieLength === 0) {
        for (let i = 0; i < length; i++) q.cookie[i] = packet[base + option + i]
        q.cookieLength = length
      }
    }
    option += length
  }
  return RCODE.NOERROR
}

/** Bytes our OPT will take. */
export function optBytes(q: Query, view: View): number {
  if (!q.edns) return 0
  let bytes = OPT_HEADER_BYTES
  if (q.nsidAsked && view.nsid !== undefined) bytes += 4 + view.nsid.length
  if (q.cookieLength > 0) bytes += 4 + CLIENT_COOKIE_BYTES + SERVER_COOKIE_BYTES
  if (q.keepaliveAsked) bytes += 6
  return bytes
}

/** Writes our OPT at the end of the response; room was set aside for it. */
export function emitOpt(q: Query, view: View, context: EdnsContext): void {
  const { packet } = q
  const start = q.base + q.at
  packet[start] = 0
  packet[start + 1] = 0
  packet[start + 2] = TYPE.OPT
  packet[start + 3] = view.udpBytes >> 8
  packet[start + 4] = view.udpBytes
  packet[start + 5] = q.rcode >> 4
  packet[start + 6] = 0
  packet[start + 7] = q.dnssecOk ? 0x80 : 0
  packet[start + 8] = 0
  let at = start + OPT_HEADER_BYTES
  if (q.nsidAsked && view.nsid !== undefined) {
    at = optionHeader(packet, at, OPTION.nsid, view.nsid.length)
    for (let i = 0; i < view.nsid.length; i++) packet[at++] = view.nsid[i]
  }
  if (q.cookieLength > 0) at = emitCookie(q, context, at)
  if (q.keepaliveAsked) {
    at = optionHeader(packet, at, OPTION.keepalive, 2)
    packet[at++] = context.keepaliveTenths >> 8
    packet[at++] = context.keepaliveTenths
  }
  const rdataLength = at - start - OPT_HEADER_BYTES
  packet[start + 9] = rdataLength >> 8
  packet[start + 10] = rdataLength
  q.at = at - q.base
  q.optLength = at - start
  q.additionals++
}

/** RFC 9018 section 4: client cookie, then version 1, three zero bytes, timestamp, SipHash-2-4 over all that and the address. */
function emitCookie(q: Query, context: EdnsContext, start: number): number {
  const { packet } = q
  const { scratch, nowSeconds } = context
  for (let i = 0; i < CLIENT_COOKIE_BYTES; i++) scratch[i] = q.cookie[i]
  scratch[8] = 1
  scratch[9] = 0
  scratch[10] = 0
  scratch[11] = 0
  scratch[12] = nowSeconds >>> 24
  scratch[13] = nowSeconds >>> 16
  scratch[14] = nowSeconds >>> 8
  scratch[15] = nowSeconds
  for (let i = 0; i < context.addressLength; i++) scratch[16 + i] = context.address[i]
  const at = optionHeader(packet, start, OPTION.cookie, CLIENT_COOKIE_BYTES + SERVER_COOKIE_BYTES)
  for (let i = 0; i < 16; i++) packet[at + i] = scratch[i]
  context.sip.hash(scratch, 16 + context.addressLength, packet, at + 16)
  return at + 24
}

function optionHeader(packet: Uint8Array, at: number, code: number, length: number): number {
  packet[at] = 0
  packet[at + 1] = code
  packet[at + 2] = length >> 8
  packet[at + 3] = length
  return at + 4
}
