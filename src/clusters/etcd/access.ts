// Who may use an etcd cluster, and how they prove it: by a certificate whose common name is the user; or by a password, with a
// certificate that only opens the connection. Every client of the cluster presents a certificate.

import { type Content, plain, reveal } from '../../machine/content.ts'
import type { Secret } from '../../lib/secret.ts'
import type { CertificateRequest, CertifiedKey, EtcdAccess, Site } from '../site.ts'
import type { EtcdSpec } from './spec.ts'
import { clientEndpoint } from './urls.ts'

export const ROOT = 'root'
/** The user for people and publishers; a stack without names has none. */
export const ZONES_USER = 'zones'
/** Users of the stack itself: no file can give them more. */
export const OWN_USERS: ReadonlySet<string> = new Set(['dns', 'patroni', ZONES_USER])

/** Nothing renews a certificate between two runs of `up`, so they last. */
export const CERTIFICATE_LIFE = {
  organization: 'Holdfast',
  validityHours: 10 * 365 * 24,
  earlyRenewalHours: 365 * 24,
} as const satisfies Partial<CertificateRequest>

/** For root, or one of the users of the spec. */
export function etcdAccess(spec: EtcdSpec, site: Site, user: string): EtcdAccess {
  return {
    endpoints: spec.members.map(({ address }) => clientEndpoint(address)),
    ca: serverAuthorities(spec, site),
    login: spec.clientCertAuth
      ? userCertificate(site, user)
      : {
          username: user,
          password: userPassword(spec, site, user),
          connection: connectionCertificate(site, user),
        },
  }
}

export function userPassword(spec: EtcdSpec, { keyring }: Site, user: string): Secret {
  if (user === ROOT) return keyring.secret('etcd-root-password', spec.rootPassword)
  return keyring.secret(`etcd-user-${user}-password`, spec.users.find(({ name }) => name === user)?.password)
}

export function userCertificate({ keyring }: Site, user: string): CertifiedKey {
  return keyring.certificate({ ...clientTerms(`etcd-user/${user}`), commonName: user })
}

/** It names nobody, so it grants nothing: who the client is, its password says. */
export function connectionCertificate({ keyring }: Site, user: string): CertifiedKey {
  return keyring.certificate(clientTerms(`etcd-connection/${user}`))
}

function clientTerms(id: string): CertificateRequest {
  return { ...CERTIFICATE_LIFE, id, domains: [], addresses: [], usages: ['client'] }
}

/** Those that signed the members' certificates, which their clients and the members among themselves trust. */
export function serverAuthorities({ members }: EtcdSpec, { keyring }: Site): Content {
  return together(members.map(({ tls }) => (tls === undefined ? keyring.authority : plain(tls.caCert))))
}

/** Those whose client certificates are accepted: the members' own, and the one that signs the users'. */
export function clientAuthorities(spec: EtcdSpec, site: Site): Content {
  return together([site.keyring.authority, serverAuthorities(spec, site)])
}

/** Each once, each with an end of line. */
function together(contents: readonly Content[]): Content {
  const unique = new Map(contents.map((content) => [reveal(content).trimEnd(), content]))
  return [...unique].flatMap(([text, content]) => (reveal(content).endsWith('\n') ? content : plain(`${text}\n`)))
}
