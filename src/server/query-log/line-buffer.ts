// Log lines as bytes in one reused buffer: numbers, names and addresses are written digit by digit, so that a line
// costs no string and no garbage. A batch of queries fills it, then its content goes out as one piece.

import { lowerByte } from '../../dns/name.ts'

/** Longest text of a value: a name of 250 bytes, each as \DDD, and its dots. */
export const LONGEST_VALUE = 1100
const DOT = 0x2e
const COLON = 0x3a

/** How each byte of a name is printed: itself in lower case, or its escape. Never a blank or a control character. */
const NAME_TEXT: readonly Uint8Array[] = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(lowerByte(byte))
  if ('."\\;@$()'.includes(character)) return Buffer.from(`\\${character}`)
  return Buffer.from(byte < 0x21 || byte > 0x7e ? `\\${String(byte).padStart(3, '0')}` : character)
})

export class LineBuffer {
  #bytes = new Uint8Array(1 << 16)
  #length = 0
  #lines = 0

  get lines(): number {
    return this.#lines
  }

  /** Makes room for one line of at most `bytes`; the writers below rely on it. */
  beginLine(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return
    const larger = new Uint8Array(2 * (this.#length + bytes))
    larger.set(this.#bytes)
    this.#bytes = larger
  }

  /** A copy of the lines so far; the buffer is empty afterwards. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.slice(0, this.#length)
    this.#length = 0
    this.#lines = 0
    return taken
  }

  endLine(): void {
    this.#byte(0x0a)
    this.#lines++
  }

  literal(text: Uint8Array): void {
    const bytes = this.#bytes
    let at = this.#length
    for (let i = 0; i < text.length; i++) bytes[at++] = text[i]
    this.#length = at
  }

  /** A whole number from 0 to 2^31 - 1. */
  number(value: number): void {
    let digits = 1
    for (let limit = 10; value >= limit; limit *= 10) digits++
    this.#digits(value, digits)
  }

  /** Seconds with nine decimals: `0.000037990s`. */
  seconds(value: number): void {
    const nanoseconds = Math.round(value * 1e9)
    const whole = Math.floor(nanoseconds / 1e9)
    this.number(whole)
    this.#byte(DOT)
    this.#digits(nanoseconds - whole * 1e9, 9)
    this.#byte(0x73)
  }

  /** The uncompressed name at `at`, which must be valid, in lower case. */
  name(wire: Uint8Array, at: number): void {
    const bytes = this.#bytes
    let to = this.#length
    if (wire[at] === 0) bytes[to++] = DOT
    for (let label = at; wire[label] !== 0; label += wire[label] + 1) {
      const end = label + wire[label]
      for (let i = label + 1; i <= end; i++) {
        const text = NAME_TEXT[wire[i]]
        for (let j = 0; j < text.length; j++) bytes[to++] = text[j]
      }
      bytes[to++] = DOT
    }
    this.#length = to
  }

  /** An address of 4 or 16 bytes, IPv6 in brackets. A client of a dual-stack socket shows its IPv4 address. */
  address(address: Uint8Array): void {
    if (address.length === 4) this.#ipv4(address, 0)
    else if (isMapped(address)) this.#ipv4(address, 12)
    else this.#ipv6(address)
  }

  #ipv4(address: Uint8Array, at: number): void {
    for (let i = 0; i < 4; i++) {
      if (i > 0) this.#byte(DOT)
      this.number(address[at + i])
    }
  }

  /** RFC 5952: the longest run of at least two zero groups, the first of equals, becomes `::`. */
  #ipv6(address: Uint8Array): void {
    let runAt = -1
    let runLength = 1
    for (let i = 0; i < 8; i++) {
      let end = i
      while (end < 8 && address[2 * end] === 0 && address[2 * end + 1] === 0) end++
      if (end - i > runLength) {
        runAt = i
        runLength = end - i
      }
    }
    this.#byte(0x5b)
    for (let i = 0; i < 8; i++) {
      if (i === runAt) {
        this.#byte(COLON)
        this.#byte(COLON)
        i += runLength - 1
        continue
      }
      if (i > 0 && i !== runAt + runLength) this.#byte(COLON)
      this.#hex((address[2 * i] << 8) | address[2 * i + 1])
    }
    this.#byte(0x5d)
  }

  #hex(group: number): void {
    let shift = 12
    while (shift > 0 && group >> shift === 0) shift -= 4
    for (; shift >= 0; shift -= 4) {
      const digit = (group >> shift) & 15
      this.#byte(digit < 10 ? 0x30 + digit : 0x57 + digit)
    }
  }

  #digits(value: number, count: number): void {
    const bytes = this.#bytes
    const start = this.#length
    let rest = value
    for (let at = start + count - 1; at >= start; at--) {
      const next = (rest / 10) | 0
      bytes[at] = 0x30 + rest - next * 10
      rest = next
    }
    this.#length = start + count
  }

  #byte(byte: number): void {
    this.#bytes[this.#length++] = byte
  }
}

function isMapped(address: Uint8Array): boolean {
  for (let i = 0; i < 10; i++) if (address[i] !== 0) return false
  return address[10] === 0xff && address[11] === 0xff
}
