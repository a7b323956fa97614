// The certificates around a PostgreSQL cluster. A member has one for all it does: it serves PostgreSQL and Patroni's
// REST API, and calls the REST API of the others with it. No common names: etcd would take one for the name of a user.

import type { CertificateRequest, Site } from '../site.ts'
import type { PostgresMember, PostgresSpec } from './spec.ts'

/** Below `<scope>.<domain>`; they lead to members of that role, whichever these are. */
const SERVICE_NAMES: readonly string[] = ['primary', 'replica', 'sync']

export function memberCertificate(spec: PostgresSpec, member: PostgresMember, { domain }: Site): CertificateRequest {
  const { patroni, haproxy } = spec
  const { certificate } = member
  const proxies = haproxy?.servers ?? []
  return {
    ...terms(member),
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

/** For whoever only asks or operates Patroni: a proxy, or Holdfast itself. It lasts as long as that of the first member. */
export function clientCertificate({ members: [first] }: PostgresSpec, id: string): CertificateRequest {
  return { ...terms(first), id, domains: [], addresses: [], usages: ['client'] }
}

function terms({ certificate: { organization, validityHours, earlyRenewalHours } }: PostgresMember) {
  return { organization, validityHours, earlyRenewalHours }
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)]
}
