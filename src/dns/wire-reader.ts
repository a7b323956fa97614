// Reads the parts of a DNS message in order. Numbers and slices trust that `need` was asked first; names check
// themselves. What is wrong with the bytes is thrown as Malformed, for the decoder that owns the reader to catch.

import { MAX_NAME_LENGTH } from './name.ts'

export const HEADER_BYTES = 12

/** `message` is the reason, as a clause. */
export class Malformed extends Error {}

export class WireReader {
  readonly bytes: Uint8Array
  readonly view: DataView
  at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  need(count: number, what: string): void {
    if (this.at + count > this.bytes.length) throw new Malformed(`the message ends inside ${what}`)
  }

  u16(): number {
    this.at += 2
    return this.view.getUint16(this.at - 2)
  }

  u32(): number {
    this.at += 4
    return this.view.getUint32(this.at - 4)
  }

  slice(count: number): Uint8Array {
    this.at += count
    return this.bytes.slice(this.at - count, this.at)
  }

  /** Each pointer must lead before the place where the chain so far began, so a chain ends (RFC 1035 4.1.4: "prior"). */
  name(): Uint8Array {
    const name = new Uint8Array(MAX_NAME_LENGTH)
    let length = 0
    let from = this.at
    let lowest = this.at
    let end = -1
    for (;;) {
      if (from >= this.bytes.length) throw new Malformed('the message ends inside a name')
      const octet = this.bytes[from]
      if (octet >= 0xc0) {
        if (from + 1 >= this.bytes.length) throw new Malformed('the message ends inside a compression pointer')
        if (end < 0) end = from + 2
        const target = ((octet & 0x3f) << 8) | this.bytes[from + 1]
        if (target >= lowest) throw new Malformed(`the compression pointer at ${from} leads to ${target}, not backward`)
        if (target < HEADER_BYTES) throw new Malformed(`the compression pointer at ${from} leads into the header`)
        from = target
        lowest = target
      } else if (octet > 63) {
        throw new Malformed(`the label at ${from} is of the unknown kind 0x${(octet & 0xc0).toString(16)}`)
      } else {
        const next = from + 1 + octet
        if (next > this.bytes.length) throw new Malformed('the message ends inside a label')
        if (length + 1 + octet > MAX_NAME_LENGTH) throw new Malformed('a name is longer than 255 bytes')
        name.set(this.bytes.subarray(from, next), length)
        length += 1 + octet
        from = next
        if (octet === 0) break
      }
    }
    this.at = end < 0 ? from : end
    return name.slice(0, length)
  }
}
