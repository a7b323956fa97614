// What answering needs of a server block, in the form the threads share.

import { lowerName, parseName } from '../dns/name.ts'
import type { View } from '../zone/query.ts'
import type { ServerBlock } from './config.ts'

export interface ServerIdentity {
  readonly version: string
  readonly hostname: string
}

/** With the longest name and a cookie, an answer of 512 bytes has room for this much. */
export const LONGEST_NSID = 190
/** The record is written with one-byte lengths (zone/chaos.ts). */
const LONGEST_TEXT = 254

/** `number` is the block's own; `space` that of its zones (spaces.ts). */
export function viewOf(block: ServerBlock, number: number, space: number, identity: ServerIdentity): View {
  const handsOver = block.forwards.length > 0 || block.alternates.length > 0
  let handoverRcodes = 0
  for (const { rcodes } of block.alternates) for (const rcode of rcodes) if (rcode < 16) handoverRcodes |= 1 << rcode
  return {
    block: number,
    space,
    zones: block.zones.map((name) => lowerName(parseName(name))),
    udpBytes: block.udpBytes,
    rotate: block.loadbalance,
    minimalAny: block.minimalAny,
    handsOver,
    searches: block.skydns.some(({ mode }) => mode === 'compatible'),
    handoverRcodes,
    nsid: block.nsid === undefined ? undefined : text(block.nsid).slice(0, LONGEST_NSID),
    version: text(identity.version),
    hostname: text(identity.hostname),
  }
}

function text(value: string): Uint8Array {
  return new TextEncoder().encode(value).slice(0, LONGEST_TEXT)
}
