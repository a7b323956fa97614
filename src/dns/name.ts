// Domain names. In memory a name is its uncompressed wire form: length byte, label, …, 0, with the letter
// case it was written in; comparisons ignore ASCII case (RFC 4343). Text names are RFC 1035 5.1 with escapes.

export const MAX_NAME_LENGTH = 255
export const MAX_LABEL_LENGTH = 63

/** The root name: a single 0 byte. */
export const ROOT: Uint8Array = new Uint8Array(1)

/** A text that is not a domain name; `message` says why. */
export class NameError extends Error {
  override readonly name = 'NameError'
}

const NAME_PROBLEMS = [
  'a name that is not empty',
  'no empty label (two dots in a row, or a dot in front)',
  'labels of at most 63 bytes',
  'a name of at most 255 bytes',
  'an escape \\DDD (000 to 255) or \\ and one character',
  'an absolute name, ending in a dot',
] as const
const EMPTY = -1
const EMPTY_LABEL = -2
const LABEL_TOO_LONG = -3
const NAME_TOO_LONG = -4
const BAD_ESCAPE = -5
const NO_ORIGIN = -6

/** What `encodeNameText` expected when it returned the negative number `code`. */
export function nameProblem(code: number): string {
  return NAME_PROBLEMS[-code - 1] ?? 'a domain name'
}

/**
 * The zone-file reader's way to names: encodes the text bytes `start`..`end` into `out` at `at`, without allocating.
 * Returns the wire length, or a negative code for `nameProblem`. `@` is the origin; an origin of length 0 is none.
 */
export function encodeNameText(
  text: Uint8Array,
  start: number,
  end: number,
  origin: Uint8Array,
  out: Uint8Array,
  at: number,
): number {
  if (start === end) return EMPTY
  let labelAt = at
  let to = at + 1
  if (end - start === 1) {
    if (text[start] === 0x2e) {
      out[at] = 0
      return 1
    }
    if (text[start] === 0x40) return appendOrigin(origin, out, at, at)
  }
  for (let i = start; i < end; i++) {
    let c = text[i]
    if (c === 0x2e) {
      const length = to - labelAt - 1
      if (length === 0) return EMPTY_LABEL
      if (length > MAX_LABEL_LENGTH) return LABEL_TOO_LONG
      out[labelAt] = length
      labelAt = to++
      continue
    }
    if (c === 0x5c) {
      const escape = readEscape(text, i, end)
      if (escape < 0) return BAD_ESCAPE
      c = escape & 0xff
      i += escape >> 8
    }
    out[to++] = c
  }
  const length = to - labelAt - 1
  if (length === 0) {
    out[labelAt] = 0
    return to - at > MAX_NAME_LENGTH ? NAME_TOO_LONG : to - at
  }
  if (length > MAX_LABEL_LENGTH) return LABEL_TOO_LONG
  out[labelAt] = length
  return appendOrigin(origin, out, at, to)
}

function appendOrigin(origin: Uint8Array, out: Uint8Array, at: number, to: number): number {
  const originLength = origin.length
  if (originLength === 0) return NO_ORIGIN
  const total = to - at + originLength
  if (total > MAX_NAME_LENGTH) return NAME_TOO_LONG
  for (let i = 0; i < originLength; i++) out[to + i] = origin[i]
  return total
}

/** Reads the escape whose backslash is at `at`: byte | (extra bytes consumed) << 8, or -1 when it is malformed. */
export function readEscape(text: Uint8Array, at: number, end: number): number {
  if (at + 1 >= end) return -1
  const c = text[at + 1]
  if (c < 0x30 || c > 0x39) return c | 0x100
  if (at + 3 >= end) return -1
  const tens = text[at + 2] - 0x30
  const ones = text[at + 3] - 0x30
  if (tens < 0 || tens > 9 || ones < 0 || ones > 9) return -1
  const value = (c - 0x30) * 100 + tens * 10 + ones
  return value > 255 ? -1 : value | 0x300
}

