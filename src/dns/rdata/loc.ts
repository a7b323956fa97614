// LOC: a place on Earth (RFC 1876). On the wire latitude and longitude are thousandths of a second of arc offset by
// 2^31, the altitude is centimetres above 100 km below the WGS 84 spheroid, and the sizes are mantissa and power of
// ten of centimetres, four bits each.

import { ExpectedError, type Tokens } from '../tokens.ts'
import { appendNumber, type Field, type RdataBuffer, type RdataType, readU32 } from './field.ts'
import { readDecimal } from './fields/number.ts'

const EQUATOR = 2 ** 31
const ALTITUDE_BASE = 10_000_000
const MAX_SIZE_CENTIMETRES = 9e9
const DEFAULT_SIZES: readonly number[] = [0x12, 0x16, 0x13]
const SIZE_NOUNS: readonly string[] = ['a size', 'a horizontal precision', 'a vertical precision']

const place: Field = {
  size: 16,
  name: undefined,
  parse(tokens: Tokens, out: RdataBuffer): void {
    const latitude = parseAngle(tokens, 'a latitude', 90, 'NS')
    const longitude = parseAngle(tokens, 'a longitude', 180, 'EW')
    const altitude = takeMetres(tokens, 'an altitude in metres', -ALTITUDE_BASE, 2 ** 32 - 1 - ALTITUDE_BASE)
    out.bytes[out.length++] = 0
    for (const [i, noun] of SIZE_NOUNS.entries()) {
      const given = tokens.next < tokens.count
      const size = given ? packSize(takeMetres(tokens, `${noun} in metres`, 0, MAX_SIZE_CENTIMETRES)) : DEFAULT_SIZES[i]
      out.bytes[out.length++] = size
    }
    appendNumber(out, latitude, 4)
    appendNumber(out, longitude, 4)
    appendNumber(out, altitude + ALTITUDE_BASE, 4)
  },
  measure(rdata: Uint8Array, at: number, end: number): number {
    if (at + 16 > end || rdata[at] !== 0) return -1
    const inRange =
      [1, 2, 3].every((i) => isPackedSize(rdata[at + i])) &&
      Math.abs(readU32(rdata, at + 4) - EQUATOR) <= 90 * 3_600_000 &&
      Math.abs(readU32(rdata, at + 8) - EQUATOR) <= 180 * 3_600_000
    return inRange ? at + 16 : -1
  },
  format(rdata: Uint8Array, at: number): string {
    const altitude = readU32(rdata, at + 12) - ALTITUDE_BASE
    return [
      formatAngle(readU32(rdata, at + 4), 'NS'),
      formatAngle(readU32(rdata, at + 8), 'EW'),
      `${altitude < 0 ? '-' : ''}${formatHundredths(Math.abs(altitude))}m`,
      ...[1, 2, 3].map((i) => formatSize(rdata[at + i])),
    ].join(' ')
  },
}

/** `d [m [s[.fff]]] {N|S}` as thousandths of a second around the equator or meridian. */
function parseAngle(tokens: Tokens, noun: string, maxDegrees: number, hemispheres: string): number {
  const first = tokens.next
  const parts: number[] = []
  for (;;) {
    const index = tokens.takeWord(`${noun} ending in ${hemispheres[0]} or ${hemispheres[1]}`)
    const text = tokens.text(index)
    if (parts.length > 0 && (text === hemispheres[0] || text === hemispheres[1])) {
      const [degrees, minutes = 0, seconds = 0] = parts
      const angle = degrees * 3_600_000 + minutes * 60_000 + seconds
      if (angle > maxDegrees * 3_600_000)
        throw new ExpectedError(first, `expected ${noun} of at most ${maxDegrees} degrees`)
      return text === hemispheres[0] ? EQUATOR + angle : EQUATOR - angle
    }
    const max = [maxDegrees, 59, 59][parts.length] ?? -1
    const value = parts.length < 2 ? readWhole(tokens, index) : readScaled(text, 3)
    const whole = parts.length < 2 ? value : Math.floor(value / 1000)
    if (value < 0 || whole > max) {
      throw new ExpectedError(
        index,
        `expected ${noun}: degrees, minutes and seconds, then ${hemispheres[0]} or ${hemispheres[1]}`,
      )
    }
    parts.push(value)
  }
}

function readWhole(tokens: Tokens, index: number): number {
  return readDecimal(tokens.bytes, tokens.starts[index], tokens.ends[index], 180)
}

/** A decimal number with up to `places` digits after the point, times 10^places; -1 when it is none. */
function readScaled(text: string, places: number): number {
  const [whole, fraction = '', ...rest] = text.split('.')
  if (rest.length > 0 || !/^[0-9]{1,10}$/.test(whole) || !/^[0-9]*$/.test(fraction) || fraction.length > places)
    return -1
  return Number(whole) * 10 ** places + Number(fraction.padEnd(places, '0'))
}

function takeMetres(tokens: Tokens, noun: string, min: number, max: number): number {
  const index = tokens.takeWord(noun)
  const text = tokens.text(index).replace(/m$/i, '')
  const magnitude = readScaled(text.replace(/^-/, ''), 2)
  const centimetres = text.startsWith('-') ? -magnitude : magnitude
  if (magnitude < 0 || centimetres < min || centimetres > max) {
    throw new ExpectedError(index, `expected ${noun}, from ${min / 100} to ${max / 100}`)
  }
  return centimetres
}

function isPackedSize(packed: number): boolean {
  const mantissa = packed >> 4
  return packed === 0 || (mantissa >= 1 && mantissa <= 9 && (packed & 15) <= 9)
}

function packSize(centimetres: number): number {
  let mantissa = centimetres
  let exponent = 0
  for (; mantissa >= 10; exponent++) mantissa = Math.floor(mantissa / 10)
  return (mantissa << 4) | exponent
}

function formatSize(packed: number): string {
  const exponent = packed & 15
  const centimetres = (packed >> 4) * 10 ** exponent
  return exponent >= 2 ? `${centimetres / 100}m` : `${formatHundredths(centimetres)}m`
}

function formatAngle(value: number, hemispheres: string): string {
  const angle = Math.abs(value - EQUATOR)
  const degrees = Math.floor(angle / 3_600_000)
  const minutes = Math.floor(angle / 60_000) % 60
  const seconds = ((angle % 60_000) / 1000).toFixed(3)
  return `${degrees} ${minutes} ${seconds} ${value < EQUATOR ? hemispheres[1] : hemispheres[0]}`
}

function formatHundredths(value: number): string {
  return `${Math.floor(value / 100)}.${String(value % 100).padStart(2, '0')}`
}

export const loc: RdataType = { fields: [place] }
