// AMTRELAY: a relay for multicast (RFC 8777 4). The discovery bit shares its byte with the relay's type.

import { ExpectedError, type Tokens } from '../tokens.ts'
import type { Field, RdataBuffer, RdataType } from './field.ts'
import { gateway } from './fields/gateway.ts'
import { readDecimal, u8 } from './fields/number.ts'

const discoveryAndType: Field = {
  size: 1,
  name: undefined,
  parse(tokens: Tokens, out: RdataBuffer): void {
    const take = (noun: string, max: number) => {
      const index = tokens.takeWord(noun)
      const value = readDecimal(tokens.bytes, tokens.starts[index], tokens.ends[index], max)
      if (value < 0) throw new ExpectedError(index, `expected ${noun}, 0 to ${max}`)
      return value
    }
    const discovery = take('the discovery bit', 1)
    out.bytes[out.length++] = (discovery << 7) | take('a relay type', 3)
  },
  measure: (_rdata, at, end) => (at < end ? at + 1 : -1),
  format: (rdata, at) => `${rdata[at] >> 7} ${rdata[at] & 0x7f}`,
}

export const amtrelay: RdataType = {
  fields: [
    u8('a precedence'),
    discoveryAndType,
    gateway(1, 'a relay', ['. for no relay', 'an IPv4 address', 'an IPv6 address', 'a name']),
  ],
}
