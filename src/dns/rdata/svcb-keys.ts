// The known parameter keys of SVCB and HTTPS (RFC 9460 7, 8; RFC 9461 5; RFC 9540 4; RFC 9953 3; IANA registry): the text
// of each, its wire form, and what makes it valid. Every other key is keyNNNNN with an opaque value.

import { readU16 } from './field.ts'
import { formatIpv4, formatIpv6, readIpv4, readIpv6 } from './fields/address.ts'
import { formatBase64 } from './fields/encoded.ts'
import { readDecimal } from './fields/number.ts'
import { quote } from './fields/string.ts'

export const MANDATORY = 0
export const ALPN = 1
export const NO_DEFAULT_ALPN = 2

/** Values are plain bytes here: escapes of the zone file are resolved before a key sees them. */
interface Key {
  readonly name: string
  readonly wants: string
  /** The value must be written without escapes (RFC 9460 7.2, 7.3, 8). */
  readonly isPlain?: boolean
  /** Wire form of a text value, or undefined when it is not one. */
  encode(value: Uint8Array): number[] | undefined
  valid(wire: Uint8Array): boolean
  /** `value` of `key=value`, or undefined when the key stands alone. */
  format(wire: Uint8Array): string | undefined
}

function addressList(
  name: string,
  wants: string,
  size: number,
  read: typeof readIpv4,
  format: (wire: Uint8Array, at: number) => string,
): Key {
  return {
    name,
    wants,
    isPlain: true,
    encode(value) {
      const wire: number[] = []
      for (const item of splitAtCommas(value)) {
        const address = new Uint8Array(size)
        if (!read(item, 0, item.length, address, 0)) return undefined
        wire.push(...address)
      }
      return wire
    },
    valid: (wire) => wire.length > 0 && wire.length % size === 0,
    format: (wire) => Array.from({ length: wire.length / size }, (_, i) => format(wire, i * size)).join(','),
  }
}

function opaque(name: string, valid: (wire: Uint8Array) => boolean, wants: string): Key {
  return {
    name,
    wants,
    encode: (value) => [...value],
    valid,
    format: (wire) => (wire.length === 0 ? undefined : quote(wire, 0, wire.length)),
  }
}

/** A key without a value. */
function flag(name: string): Key {
  return {
    name,
    wants: 'no value',
    encode: (value) => (value.length === 0 ? [] : undefined),
    valid: (wire) => wire.length === 0,
    format: () => undefined,
  }
}

/** By number. */
export const KEYS: readonly Key[] = [
  {
    name: 'mandatory',
    wants: 'a list of distinct keys other than mandatory, such as alpn,port',
    isPlain: true,
    encode(value) {
      const numbers = splitAtCommas(value).map((item) => keyNumber(latin1(item)))
      if (numbers.includes(-1)) return undefined
      return numbers.toSorted((a, b) => a - b).flatMap((number) => [number >> 8, number & 0xff])
    },
    valid(wire) {
      if (wire.length === 0 || wire.length % 2 !== 0) return false
      for (let i = 0, last = MANDATORY; i < wire.length; i += 2) {
        if (readU16(wire, i) <= last) return false
        last = readU16(wire, i)
      }
      return true
    },
    format: (wire) => Array.from({ length: wire.length / 2 }, (_, i) => keyName(readU16(wire, i * 2))).join(','),
  },
  {
    name: 'alpn',
    wants: 'a list of protocol identifiers of 1 to 255 bytes, such as h2,h3',
    encode: encodeStrings,
    valid: areStrings,
    format: formatStrings,
  },
  flag('no-default-alpn'),
  {
    name: 'port',
    wants: 'a port, 0 to 65535',
    isPlain: true,
    encode(value) {
      const port = readDecimal(value, 0, value.length, 0xffff)
      return port < 0 ? undefined : [port >> 8, port & 0xff]
    },
    valid: (wire) => wire.length === 2,
    format: (wire) => String(readU16(wire, 0)),
  },
  addressList('ipv4hint', 'a list of IPv4 addresses', 4, readIpv4, formatIpv4),
  {
    name: 'ech',
    wants: 'a list of ECH configurations in base64',
    isPlain: true,
    encode: decodeBase64,
    valid: (wire) => wire.length > 0,
    format: (wire) => formatBase64(wire, 0, wire.length),
  },
  addressList('ipv6hint', 'a list of IPv6 addresses', 16, readIpv6, formatIpv6),
  opaque('dohpath', isDohPath, 'a relative URI template with the variable dns, such as /dns-query{?dns}'),
  flag('ohttp'),
  {
    name: 'tls-supported-groups',
    wants: 'a list of distinct numbers, 0 to 65535, such as 29,23',
    isPlain: true,
    encode(value) {
      const groups = splitAtCommas(value).map((item) => readDecimal(item, 0, item.length, 0xffff))
      if (groups.includes(-1)) return undefined
      return groups.flatMap((group) => [group >> 8, group & 0xff])
    },
    valid(wire) {
      const groups = Array.from({ length: wire.length / 2 }, (_, i) => readU16(wire, i * 2))
      return wire.length > 0 && wire.length % 2 === 0 && new Set(groups).size === groups.length
    },
    format: (wire) => Array.from({ length: wire.length / 2 }, (_, i) => readU16(wire, i * 2)).join(','),
  },
  {
    name: 'docpath',
    wants: 'a list of path segments of 1 to 255 bytes, or no value',
    encode: (value) => (value.length === 0 ? [] : encodeStrings(value)),
    valid: (wire) => wire.length === 0 || areStrings(wire),
    format: (wire) => (wire.length === 0 ? undefined : formatStrings(wire)),
  },
  flag('pvd'),
]

