// What the certificate of a PostgreSQL server says: each has one of its own, so each may say something else.

import { isIP } from 'node:net'
import { CERTIFICATE_DEFAULTS } from '../../clusters/postgres/schema.ts'
import type { PostgresCertificate } from '../../clusters/postgres/spec.ts'
import { type Layer, nearest } from './layers.ts'
import type { PostgresSettings } from './postgres-part.ts'
import type { StackResolver } from './resolver.ts'

/** `settings`: from near to far. */
export function certificateOf(
  settings: readonly Layer<PostgresSettings>[],
  resolver: StackResolver,
): PostgresCertificate {
  const layers = settings.map(({ path, values }) => ({ path: [...path, 'certificate'], values: values?.certificate }))
  const validityHours = nearest(layers, 'validity_period')?.value ?? CERTIFICATE_DEFAULTS.validity_period
  const renewal = nearest(layers, 'early_renewal_period')
  if (renewal !== undefined && renewal.value >= validityHours)
    resolver.problem(
      renewal.path,
      `certificates would be renewed ${renewal.value} hours before their end, and are valid for ${validityHours}; expected less`,
    )
  // Terraform's users put addresses among the names, too.
  const domains = nearest(layers, 'domains')?.value ?? CERTIFICATE_DEFAULTS.domains
  const extraIps = nearest(layers, 'extra_ips')?.value ?? CERTIFICATE_DEFAULTS.extra_ips
  return {
    domains: domains.filter((domain) => isIP(domain) === 0),
    extraIps: [...new Set([...extraIps, ...domains.filter((domain) => isIP(domain) !== 0)])],
    organization: nearest(layers, 'organization')?.value ?? CERTIFICATE_DEFAULTS.organization,
    validityHours,
    earlyRenewalHours:
      renewal?.value ?? Math.min(CERTIFICATE_DEFAULTS.early_renewal_period, Math.floor(validityHours / 3)),
  }
}
