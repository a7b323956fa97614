// The certificates around a PostgreSQL cluster. A member has one for all it does: it serves PostgreSQL and Patroni's
// REST API, and calls the REST API of the others with it. No common names: etcd would take one for the name of a user.

import type { CertificateRequest, Site } from '../site.ts'
import type { PostgresMember, PostgresSpec } from './spec.ts'

/** Below `<scope>.<domain>`; they lead to members of that role, whichever these are. */
const SERVICE_NAMES: readonly string[] = ['primary', 'replica', 'sync']

export function memberCertificate(spec: PostgresSpec, member: PostgresMember, { domain }: Site): CertificateRequest {
  const { certificate, patroni, haproxy } = spec
  const proxies = haproxy?.servers ?? []
  return {
    ...terms(spec),
    id: `${member.name}/server`,
    domains: unique([
      `${member.name}.${domain}`,
      `${member.patroniName}.${patroni.scope}.${domain}`,
      ...SERVICE_NAMES.map((name) => `${name}.${patroni.scope}.${domain}`),
      ...proxies.map(({ name }) => `${name}.${domain}`),
      ...certificate.domains,
    ]),
    addresses: unique([
      member.address,
      ...member.moreAddresses,
      '127.0.0.1',
      ...proxies.map(({ address }) => address),
      ...certificate.extraIps,
    ]),
    usages: ['server', 'client'],
  }
}

/** For whoever only asks or operates Patroni: a proxy, or Holdfast itself. */
export function clientCertificate(spec: PostgresSpec, id: string): CertificateRequest {
  return { ...terms(spec), id, domains: [], addresses: [], usages: ['client'] }
}

function terms({ certificate: { organization, validityHours, earlyRenewalHours } }: PostgresSpec) {
  return { organization, validityHours, earlyRenewalHours }
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)]
}
