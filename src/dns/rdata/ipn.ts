// IPN: the node number of the interplanetary network, 64 bits in decimal (IANA registry).

import { ExpectedError, type Tokens } from '../tokens.ts'
import type { Field, RdataBuffer, RdataType } from './field.ts'

const SIZE = 8

const nodeNumber: Field = {
  size: SIZE,
  name: undefined,
  parse(tokens: Tokens, out: RdataBuffer): void {
    const index = tokens.takeWord('a node number')
    const text = tokens.text(index)
    const value = /^[0-9]{1,20}$/u.test(text) ? BigInt(text) : -1n
    if (value < 0n || value >> 64n > 0n) throw new ExpectedError(index, 'expected a node number of at most 64 bits')
    for (let shift = 56n; shift >= 0n; shift -= 8n) out.bytes[out.length++] = Number((value >> shift) & 0xffn)
  },
  measure: (_rdata, at, end) => (at + SIZE <= end ? at + SIZE : -1),
  format: (rdata, at, next) => String(rdata.subarray(at, next).reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)),
}

export const ipn: RdataType = { fields: [nodeNumber] }
