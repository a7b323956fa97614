// Unsigned numbers of 8, 16 and 32 bits, in decimal, as periods with units, as mnemonics, or as times.

import { ExpectedError, type Tokens } from '../../tokens.ts'
import { typeFromBytes, typeName } from '../../types.ts'
import { appendNumber, type Field, type RdataBuffer, readU16, readU32 } from '../field.ts'

const MAX_U32 = 0xffffffff

/** The decimal number in `start`..`end`, or -1 when it is not one or exceeds `max`. */
export function readDecimal(bytes: Uint8Array, start: number, end: number, max: number): number {
  if (start === end) return -1
  let value = 0
  for (let i = start; i < end; i++) {
    const digit = bytes[i] - 0x30
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
    if (value > max) return -1
  }
  return value
}

const UNIT_SECONDS: Readonly<Record<number, number>> = { 0x53: 1, 0x4d: 60, 0x48: 3600, 0x44: 86400, 0x57: 604800 }

/** Seconds of `3600` or `1h30m` (units W D H M S in any case, each with its number), or -1. */
export function readPeriod(bytes: Uint8Array, start: number, end: number): number {
  const plain = readDecimal(bytes, start, end, MAX_U32)
  if (plain >= 0) return plain
  let total = 0
  let digitsAt = start
  for (let i = start; i < end; i++) {
    if (bytes[i] >= 0x30 && bytes[i] <= 0x39) continue
    const unit = UNIT_SECONDS[bytes[i] & 0xdf]
    const count = readDecimal(bytes, digitsAt, i, MAX_U32)
    if (unit === undefined || count < 0) return -1
    total += count * unit
    digitsAt = i + 1
  }
  return digitsAt === end && digitsAt > start && total <= MAX_U32 ? total : -1
}

function numberField(
  size: number,
  read: (tokens: Tokens) => number,
  format: (value: number) => string = String,
): Field {
  return {
    size,
    name: undefined,
    parse(tokens: Tokens, out: RdataBuffer): void {
      const value = read(tokens)
      if (size === 2) {
        out.bytes[out.length] = value >>> 8
        out.bytes[out.length + 1] = value
        out.length += 2
      } else appendNumber(out, value, size)
    },
    measure(_rdata: Uint8Array, at: number, end: number): number {
      return at + size <= end ? at + size : -1
    },
    format(rdata: Uint8Array, at: number): string {
      return format(size === 1 ? rdata[at] : size === 2 ? readU16(rdata, at) : readU32(rdata, at))
    },
  }
}

function decimal(size: number, noun: string, blame: string): Field {
  const max = 2 ** (8 * size) - 1
  return numberField(size, (tokens) => {
    const index = tokens.takeWord(noun)
    const value = readDecimal(tokens.bytes, tokens.starts[index], tokens.ends[index], max)
    if (value < 0) throw new ExpectedError(index, `${blame}expected ${noun}, 0 to ${max}`)
    return value
  })
}

/** `noun` completes "expected …"; `blame` goes in front of it. */
export function u8(noun: string): Field {
  return decimal(1, noun, '')
}

export function u16(noun: string): Field {
  return decimal(2, noun, '')
}

export function u32(noun: string, blame = ''): Field {
  return decimal(4, noun, blame)
}

/** Seconds in 32 bits, with or without units. */
export function period(noun: string, blame = ''): Field {
  return numberField(4, (tokens) => {
    const index = tokens.takeWord(noun)
    const value = readPeriod(tokens.bytes, tokens.starts[index], tokens.ends[index])
    if (value < 0) throw new ExpectedError(index, `${blame}expected ${noun}: seconds or a period such as 1h30m`)
    return value
  })
}

/** A number that may be written as one of `mnemonics`, and is printed as one where `print` says so. */
export function mnemonic(
  size: 1 | 2,
  noun: string,
  mnemonics: Readonly<Record<string, number>>,
  print: 'as-number' | 'as-mnemonic',
): Field {
  const max = 2 ** (8 * size) - 1
  // Of several mnemonics for a number the first one listed is printed.
  const names = new Map(
    Object.entries(mnemonics)
      .toReversed()
      .map(([name, number]) => [number, name]),
  )
  return numberField(
    size,
    (tokens) => {
      const index = tokens.takeWord(noun)
      const value = readDecimal(tokens.bytes, tokens.starts[index], tokens.ends[index], max)
      if (value >= 0) return value
      const word = tokens.text(index).toUpperCase()
      const known = Object.hasOwn(mnemonics, word) ? mnemonics[word] : undefined
      if (known === undefined) throw new ExpectedError(index, `expected ${noun}: 0 to ${max}, or its mnemonic`)
      return known
    },
    print === 'as-number' ? String : (value) => names.get(value) ?? String(value),
  )
}

/** Flags in 16 bits: a number, or mnemonics with `|` between them. They are printed as a number. */
export function flags(noun: string, mnemonics: Readonly<Record<string, number>>): Field {
  return numberField(2, (tokens) => {
    const index = tokens.takeWord(noun)
    const value = readDecimal(tokens.bytes, tokens.starts[index], tokens.ends[index], 0xffff)
    if (value >= 0) return value
    let all = 0
    for (const word of tokens.text(index).toUpperCase().split('|')) {
      const known = Object.hasOwn(mnemonics, word) ? mnemonics[word] : undefined
      if (known === undefined)
        throw new ExpectedError(index, `expected ${noun}: 0 to 65535, or mnemonics as in HOST|SIG1`)
      all |= known
    }
    return all
  })
}

/** A record type by mnemonic or TYPE123. */
export function recordType(noun: string): Field {
  return numberField(
    2,
    (tokens) => {
      const index = tokens.takeWord(noun)
      const type = typeFromBytes(tokens.bytes, tokens.starts[index], tokens.ends[index])
      if (type < 0) throw new ExpectedError(index, `expected ${noun}, such as A or TYPE123`)
      return type
    },
    typeName,
  )
}

/** Seconds since 1970 modulo 2^32, written YYYYMMDDHHmmSS in UTC or as the number (RFC 4034 3.2). */
export function time(noun: string): Field {
  return numberField(
    4,
    (tokens) => {
      const index = tokens.takeWord(noun)
      const start = tokens.starts[index]
      const end = tokens.ends[index]
      const seconds =
        end - start === 14 ? readDate(tokens.bytes, start) : readDecimal(tokens.bytes, start, end, MAX_U32)
      if (seconds < 0) throw new ExpectedError(index, `expected ${noun}: YYYYMMDDHHmmSS or seconds since 1970`)
      return seconds
    },
    (seconds) => new Date(seconds * 1000).toISOString().slice(0, 19).replace(/[-T:]/g, ''),
  )
}

function readDate(bytes: Uint8Array, start: number): number {
  const part = (at: number, length: number) => readDecimal(bytes, start + at, start + at + length, 9999)
  const [year, month, day, hour, minute, second] = [
    part(0, 4),
    part(4, 2),
    part(6, 2),
    part(8, 2),
    part(10, 2),
    part(12, 2),
  ]
  if (year < 1970 || Math.min(hour, minute, second) < 0 || hour > 23 || minute > 59 || second > 60) return -1
  const midnight = new Date(Date.UTC(year, month - 1, day))
  if (midnight.getUTCMonth() !== month - 1 || midnight.getUTCDate() !== day) return -1
  return (midnight.getTime() / 1000 + hour * 3600 + minute * 60 + second) % 2 ** 32
}
