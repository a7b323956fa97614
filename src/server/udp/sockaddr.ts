// struct sockaddr_in and sockaddr_in6 as bytes.

import { isIPv6 } from 'node:net'
import { AF_INET, AF_INET6 } from '../../lib/libc.ts'

export const SOCKADDR_BYTES = 28

/** Address bytes of a textual IP address, with the scope stripped: 4 or 16. */
export function addressBytes(address: string): Uint8Array {
  if (!isIPv6(address)) return Uint8Array.from(address.split('.'), Number)
  const [plain] = address.split('%')
  // The URL parser is Node's own normaliser: eight groups or an abbreviation of them, IPv4 tails rewritten.
  const text = new URL(`http://[${plain}]`).hostname.slice(1, -1)
  const [head = '', tail] = text.split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  const front = groups(head)
  const back = tail === undefined ? [] : groups(tail)
  const middle = tail === undefined ? [] : new Array<number>(8 - front.length - back.length).fill(0)
  return Uint8Array.from([...front, ...middle, ...back].flatMap((group) => [group >> 8, group & 0xff]))
}

export function formatAddress(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[i * 2] << 8) | bytes[i * 2 + 1]).toString(16))
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

export function encodeSockaddr(address: string, port: number, scope = 0): Uint8Array {
  const bytes = addressBytes(address)
  const out = new Uint8Array(bytes.length === 4 ? 16 : SOCKADDR_BYTES)
  const view = new DataView(out.buffer)
  view.setUint16(0, bytes.length === 4 ? AF_INET : AF_INET6, true)
  view.setUint16(2, port)
  out.set(bytes, bytes.length === 4 ? 4 : 8)
  if (bytes.length === 16) view.setUint32(24, scope, true)
  return out
}
