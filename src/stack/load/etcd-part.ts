// `etcd:` of a stack file to its cluster: what all members have in common, who sets up users, and which users there are.

import { OWN_USERS, ROOT } from '../../clusters/etcd/access.ts'
import { ETCD_DEFAULTS, type EtcdDocument, type EtcdMemberDocument } from '../../clusters/etcd/schema.ts'
import type { EtcdMember, EtcdSpec, EtcdUser } from '../../clusters/etcd/spec.ts'
import type { MachineSpec } from '../../clusters/site.ts'
import { formatPath } from '../../document/located.ts'
import { parseDuration } from '../../document/notation.ts'
import { quote } from '../../document/values.ts'
import type { Secret } from '../../lib/secret.ts'
import { resolveCertificate } from './certificates.ts'
import { checkInitialMembers, initialLayers, isExisting } from './etcd-initial.ts'
import { agreed, type Layer } from './layers.ts'
import type { ClusterEntry } from './machines.ts'
import type { StackResolver } from './resolver.ts'

export interface EtcdContext {
  readonly stack: string
  readonly part: EtcdDocument
  readonly entries: readonly ClusterEntry<EtcdMemberDocument>[]
  readonly specs: ReadonlyMap<string, MachineSpec>
  /** Those the other clusters of the stack need. */
  readonly ownUsers: readonly EtcdUser[]
  /** Patroni of this stack uses the cluster. */
  readonly isForPatroni: boolean
}

/** Names that users of the file cannot have, whether or not the stack has them itself. */
const RESERVED_USERS: ReadonlySet<string> = new Set([ROOT, ...OWN_USERS])

export function resolveEtcd(context: EtcdContext, resolver: StackResolver): EtcdSpec {
  const { part, entries, stack, ownUsers } = context
  const layers: readonly Layer<Omit<EtcdDocument, 'members'>>[] = [
    { path: ['etcd'], values: part },
    ...entries.map(({ path, document }) => ({ path: [...path, 'etcd'], values: document?.etcd })),
  ]
  const clientCertAuth = authentication(context, layers, resolver)
  const users = [...ownUsers, ...givenUsers(part, clientCertAuth, resolver)]
  if (entries.length % 2 === 0) resolver.notice(['etcd', 'members'], evenNumber(entries.length))
  checkInitialMembers(context, resolver)
  return {
    members: membersOf(context, users, resolver),
    ...compaction(layers, resolver),
    spaceQuotaBytes: agreed(layers, 'space_quota', resolver)?.value ?? ETCD_DEFAULTS.space_quota,
    grpcGatewayEnabled: agreed(layers, 'grpc_gateway_enabled', resolver)?.value ?? context.isForPatroni,
    clientCertAuth,
    bootstrapMember: bootstrapMember(entries, resolver),
    rootPassword: rootPassword(context, clientCertAuth, resolver),
    initialToken: agreed(initialLayers(context), 'initial_token', resolver)?.value ?? stack,
    isExisting: isExisting(context),
    users,
  }
}

/** etcd 3.4 can compare one name of a peer's certificate, and only this one is in all of them. */
const GIVEN_CERTIFICATES =
  'members accept as a member any certificate of "ca_cert" that is valid for 127.0.0.1: no client should have one'

function evenNumber(members: number): string {
  const tolerated = members / 2 - 1
  return `${members} etcd members tolerate ${tolerated === 0 ? 'no failure' : `${tolerated} failed`}, like ${members - 1}; use an odd number`
}

/** Whether users are known by certificates. Patroni comes through the gateway, and the gateway takes no certificates. */
function authentication(
  { isForPatroni }: EtcdContext,
  layers: readonly Layer<Omit<EtcdDocument, 'members'>>[],
  resolver: StackResolver,
): boolean {
  const certificates = agreed(layers, 'client_cert_auth', resolver)
  const gateway = agreed(layers, 'grpc_gateway_enabled', resolver)
  const clientCertAuth = certificates?.value ?? !isForPatroni
  if (isForPatroni && certificates?.value === true)
    resolver.problem(
      certificates.path,
      'Patroni cannot use client certificates: it comes through the gRPC gateway, which takes none; expected false, or another cluster as "etcd" in "postgres"',
    )
  else if (isForPatroni && gateway?.value === false)
    resolver.problem(
      gateway.path,
      'Patroni comes through the gRPC gateway; expected true, or another cluster as "etcd" in "postgres"',
    )
  else if (gateway?.value === true && clientCertAuth)
    resolver.problem(
      gateway.path,
      'the gateway takes no client certificates; expected "client_cert_auth: false" with it',
    )
  return clientCertAuth
}

