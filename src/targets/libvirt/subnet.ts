// Addresses as numbers, to see which network they lie in. IPv4 and IPv6 alike.

import { isIPv4, isIPv6 } from 'node:net'

export interface Subnet {
  /** Any address of it. */
  readonly address: string
  readonly prefixLength: number
}

export function contains(subnet: Subnet, address: string): boolean {
  const { first, last } = boundsOf(subnet)
  return isSameFamily(subnet.address, address) && isBetween(toNumber(address), first, last)
}

export function isInRange(address: string, first: string, last: string): boolean {
  return isSameFamily(address, first) && isBetween(toNumber(address), toNumber(first), toNumber(last))
}

export function isSameAddress(one: string, other: string): boolean {
  return isSameFamily(one, other) && toNumber(one) === toNumber(other)
}

function isSameFamily(one: string, other: string): boolean {
  return isIPv4(one) === isIPv4(other)
}

/** The first address stands for the network and, of IPv4, the last for all who are in it; not so in networks of two (RFC 3021) or one. */
export function isReserved({ address, prefixLength }: Subnet): boolean {
  if (bitsOf(address) - prefixLength < 2) return false
  const { first, last } = boundsOf({ address, prefixLength })
  const number = toNumber(address)
  return number === first || (isIPv4(address) && number === last)
}

/** `192.168.121.0/24` */
export function formatSubnet({ address, prefixLength }: Subnet): string {
  return `${formatAddress(boundsOf({ address, prefixLength }).first, isIPv4(address))}/${prefixLength}`
}

/** One spelling for each. */
export function canonicalAddress(address: string): string {
  return formatAddress(toNumber(address), isIPv4(address))
}

export function longestPrefix(address: string): number {
  return bitsOf(address)
}

function boundsOf({ address, prefixLength }: Subnet): { readonly first: bigint; readonly last: bigint } {
  const hostBits = BigInt(bitsOf(address) - prefixLength)
  const first = (toNumber(address) >> hostBits) << hostBits
  return { first, last: first + (1n << hostBits) - 1n }
}

function isBetween(number: bigint, first: bigint, last: bigint): boolean {
  return first <= number && number <= last
}

function bitsOf(address: string): number {
  return isIPv4(address) ? 32 : 128
}

function toNumber(address: string): bigint {
  return isIPv4(address) ? joined(address.split('.').map(Number), 8n) : joined(ipv6Groups(address), 16n)
}

function joined(groups: readonly number[], bits: bigint): bigint {
  return groups.reduce((number, group) => (number << bits) | BigInt(group), 0n)
}

function ipv6Groups(address: string): readonly number[] {
  if (!isIPv6(address)) throw new TypeError(`not an address: ${address}`)
  // The URL standard writes them out in one way, without zones, and with an IPv4 tail as two groups.
  const canonical = new URL(`http://[${address.replace(/%.*$/u, '')}]`).hostname.slice(1, -1)
  const [head, tail] = canonical.split('::').map((part) => (part === '' ? [] : part.split(':')))
  const groups =
    tail === undefined ? head : [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
  return groups.map((group) => Number.parseInt(group, 16))
}

function formatAddress(number: bigint, isVersion4: boolean): string {
  const [count, bits, base, dot] = isVersion4 ? ([4, 8, 10, '.'] as const) : ([8, 16, 16, ':'] as const)
  const groups = Array.from({ length: count }, (_, index) => {
    const shift = BigInt((count - 1 - index) * bits)
    return ((number >> shift) & ((1n << BigInt(bits)) - 1n)).toString(base)
  })
  return isVersion4 ? groups.join(dot) : new URL(`http://[${groups.join(dot)}]`).hostname.slice(1, -1)
}
