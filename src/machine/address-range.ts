// A range of IPv4 addresses, as people write it: the first and the last one.

import { isIPv4 } from 'node:net'

export interface AddressRange {
  readonly first: string
  readonly last: string
}

export function parseAddressRange(text: string): AddressRange | undefined {
  const [first, last, ...others] = text.split('-').map((word) => word.trim())
  if (others.length > 0 || last === undefined || !isIPv4(first) || !isIPv4(last)) return undefined
  return addressNumber(first) <= addressNumber(last) ? { first, last } : undefined
}

export function* addressesIn({ first, last }: AddressRange): Generator<string> {
  for (let number = addressNumber(first); number <= addressNumber(last); number++) yield addressText(number)
}

export function isInRange(address: string, { first, last }: AddressRange): boolean {
  if (!isIPv4(address)) return false
  const number = addressNumber(address)
  return number >= addressNumber(first) && number <= addressNumber(last)
}

function addressNumber(address: string): number {
  return address.split('.').reduce((number, octet) => number * 256 + Number(octet), 0)
}

function addressText(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.')
}