function compaction(
  layers: readonly Layer<Omit<EtcdDocument, 'members'>>[],
  resolver: StackResolver,
): Pick<EtcdSpec, 'autoCompactionMode' | 'autoCompactionRetention'> {
  const mode = agreed(layers, 'auto_compaction_mode', resolver)?.value ?? ETCD_DEFAULTS.auto_compaction_mode
  const retention = agreed(layers, 'auto_compaction_retention', resolver)
  if (retention !== undefined && !/^\d+$/u.test(retention.value)) {
    if (mode === 'revision')
      resolver.problem(
        retention.path,
        `${quote(retention.value)} is not a number of revisions; expected one such as 1000`,
      )
    else if (parseDuration(retention.value) === undefined)
      resolver.problem(retention.path, `${quote(retention.value)} is not a time; expected hours, or one such as 30m`)
  }
  return {
    autoCompactionMode: mode,
    autoCompactionRetention: retention?.value ?? ETCD_DEFAULTS.auto_compaction_retention,
  }
}

function bootstrapMember(entries: EtcdContext['entries'], resolver: StackResolver): string {
  const says = ({ document }: EtcdContext['entries'][number]) => document?.authentication_bootstrap?.bootstrap
  const at = ({ path }: EtcdContext['entries'][number]) => [...path, 'authentication_bootstrap', 'bootstrap']
  const [first, ...others] = entries.filter((entry) => says(entry) === true)
  for (const entry of others)
    resolver.problem(at(entry), `${quote(first.name)} sets up users already; expected one member that does`)
  const chosen = first ?? entries.find((entry) => says(entry) !== false) ?? entries[0]
  if (says(chosen) === false)
    resolver.notice(at(chosen), `no effect, as authentication is always turned on: ${quote(chosen.name)} does it`)
  return chosen.name
}

/** An empty one stands for none where there is no use for it, as the documents of the variables have it. */
function rootPassword(
  { part, entries }: EtcdContext,
  clientCertAuth: boolean,
  resolver: StackResolver,
): Secret | undefined {
  const key = 'authentication_bootstrap'
  const layers = [
    { path: ['etcd', key], values: part[key], isUsed: true },
    ...entries.map(({ path, document }) => {
      const values = document?.[key]
      return { path: [...path, key], values, isUsed: values?.bootstrap === true }
    }),
  ].filter(({ values, isUsed, path }) => {
    if (values?.root_password !== '') return true
    if (isUsed && !clientCertAuth)
      resolver.problem([...path, 'root_password'], 'the password is empty; expected one, or no "root_password" at all')
    return false
  })
  const password = agreed(layers, 'root_password', resolver)
  return password === undefined || password.value === '' ? undefined : resolver.secret(password.value, password.path)
}

function givenUsers({ users = [] }: EtcdDocument, clientCertAuth: boolean, resolver: StackResolver): EtcdUser[] {
  const seen = new Set<string>()
  return users.map(({ name, permissions, password }, index) => {
    const path = ['etcd', 'users', index]
    if (RESERVED_USERS.has(name))
      resolver.problem([...path, 'name'], `${quote(name)} is a user of the stack itself; expected another name`)
    if (seen.has(name)) resolver.problem([...path, 'name'], `${quote(name)} stands twice; expected each user once`)
    seen.add(name)
    if (password !== undefined && clientCertAuth)
      resolver.notice([...path, 'password'], 'no effect, as users of this cluster are known by certificates')
    return {
      name,
      permissions,
      password: password === undefined ? undefined : resolver.secret(password, [...path, 'password']),
    }
  })
}

function membersOf({ entries, specs }: EtcdContext, users: readonly EtcdUser[], resolver: StackResolver): EtcdMember[] {
  const names = new Set([...RESERVED_USERS, ...users.map(({ name }) => name)])
  const tls = entries.map(({ document, path }) => ({ path: [...path, 'tls'], value: document?.tls }))
  const first = tls.find(({ value }) => value !== undefined)
  if (first !== undefined) resolver.notice(first.path, GIVEN_CERTIFICATES)
  return entries.map(({ name, path }, index) => {
    const spec = specs.get(name) as MachineSpec
    const { value } = tls[index]
    if (first === undefined) return { ...spec, tls: undefined }
    if (value === undefined) {
      resolver.problem(
        path,
        `it has no "tls" while ${formatPath(first.path)} is given; expected it for all members or none`,
      )
      return { ...spec, tls: undefined }
    }
    const { address } = spec
    return { ...spec, tls: resolveCertificate(value, { address, users: names }, tls[index].path, resolver) }
  })
}
