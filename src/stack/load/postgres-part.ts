// `postgres:` of a stack file to its cluster.

import { RESERVED_PARAMETERS } from '../../clusters/postgres/reserved-parameters.ts'
import {
  HAPROXY_DEFAULTS,
  type ParamsDocument,
  type PostgresDocument,
  type PostgresMemberDocument,
  type ProxyDocument,
} from '../../clusters/postgres/schema.ts'
import type { HaproxySpec, PostgresSpec } from '../../clusters/postgres/spec.ts'
import type { MachineSpec } from '../../clusters/site.ts'
import type { Path } from '../../document/located.ts'
import { quote } from '../../document/values.ts'
import type { Secret } from '../../lib/secret.ts'
import { agreed, type Layer } from './layers.ts'
import type { ClusterEntry } from './machines.ts'
import { patroniEtcd, patroniLogins } from './patroni-etcd.ts'
import { patroniNames, resolvePatroni } from './patroni-part.ts'
import { certificateOf } from './postgres-certificate.ts'
import type { StackResolver } from './resolver.ts'

export interface PostgresContext {
  readonly part: PostgresDocument
  readonly entries: readonly ClusterEntry<PostgresMemberDocument>[]
  readonly proxies: readonly ClusterEntry<ProxyDocument>[]
  readonly specs: ReadonlyMap<string, MachineSpec>
  readonly hasEtcd: boolean
}

export type PostgresSettings = NonNullable<PostgresMemberDocument['postgres']>

export function resolvePostgres(context: PostgresContext, resolver: StackResolver): PostgresSpec {
  const { part, entries, specs } = context
  const [names, logins] = [patroniNames(entries, resolver), patroniLogins(context, resolver)]
  const cluster: Layer<PostgresSettings> = { path: ['postgres'], values: part }
  const own = entries.map(
    ({ path, document }): Layer<PostgresSettings> => ({ path: [...path, 'postgres'], values: document?.postgres }),
  )
  const layers = [cluster, ...own]
  const password = (key: 'replicator_password' | 'superuser_password'): Secret | undefined => {
    const given = agreed(layers, key, resolver)
    return given === undefined ? undefined : resolver.secret(given.value, given.path)
  }
  return {
    version: part.version,
    members: entries.map(({ name }, index) => ({
      ...(specs.get(name) as MachineSpec),
      patroniName: names[index],
      certificate: certificateOf([own[index], cluster], resolver),
      etcdLogin: logins[index],
    })),
    params: paramsOf(layers, resolver),
    replicatorPassword: password('replicator_password'),
    superuserPassword: password('superuser_password'),
    etcd: patroniEtcd(context, resolver),
    patroni: resolvePatroni(context, resolver),
    haproxy: haproxyOf(context, resolver),
  }
}

/** A list and a map of the same parameters are the same. */
function paramsOf(
  layers: readonly Layer<PostgresSettings>[],
  resolver: StackResolver,
): Readonly<Record<string, string>> {
  const maps = layers.map(({ path, values }) => ({
    path,
    values: { params: values?.params && asMap(values.params, [...path, 'params'], resolver) },
  }))
  return agreed(maps, 'params', resolver)?.value ?? {}
}

function asMap(params: ParamsDocument, path: Path, resolver: StackResolver): Record<string, string> {
  const entries = Array.isArray(params)
    ? params.map(({ key, value }, index) => ({ key, value, at: [...path, index] }))
    : Object.entries(params).map(([key, value]) => ({ key, value, at: [...path, key] }))
  const seen = new Set<string>()
  for (const { key, at } of entries) {
    // PostgreSQL does not mind the case.
    const name = key.toLowerCase()
    const reason = RESERVED_PARAMETERS.get(name)
    if (reason !== undefined) resolver.problem(at, `${quote(key)} cannot be chosen: ${reason}; expected it left out`)
    if (seen.has(name)) resolver.problem(at, `${quote(key)} stands twice; expected each parameter once`)
    seen.add(name)
  }
  return Object.fromEntries(entries.map(({ key, value }) => [key, value]))
}

function haproxyOf({ part, proxies, specs }: PostgresContext, resolver: StackResolver): HaproxySpec | undefined {
  if (part.haproxy === false) return undefined
  const { read_write_port, read_only_port } = part.haproxy === true ? HAPROXY_DEFAULTS : part.haproxy
  if (read_write_port === read_only_port)
    resolver.problem(
      ['postgres', 'haproxy', 'read_only_port'],
      `${read_only_port} is "read_write_port", too; expected another port`,
    )
  return {
    servers: proxies.map(({ name }) => specs.get(name) as MachineSpec),
    readWritePort: read_write_port,
    readOnlyPort: read_only_port,
  }
}
