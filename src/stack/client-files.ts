// What a person needs to use a stack, as files: certificates, and `env`, which a shell reads to get the variables of
// etcdctl and psql. Whoever may read them may do everything in etcd and PostgreSQL.

import { join } from 'node:path'
import type { DnsSpec } from '../clusters/dns/spec.ts'
import { etcdAccess, OWN_USERS, ROOT, ZONES_USER } from '../clusters/etcd/access.ts'
import { POSTGRES_PORT } from '../clusters/postgres/spec.ts'
import { clientCertificate, type EtcdAccess, type Site } from '../clusters/site.ts'
import { Secret } from '../lib/secret.ts'
import { type Content, content, plain } from '../machine/content.ts'
import type { Stack } from './stack.ts'

export interface ClientFile {
  readonly name: string
  readonly content: Content
}

export function clientFiles(stack: Stack, site: Site, directory: string): ClientFile[] {
  const { etcd, postgres } = stack
  const at = (name: string) => join(directory, name)
  const lines: Content[] = [plain(`# Variables for etcdctl and psql: . ${at('env')}\n`)]
  const files: ClientFile[] = [{ name: 'ca.pem', content: site.keyring.authority }]
  if (etcd !== undefined) {
    const user = etcd.users.some(({ name }) => name === ZONES_USER) ? ZONES_USER : ROOT
    const access = etcdAccess(etcd, site, user)
    files.push(
      { name: 'etcd-ca.pem', content: access.ca },
      ...keyPair('etcd', access),
      // For `up` itself.
      ...keyPair('etcd-root', etcdAccess(etcd, site, ROOT)),
      // What the others need is on their machines, or here under a name of its own.
      ...etcd.users
        .filter(({ name }) => !OWN_USERS.has(name))
        .flatMap(({ name }) => keyPair(`etcd-user-${name}`, etcdAccess(etcd, site, name))),
    )
    lines.push(
      plain(`export ETCDCTL_API=3 ETCDCTL_CACERT='${at('etcd-ca.pem')}'\n`),
      plain(`export ETCDCTL_ENDPOINTS=${access.endpoints.map((endpoint) => `https://${endpoint}`).join(',')}\n`),
      plain(`export ETCDCTL_CERT='${at('etcd.pem')}' ETCDCTL_KEY='${at('etcd.key')}'\n`),
    )
    if ('username' in access.login)
      lines.push(
        content`export ETCDCTL_USER=${shellQuoted(`${access.login.username}:${access.login.password.reveal()}`)}\n`,
      )
  }
  if (postgres !== undefined) {
    const primary = primaryName(stack)
    const password = site.keyring.secret('postgres-superuser-password', postgres.superuserPassword)
    files.push({ name: 'pgpass', content: content`*:*:*:postgres:${pgpassEscaped(password)}\n` })
    lines.push(
      plain(`export PGUSER=postgres PGDATABASE=postgres PGPORT=${POSTGRES_PORT} PGPASSFILE='${at('pgpass')}'\n`),
      plain(`export PGSSLMODE=verify-full PGSSLROOTCERT='${at('ca.pem')}'\n`),
    )
    if (stack.dns !== undefined) lines.push(plain(addressFunction(stack.dns)))
    if (primary !== undefined) lines.push(plain(`export PGHOST=${primary} PGHOSTADDR=$(address_of ${primary})\n`))
  }
  return [...files, { name: 'env', content: lines.flat() }]
}

/** The name that follows the primary, which only our own name server has. */
export function primaryName({ dns, postgres, domain }: Stack): string | undefined {
  return postgres === undefined || dns?.engine !== 'holdfast'
    ? undefined
    : `primary.${postgres.patroni.scope}.${domain}`
}

/** This host's own resolver does not know the stack; the first of its name servers that answers does. */
function addressFunction({ servers, port }: DnsSpec): string {
  return `# The address of a name of the stack; for another one than the primary: PGHOSTADDR=$(address_of NAME) psql -h NAME
address_of() {
  for server in ${servers.map(({ address }) => address).join(' ')}; do
    dig +short +time=1 +tries=1 -p ${port} "@$server" "$1" | grep -m 1 -E '^[0-9a-fA-F.:]+$' && return
  done
}
`
}

export function digCommand({ dns }: Stack, name: string): string {
  const port = dns === undefined || dns.port === 53 ? '' : ` -p ${dns.port}`
  return `dig +short${port} @${dns?.servers[0]?.address} ${name}`
}

/** In pgpass, colons and backslashes have a meaning. */
function pgpassEscaped(password: Secret): Secret {
  return new Secret(password.reveal().replaceAll(/[\\:]/gu, '\\$&'))
}

function shellQuoted(text: string): Secret {
  return new Secret(`'${text.replaceAll("'", String.raw`'\''`)}'`)
}

function keyPair(name: string, { login }: EtcdAccess): ClientFile[] {
  const pair = clientCertificate(login)
  if (pair === undefined) return []
  return [
    { name: `${name}.pem`, content: pair.certificate },
    { name: `${name}.key`, content: pair.key },
  ]
}
