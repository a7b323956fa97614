// What a certificate of a server or a user is wanted to say, in the one form in which it is written and compared: names
// in lower case, addresses in their shortest form, times in whole seconds.

import { isIP } from 'node:net'
import { HoldfastError } from '../lib/errors.ts'
import { type Authority, endOf } from './authority.ts'

export interface LeafRequest {
  readonly commonName?: string
  readonly organization: string
  /** An address among them counts as an address. */
  readonly domains: readonly string[]
  readonly addresses: readonly string[]
  readonly usages: readonly ('server' | 'client')[]
  readonly validityHours: number
  /** Renewed when less than this is left. */
  readonly earlyRenewalHours: number
}

export interface SubjectName {
  readonly type: 'dns' | 'ip'
  readonly value: string
}

export interface Validity {
  readonly notBefore: Date
  readonly notAfter: Date
}

export const HOUR_MS = 3_600_000
/** For clocks that are behind ours. */
export const BACKDATED_MS = 300_000
const LONGEST_NAME = 253
const DOMAIN = /^(?:\*\.)?[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/u

/** Each once. */
export function subjectNames({ domains, addresses }: LeafRequest): SubjectName[] {
  const names = [...domains, ...addresses].map(subjectName)
  return [...new Map(names.map((name) => [name.value, name])).values()]
}

function subjectName(text: string): SubjectName {
  // An address with a scope (fe80::1%eth0) has no place in a certificate.
  if (isIP(text) !== 0 && !text.includes('%')) return { type: 'ip', value: canonicalAddress(text) }
  const value = text.toLowerCase()
  if (value.length > LONGEST_NAME || !DOMAIN.test(value)) {
    const problem = 'it is neither a domain name nor an IP address'
    throw new HoldfastError('CertificateNameInvalid', `Cannot issue a certificate for "${text}": ${problem}`)
  }
  return { type: 'dns', value }
}

/** In hexadecimal throughout, also where the last part is an IPv4 address. */
export function canonicalAddress(address: string): string {
  return isIP(address) === 6 ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address
}

/** Of a certificate issued now: as long as wanted, but never beyond the end of its authority. */
export function validityFrom(now: Date, { validityHours }: LeafRequest, authority: Authority): Validity {
  const wanted = now.getTime() + validityHours * HOUR_MS
  return {
    notBefore: wholeSeconds(Math.max(now.getTime() - BACKDATED_MS, authority.certificate.validFromDate.getTime())),
    notAfter: wholeSeconds(Math.min(wanted, endOf(authority).getTime())),
  }
}

export function wholeSeconds(ms: number): Date {
  return new Date(Math.floor(ms / 1000) * 1000)
}
