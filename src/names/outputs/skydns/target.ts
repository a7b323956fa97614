// When two targets are the same, however they are written.

import { readIpv6 } from '../../../dns/rdata/fields/address.ts'

/** Equal for targets that mean the same. */
export function normalTarget(target: string): string {
  if (!target.includes(':')) return withoutFinalDot(target).toLowerCase()
  const text = Buffer.from(target)
  const address = new Uint8Array(16)
  if (readIpv6(text, 0, text.length, address, 0)) return Buffer.from(address).toString('hex')
  return withoutFinalDot(target).toLowerCase()
}

export function withoutFinalDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name
}
