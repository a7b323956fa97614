// Whether a certificate that exists is the one that is wanted. It is asked for every certificate at every plan, so it uses
// what Node has built in.

import type { X509Certificate } from 'node:crypto'
import { type Authority, dateOf, isSignedBy } from './authority.ts'
import { canonicalAddress, HOUR_MS, type LeafRequest, subjectNames, validityFrom } from './leaf-request.ts'

const USAGES = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const
/** Two clocks may differ. */
const TOLERANCE_MS = HOUR_MS

/** Undefined, or why it has to be issued again, in words that follow `the certificate …`. */
export function fits(
  certificate: X509Certificate,
  request: LeafRequest,
  authority: Authority,
  now: Date,
): string | undefined {
  if (!isSignedBy(certificate, authority.certificate)) return 'was signed by another authority'
  return (
    namesProblem(certificate, request) ??
    subjectProblem(certificate, request) ??
    usagesProblem(certificate, request) ??
    timeProblem(certificate, request, authority, now)
  )
}

function namesProblem({ subjectAltName }: X509Certificate, request: LeafRequest): string | undefined {
  const has = new Set(subjectAltName?.split(', ').map(nameIn))
  const wanted = subjectNames(request).map(({ value }) => value)
  const missing = wanted.filter((name) => !has.has(name))
  if (missing.length > 0) return `is not valid for ${missing.join(', ')}`
  return has.size === wanted.length ? undefined : 'names changed'
}

/** From `DNS:a.test` or `IP Address:FD00:0:0:0:0:0:0:1`. */
function nameIn(text: string): string {
  const colon = text.indexOf(':')
  const value = text.slice(colon + 1)
  return text.startsWith('IP Address') ? canonicalAddress(value) : value
}

function subjectProblem(certificate: X509Certificate, request: LeafRequest): string | undefined {
  const { CN, O } = certificate.toLegacyObject().subject ?? {}
  if (O !== (request.organization || undefined)) return 'organization changed'
  return CN === (request.commonName || undefined) ? undefined : 'common name changed'
}

function usagesProblem({ keyUsage }: X509Certificate, { usages }: LeafRequest): string | undefined {
  const has = new Set(keyUsage)
  const wanted = new Set(usages.map((usage) => USAGES[usage]))
  return has.symmetricDifference(wanted).size === 0 ? undefined : 'usages changed'
}

function timeProblem(
  { validFromDate, validToDate }: X509Certificate,
  request: LeafRequest,
  authority: Authority,
  now: Date,
): string | undefined {
  const leftMs = validToDate.getTime() - now.getTime()
  if (leftMs <= 0) return `expired on ${dateOf(validToDate)}`
  if (validFromDate > now) return `is not valid before ${validFromDate.toISOString()}`
  const { notAfter } = validityFrom(now, request, authority)
  if (validToDate.getTime() > notAfter.getTime() + TOLERANCE_MS) return 'outlives validity_period'
  // Close to the end of its authority a new one would not live longer.
  const isWorthIt = notAfter > validToDate
  return leftMs < request.earlyRenewalHours * HOUR_MS && isWorthIt ? `expires in ${duration(leftMs)}` : undefined
}

function duration(ms: number): string {
  const hours = Math.floor(ms / HOUR_MS)
  if (hours < 1) return 'less than an hour'
  if (hours < 48) return `${hours} ${hours === 1 ? 'hour' : 'hours'}`
  return `${Math.floor(hours / 24)} days`
}