/** Wire form of a text name; a relative name needs `origin`. Characters outside ASCII become their UTF-8 bytes. */
export function parseName(text: string, origin: Uint8Array = new Uint8Array(0)): Uint8Array {
  const bytes = new TextEncoder().encode(text)
  const out = new Uint8Array(Math.max(MAX_NAME_LENGTH, bytes.length) + 2)
  const length = encodeNameText(bytes, 0, bytes.length, origin, out, 0)
  if (length < 0) throw new NameError(`Cannot read the name "${text}": expected ${nameProblem(length)}`)
  return out.slice(0, length)
}

/** Absolute text of the name at `at`, escaped as BIND prints it. The wire form must be valid. */
export function formatName(wire: Uint8Array, at = 0): string {
  if (wire[at] === 0) return '.'
  let text = ''
  for (let i = at; wire[i] !== 0 && i < wire.length; i += wire[i] + 1) {
    const labelEnd = i + 1 + wire[i]
    for (let j = i + 1; j < labelEnd; j++) text += NAME_CHARACTERS[wire[j]]
    text += '.'
  }
  return text
}

const NAME_CHARACTERS: readonly string[] = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte)
  if ('."\\;@$()'.includes(character)) return `\\${character}`
  return byte < 0x21 || byte > 0x7e ? `\\${String(byte).padStart(3, '0')}` : character
})

/** Length of the uncompressed name at `at`, or -1 when it is malformed or does not end before `end`. */
export function nameLength(wire: Uint8Array, at = 0, end = wire.length): number {
  let i = at
  while (i < end) {
    const length = wire[i]
    i += length + 1
    if (length === 0) return i - at > MAX_NAME_LENGTH ? -1 : i - at
    if (length > MAX_LABEL_LENGTH) return -1
  }
  return -1
}

/** ASCII lower case of one byte. */
export function lowerByte(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
}

/** A copy in lower case. Length bytes are below 64 and so never look like letters. */
export function lowerName(wire: Uint8Array): Uint8Array {
  return wire.map(lowerByte)
}

/** Equal, ignoring ASCII case. */
export function equalNames(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && endsWith(a, b)
}

function endsWith(long: Uint8Array, short: Uint8Array): boolean {
  const skip = long.length - short.length
  for (let i = 0; i < short.length; i++) {
    const x = long[skip + i]
    const y = short[i]
    if (x !== y && lowerByte(x) !== lowerByte(y)) return false
  }
  return true
}

/** True when `child` is `parent` or below it. */
export function isSubdomain(child: Uint8Array, parent: Uint8Array): boolean {
  const skip = child.length - parent.length
  let at = 0
  while (at < skip) at += child[at] + 1
  return at === skip && endsWith(child, parent)
}

/** Number of labels, the root's empty one not counted. */
export function labelCount(wire: Uint8Array): number {
  let count = 0
  for (let at = 0; wire[at] !== 0; at += wire[at] + 1) count++
  return count
}

/** Canonical order (RFC 4034 6.1): label by label from the right, as lower-case bytes. */
export function compareNames(a: Uint8Array, b: Uint8Array): number {
  const difference = labelCount(a) - labelCount(b)
  let i = 0
  let j = 0
  for (let extra = difference; extra > 0; extra--) i += a[i] + 1
  for (let extra = difference; extra < 0; extra++) j += b[j] + 1
  // Both cursors now stand on labels of equal depth; the rightmost difference decides.
  let result = difference
  while (a[i] !== 0) {
    const order = compareLabels(a, i, b, j)
    if (order !== 0) result = order
    i += a[i] + 1
    j += b[j] + 1
  }
  return result
}

function compareLabels(a: Uint8Array, i: number, b: Uint8Array, j: number): number {
  const shared = Math.min(a[i], b[j])
  for (let k = 1; k <= shared; k++) {
    const order = lowerByte(a[i + k]) - lowerByte(b[j + k])
    if (order !== 0) return order
  }
  return a[i] - b[j]
}
