// The name under which an address is looked up backwards: 192.0.2.1 is 1.2.0.192.in-addr.arpa (RFC 1035 3.5), an IPv6
// address its 32 hexadecimal digits below ip6.arpa (RFC 3596 2.5).

import { isIPv6 } from 'node:net'
import { readIpv6 } from '../../dns/rdata/fields/address.ts'

/** Without the final dot. */
export function reverseName(address: string): string {
  if (!isIPv6(address)) return `${address.split('.').reverse().join('.')}.in-addr.arpa`
  const text = Buffer.from(address)
  const bytes = Buffer.alloc(16)
  readIpv6(text, 0, text.length, bytes, 0)
  return `${[...bytes.toString('hex')].reverse().join('.')}.ip6.arpa`
}
