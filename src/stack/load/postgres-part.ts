// `postgres:` of a stack file to its cluster.

import { isIP } from 'node:net'
import { RESERVED_PARAMETERS } from '../../clusters/postgres/reserved-parameters.ts'
import {
  CERTIFICATE_DEFAULTS,
  HAPROXY_DEFAULTS,
  type ParamsDocument,
  type PostgresDocument,
  type PostgresMemberDocument,
  type ProxyDocument,
} from '../../clusters/postgres/schema.ts'
import type { PatroniEtcdDocument } from '../../clusters/postgres/schema-patroni.ts'
import type { HaproxySpec, PostgresCertificate, PostgresSpec } from '../../clusters/postgres/spec.ts'
import type { EtcdAccess, MachineSpec } from '../../clusters/site.ts'
import type { Path } from '../../document/located.ts'
import { quote } from '../../document/values.ts'
import type { Secret } from '../../lib/secret.ts'
import { plain } from '../../machine/content.ts'
import { externalEndpoints } from './external-etcd.ts'
import { agreed, type Given, type Layer } from './layers.ts'
import type { ClusterEntry } from './machines.ts'
import { patroniNames, resolvePatroni } from './patroni-part.ts'
import type { StackResolver } from './resolver.ts'

export interface PostgresContext {
  readonly part: PostgresDocument
  readonly entries: readonly ClusterEntry<PostgresMemberDocument>[]
  readonly proxies: readonly ClusterEntry<ProxyDocument>[]
  readonly specs: ReadonlyMap<string, MachineSpec>
  readonly hasEtcd: boolean
}

type Settings = NonNullable<PostgresMemberDocument['postgres']>

export function resolvePostgres(context: PostgresContext, resolver: StackResolver): PostgresSpec {
  const { part, entries, specs } = context
  const names = patroniNames(entries, resolver)
  const layers: readonly Layer<Settings>[] = [
    { path: ['postgres'], values: part },
    ...entries.map(({ path, document }) => ({ path: [...path, 'postgres'], values: document?.postgres })),
  ]
  const password = (key: 'replicator_password' | 'superuser_password'): Secret | undefined => {
    const given = agreed(layers, key, resolver)
    return given === undefined ? undefined : resolver.secret(given.value, given.path)
  }
  return {
    version: part.version,
    members: entries.map(({ name }, index) => ({ ...(specs.get(name) as MachineSpec), patroniName: names[index] })),
    params: paramsOf(layers, resolver),
    replicatorPassword: password('replicator_password'),
    superuserPassword: password('superuser_password'),
    certificate: certificateOf(layers, resolver),
    etcd: etcdOf(context, resolver),
    patroni: resolvePatroni(context, resolver),
    haproxy: haproxyOf(context, resolver),
  }
}

/** A list and a map of the same parameters are the same. */
function paramsOf(layers: readonly Layer<Settings>[], resolver: StackResolver): Readonly<Record<string, string>> {
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
    if (reason !== undefined) resolver.problem(at, `${quote(key)} cannot be chosen: ${reason}; wanted: it left out`)
    if (seen.has(name)) resolver.problem(at, `${quote(key)} stands twice; wanted: each parameter once`)
    seen.add(name)
  }
  return Object.fromEntries(entries.map(({ key, value }) => [key, value]))
}

function certificateOf(settings: readonly Layer<Settings>[], resolver: StackResolver): PostgresCertificate {
  const layers = settings.map(({ path, values }) => ({ path: [...path, 'certificate'], values: values?.certificate }))
  const validityHours = agreed(layers, 'validity_period', resolver)?.value ?? CERTIFICATE_DEFAULTS.validity_period
  const renewal = agreed(layers, 'early_renewal_period', resolver)
  if (renewal !== undefined && renewal.value >= validityHours)
    resolver.problem(
      renewal.path,
      `certificates would be renewed ${renewal.value} hours before their end, and are valid for ${validityHours}; wanted: less`,
    )
  // Terraform's users put addresses among the names, too.
  const domains = agreed(layers, 'domains', resolver)?.value ?? CERTIFICATE_DEFAULTS.domains
  const extraIps = agreed(layers, 'extra_ips', resolver)?.value ?? CERTIFICATE_DEFAULTS.extra_ips
  return {
    domains: domains.filter((domain) => isIP(domain) === 0),
    extraIps: [...new Set([...extraIps, ...domains.filter((domain) => isIP(domain) !== 0)])],
    organization: agreed(layers, 'organization', resolver)?.value ?? CERTIFICATE_DEFAULTS.organization,
    validityHours,
    earlyRenewalHours:
      renewal?.value ?? Math.min(CERTIFICATE_DEFAULTS.early_renewal_period, Math.floor(validityHours / 3)),
  }
}

function etcdOf({ part, entries, hasEtcd }: PostgresContext, resolver: StackResolver): EtcdAccess | 'own' {
  const layers: readonly Layer<Pick<PostgresDocument, 'etcd'>>[] = [
    { path: ['postgres'], values: part },
    ...entries.map(({ path, document }) => ({ path, values: document })),
  ]
  const etcd = agreed(layers, 'etcd', resolver)
  if (etcd !== undefined) return externalEtcd(etcd, resolver)
  if (!hasEtcd)
    resolver.problem(['postgres'], 'Patroni has no etcd; wanted: "etcd" in the stack, or "etcd" in "postgres"')
  return 'own'
}

function externalEtcd({ path, value }: Given<PatroniEtcdDocument>, resolver: StackResolver): EtcdAccess | 'own' {
  const password = resolver.secret(value.password, [...path, 'password'])
  const ca = plain(resolver.pem(value.ca_cert, [...path, 'ca_cert']))
  const endpoints = externalEndpoints(value.endpoints, [...path, 'endpoints'], resolver)
  return password === undefined ? 'own' : { endpoints, ca, login: { username: value.username, password } }
}

function haproxyOf({ part, proxies, specs }: PostgresContext, resolver: StackResolver): HaproxySpec | undefined {
  if (part.haproxy === false) return undefined
  const { read_write_port, read_only_port } = part.haproxy === true ? HAPROXY_DEFAULTS : part.haproxy
  if (read_write_port === read_only_port)
    resolver.problem(
      ['postgres', 'haproxy', 'read_only_port'],
      `${read_only_port} is "read_write_port", too; wanted: another port`,
    )
  return {
    servers: proxies.map(({ name }) => specs.get(name) as MachineSpec),
    readWritePort: read_write_port,
    readOnlyPort: read_only_port,
  }
}
