// The server counts an IPv4 address as one client, and all addresses of a /64 network of IPv6: one host may use any of
// them. Either may be many hosts, since an office network has one /64 and a NAT one IPv4 address.

import { addressBytes } from './udp/sockaddr.ts'

const NETWORK_BYTES = 8
const MAPPED_PREFIX = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff)

/** Equal for addresses of one client. */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address
  const bytes = addressBytes(address)
  if (MAPPED_PREFIX.every((byte, i) => bytes[i] === byte)) return bytes.subarray(12).join('.')
  return Buffer.from(bytes.subarray(0, NETWORK_BYTES)).toString('hex')
}

/** A hash of the client with this address of 4 or 16 bytes, without allocation. */
export function hashClient(address: Uint8Array, length: number, seed: number): number {
  const counted = length === 4 ? 4 : NETWORK_BYTES
  let hash = seed
  for (let i = 0; i < counted; i++) hash = Math.imul(hash ^ address[i], 0x01000193)
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x7feb352d)
  return (hash ^ (hash >>> 15)) >>> 0
}
