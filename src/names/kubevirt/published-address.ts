// Addresses that interfaces report, as targets of endpoints: in the one way to write each, without those that mean
// nothing to others than the machine itself.

import { formatIpv4, formatIpv6, readIpv4, readIpv6 } from '../../dns/rdata/fields/address.ts'

export interface Address {
  readonly recordType: 'A' | 'AAAA'
  readonly text: string
}

/** Unspecified, loopback, IPv6 link-local (RFC 4291 2.5.6), and IPv4 addresses that pretend to be IPv6. */
const PRIVATE_TO_A_HOST = /^(?:0\.|127\.|::1?$|::ffff:|fe[89ab][\da-f]:)/u

/** Undefined when the text is no address. */
export function parseAddress(text: string): Address | undefined {
  const bytes = Buffer.from(text)
  const address = new Uint8Array(16)
  if (readIpv4(bytes, 0, bytes.length, address, 0)) return { recordType: 'A', text: formatIpv4(address, 0) }
  if (readIpv6(bytes, 0, bytes.length, address, 0)) return { recordType: 'AAAA', text: formatIpv6(address, 0) }
  return undefined
}

export function isOfUse({ text }: Address): boolean {
  return !PRIVATE_TO_A_HOST.test(text)
}
