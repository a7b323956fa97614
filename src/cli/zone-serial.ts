// A newer serial written into the text of a zone, with every other byte of it left alone.

import { Tokens } from '../dns/tokens.ts'

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const

/** True when `serial` is newer than `than` (RFC 1982). */
export function isNewerSerial(serial: number, than: number): boolean {
  const ahead = (serial - than) >>> 0
  return ahead > 0 && ahead < 0x8000_0000
}

/** The serial after `serial`: one more, or today's first (YYYYMMDD01) when it is of that kind and an older day's. */
export function nextSerial(serial: number, now: Date): number {
  const today = Number(`${now.toISOString().slice(0, 10).replaceAll('-', '')}01`)
  if (isDated(serial) && today > serial) return today
  // Zero means "none yet" to some secondaries.
  return (serial + 1) >>> 0 || 1
}

function isDated(serial: number): boolean {
  const [, year, month, day] = /^((?:19|20)\d\d)(\d\d)(\d\d)\d\d$/u.exec(String(serial)) ?? []
  return Number(year) >= 1980 && Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= 31
}

/** Undefined when the serial is not written out in the text, such as in an SOA record in RFC 3597 form. */
export function replaceSerial(text: Uint8Array, serial: number): Uint8Array | undefined {
  const place = findSerial(text)
  if (place === undefined) return undefined
  return Buffer.concat([text.subarray(0, place.start), Buffer.from(String(serial)), text.subarray(place.end)])
}

function findSerial(text: Uint8Array): { start: number; end: number } | undefined {
  const tokens = new Tokens(text)
  let at = BYTE_ORDER_MARK.every((byte, index) => text[index] === byte) ? BYTE_ORDER_MARK.length : 0
  while (at < text.length) {
    at = tokens.readEntry(at, text.length, true)
    const soa = soaIndex(tokens)
    if (soa < 0) continue
    // After the type: the primary server, the mailbox, the serial. In RFC 3597 form there is no such thing.
    const serial = soa + 3
    if (tokens.text(soa + 1) === '\\#' || serial >= tokens.count) return undefined
    return { start: tokens.starts[serial], end: tokens.ends[serial] }
  }
  return undefined
}

/** The token SOA, where it stands as the type of a record; or -1. */
function soaIndex(tokens: Tokens): number {
  let index = tokens.blankStart ? 0 : 1
  // TTL and class, in either order.
  while (index < tokens.count && /^(?:\d.*|IN)$/iu.test(tokens.text(index))) index++
  return tokens.quoted[index] === 0 && /^(?:SOA|TYPE6)$/iu.test(tokens.text(index)) ? index : -1
}
