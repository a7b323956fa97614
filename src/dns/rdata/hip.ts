// HIP: the identity of a host in the Host Identity Protocol, and where to find it (RFC 8005 5). The lengths of tag and key
// come first on the wire.

import { encodeNameText, formatName, nameLength, nameProblem } from '../name.ts'
import { ExpectedError, type Tokens } from '../tokens.ts'
import { type Field, type RdataBuffer, type RdataType, readU16 } from './field.ts'
import { hexDigit } from './fields/address.ts'
import { appendBase64, formatBase64, formatHex } from './fields/encoded.ts'
import { readDecimal } from './fields/number.ts'

const HEADER = 4

const identity: Field = {
  size: -1,
  name: undefined,
  parse(tokens: Tokens, out: RdataBuffer): void {
    const at = out.length
    out.length += HEADER
    const algorithm = tokens.takeWord('a public key algorithm')
    const number = readDecimal(tokens.bytes, tokens.starts[algorithm], tokens.ends[algorithm], 255)
    if (number < 0) throw new ExpectedError(algorithm, 'expected a public key algorithm, 0 to 255')
    const tagLength = appendTag(tokens, out)
    const key = tokens.takeWord('a public key in base64')
    const keyAt = out.length
    appendBase64(tokens, key, key, out, 'a public key')
    const keyLength = out.length - keyAt
    if (keyLength === 0) throw new ExpectedError(key, 'expected a public key in base64')
    out.bytes.set([tagLength, number, keyLength >> 8, keyLength & 0xff], at)
  },
  measure(rdata: Uint8Array, at: number, end: number): number {
    if (at + HEADER > end || rdata[at] === 0 || readU16(rdata, at + 2) === 0) return -1
    const next = at + HEADER + rdata[at] + readU16(rdata, at + 2)
    return next <= end ? next : -1
  },
  format(rdata: Uint8Array, at: number, next: number): string {
    const keyAt = at + HEADER + rdata[at]
    return `${rdata[at + 1]} ${formatHex(rdata, at + HEADER, keyAt)} ${formatBase64(rdata, keyAt, next)}`
  },
}

function appendTag(tokens: Tokens, out: RdataBuffer): number {
  const index = tokens.takeWord('a host identity tag in hexadecimal')
  const [start, end] = [tokens.starts[index], tokens.ends[index]]
  const wrong = () => new ExpectedError(index, 'expected a host identity tag of 1 to 255 bytes in hexadecimal')
  if ((end - start) % 2 !== 0 || end === start || end - start > 510) throw wrong()
  for (let i = start; i < end; i += 2) {
    const [high, low] = [hexDigit(tokens.bytes[i]), hexDigit(tokens.bytes[i + 1])]
    if (high < 0 || low < 0) throw wrong()
    out.bytes[out.length++] = (high << 4) | low
  }
  return (end - start) / 2
}

const rendezvousServers: Field = {
  size: -1,
  name: undefined,
  parse(tokens: Tokens, out: RdataBuffer): void {
    while (tokens.next < tokens.count) {
      const index = tokens.takeWord('a rendezvous server')
      const { bytes, starts, ends, origin } = tokens
      const length = encodeNameText(bytes, starts[index], ends[index], origin, out.bytes, out.length)
      if (length < 0) throw new ExpectedError(index, `expected a rendezvous server: ${nameProblem(length)}`)
      out.length += length
    }
  },
  measure(rdata: Uint8Array, at: number, end: number): number {
    let next = at
    while (next < end) {
      const length = nameLength(rdata, next, end)
      if (length < 0) return -1
      next += length
    }
    return next
  },
  format(rdata: Uint8Array, at: number, next: number): string {
    const names: string[] = []
    for (let i = at; i < next; i += nameLength(rdata, i)) names.push(formatName(rdata, i))
    return names.join(' ')
  },
}

export const hip: RdataType = { fields: [identity, rendezvousServers] }