export function keyName(key: number): string {
  return KEYS[key]?.name ?? `key${key}`
}

export function keyNumber(text: string): number {
  const known = KEYS.findIndex((key) => key.name === text)
  if (known >= 0) return known
  if (!/^key(0|[1-9][0-9]{0,4})$/.test(text)) return -1
  const number = Number(text.slice(3))
  return number <= 0xffff ? number : -1
}

export function latin1(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}

function splitAtCommas(value: Uint8Array): Uint8Array[] {
  const items: Uint8Array[] = []
  let from = 0
  for (let i = 0; i <= value.length; i++) {
    if (i < value.length && value[i] !== 0x2c) continue
    items.push(value.subarray(from, i))
    from = i + 1
  }
  return items
}

/** A comma-separated list with `\,` and `\\` for those two characters (RFC 9460 A.1); undefined when malformed. */
function splitEscapedList(value: Uint8Array): number[][] | undefined {
  const items: number[][] = [[]]
  for (let i = 0; i < value.length; i++) {
    if (value[i] === 0x2c) items.push([])
    else {
      if (value[i] === 0x5c) i++
      if (i === value.length) return undefined
      items[items.length - 1].push(value[i])
    }
  }
  return items
}

/** A list as strings of 1 to 255 bytes, each behind a length byte; undefined when malformed. */
function encodeStrings(value: Uint8Array): number[] | undefined {
  const items = splitEscapedList(value)
  if (items === undefined || items.some((item) => item.length > 255)) return undefined
  return items.flatMap((item) => [item.length, ...item])
}

function areStrings(wire: Uint8Array): boolean {
  let at = 0
  while (at < wire.length && wire[at] > 0) at += wire[at] + 1
  return wire.length > 0 && at === wire.length
}

/** The strings joined by commas: escaped once for the list, then once more for the zone file. */
function formatStrings(wire: Uint8Array): string {
  const list: number[] = []
  for (let at = 0; at < wire.length; at += wire[at] + 1) {
    if (at > 0) list.push(0x2c)
    for (const byte of wire.subarray(at + 1, at + 1 + wire[at])) {
      if (byte === 0x2c || byte === 0x5c) list.push(0x5c)
      list.push(byte)
    }
  }
  return quote(Uint8Array.from(list), 0, list.length)
}

function decodeBase64(value: Uint8Array): number[] | undefined {
  const text = latin1(value)
  try {
    const bytes = Array.from(atob(text), (character) => character.charCodeAt(0))
    return formatBase64(Uint8Array.from(bytes), 0, bytes.length) === text ? bytes : undefined
  } catch {
    return undefined
  }
}

/** RFC 9461 5: UTF-8, a path, with the template variable `dns`. */
function isDohPath(wire: Uint8Array): boolean {
  const text = latin1(wire)
  return text.startsWith('/') && /\{[^}]*\bdns\b[^}]*\}/.test(text)
}
