// The users of etcd that the stack needs itself, each with no more than its task takes: name servers read, Patroni writes its
// namespace, people and publishers write zones. Nobody uses root.

import type { DnsSpec } from '../../clusters/dns/spec.ts'
import type { EtcdUser } from '../../clusters/etcd/spec.ts'
import type { PostgresSpec } from '../../clusters/postgres/spec.ts'
import type { StackResolver } from './resolver.ts'

type Access = EtcdUser['permissions'][number]['access']

export function ownUsers(dns: DnsSpec | undefined, postgres: PostgresSpec | undefined, resolver: StackResolver) {
  const namespace = postgres?.etcd === 'own' ? postgres.patroni.namespace : undefined
  const user = (name: string, access: Access, prefixes: readonly string[]): EtcdUser => ({
    name,
    permissions: prefixes.map((prefix) => ({ access, prefix })),
    password: undefined,
  })
  const users: EtcdUser[] = []
  if (dns?.etcd === 'own') {
    const zones = [dns.keyPrefix, ...(dns.skydns === undefined ? [] : [`${dns.skydns.path}/`])]
    const read = [...zones, ...(namespace === undefined ? [] : [namespace])]
    refuseOverlap(read, resolver)
    users.push(user('dns', 'read', read), user('zones', 'readwrite', zones))
  }
  if (namespace !== undefined) users.push(user('patroni', 'readwrite', [namespace]))
  return users
}

/** Each prefix is read as something else: keys of Patroni are no zones. */
function refuseOverlap(prefixes: readonly string[], resolver: StackResolver): void {
  for (const [index, one] of prefixes.entries())
    for (const other of prefixes.slice(index + 1))
      if (one.startsWith(other) || other.startsWith(one))
        resolver.problem(
          ['dns'],
          `the keys below "${one}" and "${other}" are partly the same; expected another "key_prefix", "path" or "namespace"`,
        )
}
