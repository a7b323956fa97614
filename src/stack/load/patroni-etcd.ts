// The etcd cluster of Patroni: the stack's own, or another one, which is then the same for all members. As whom Patroni is
// there, each member may say for itself.

import type { PostgresDocument } from '../../clusters/postgres/schema.ts'
import type { PatroniEtcdDocument } from '../../clusters/postgres/schema-patroni.ts'
import type { EtcdAccess, EtcdLogin } from '../../clusters/site.ts'
import { plain } from '../../machine/content.ts'
import { certifiedKey, externalEndpoints } from './external-etcd.ts'
import { agreed, type Given, type Layer, nearest } from './layers.ts'
import { pairOf } from './logs.ts'
import type { PostgresContext } from './postgres-part.ts'
import type { StackResolver } from './resolver.ts'

type Layers = readonly Layer<Pick<PostgresDocument, 'etcd'>>[]

/** From the cluster to its members. */
function layersOf({ part }: PostgresContext, entries: PostgresContext['entries']): Layers {
  return [{ path: ['postgres'], values: part }, ...entries.map(({ path, document }) => ({ path, values: document }))]
}

/** With the login of the first who gives one, for those who give none. */
export function patroniEtcd(context: PostgresContext, resolver: StackResolver): EtcdAccess | 'own' {
  const layers = layersOf(context, context.entries)
  const first = nearest(layers, 'etcd')
  if (first === undefined) {
    if (!context.hasEtcd)
      resolver.problem(['postgres'], 'Patroni has no etcd; expected "etcd" in the stack, or "etcd" in "postgres"')
    return 'own'
  }
  const places = layers.map(({ path, values }) => ({ path: [...path, 'etcd'], values: values?.etcd }))
  const [endpoints, ca] = [agreed(places, 'endpoints', resolver), agreed(places, 'ca_cert', resolver)]
  const login = loginOf(first, resolver)
  if (endpoints === undefined || ca === undefined || login === undefined) return 'own'
  return {
    endpoints: externalEndpoints(endpoints.value, endpoints.path, resolver),
    ca: plain(resolver.pem(ca.value, ca.path)),
    login,
  }
}

/** By member; undefined for one that does as the first. */
export function patroniLogins(context: PostgresContext, resolver: StackResolver): (EtcdLogin | undefined)[] {
  const first = nearest(layersOf(context, context.entries), 'etcd')
  return context.entries.map((entry) => {
    const own = nearest(layersOf(context, [entry]).toReversed(), 'etcd')
    return own === undefined || own.value === first?.value ? undefined : loginOf(own, resolver)
  })
}

function loginOf({ path, value }: Given<PatroniEtcdDocument>, resolver: StackResolver): EtcdLogin | undefined {
  const password = resolver.secret(value.password, [...path, 'password'])
  const connection = certifiedKey(pairOf(value, path, resolver))
  return password && { username: value.username, password, connection }
}
