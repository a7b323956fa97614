// etcd's settings as environment files. What it only reads at its first start is in a file of its own: later it would
// look like a change that it is not.

import type { Site } from '../site.ts'
import type { EtcdMember, EtcdSpec } from './spec.ts'
import { clientUrl, peerUrl } from './urls.ts'

/** Inside the machine. */
export const PATHS = {
  data: '/var/lib/etcd',
  config: '/etc/etcd',
  settings: '/etc/etcd/etcd.env',
  initial: '/etc/etcd/initial.env',
  authorities: '/etc/etcd/ca.pem',
  clientAuthorities: '/etc/etcd/client-ca.pem',
  certificate: '/etc/etcd/server.pem',
  key: '/etc/etcd/server.key',
} as const

/**
 * The log that a member writes before anything else and never loses. The data directory itself is not empty for long: an etcd
 * that lost its data fills it again with an empty database, although the other members do not let it join.
 */
export const LOG = `${PATHS.data}/member/wal`

/** A member of a cluster, or a machine that may be one: what the cluster knows it by is its address. */
export interface MemberPlace {
  readonly name: string
  readonly address: string
}

/**
 * A name that only the members' certificates carry. The users' certificates come from the same authority, and without
 * this, any of them would be let in on the port of the peers, where there are no permissions. It is no address, and stays when
 * the domain of the stack changes: members with another one would shut each other out.
 */
export function peerName({ stack }: Site): string {
  return `peers.etcd.${stack}`
}

/**
 * What the members' certificates have in common where the stack file gives them: each must be valid for it. Certificates of clients
 * are not, but those of other servers may be. A name taken from the certificates would differ between old and new ones,
 * and members would shut each other out while the certificates change.
 */
const GIVEN_PEER_NAME = '127.0.0.1'

export function memberSettings(spec: EtcdSpec, site: Site, { name, address }: EtcdMember): string {
  const at = (path: string) => site.path(name, path)
  const areAllIssued = spec.members.every(({ tls }) => tls === undefined)
  return lines({
    ETCD_NAME: name,
    ETCD_DATA_DIR: at(PATHS.data),
    ETCD_LISTEN_CLIENT_URLS: clientUrl(address),
    ETCD_ADVERTISE_CLIENT_URLS: clientUrl(address),
    ETCD_LISTEN_PEER_URLS: peerUrl(address),
    ETCD_CERT_FILE: at(PATHS.certificate),
    ETCD_KEY_FILE: at(PATHS.key),
    ETCD_CLIENT_CERT_AUTH: spec.clientCertAuth,
    // Makes client certificates mandatory, also where users have passwords: until authentication is enabled every client is
    // root, and some calls (alarms, leader transfer, leases) never ask for a password.
    ETCD_TRUSTED_CA_FILE: at(PATHS.clientAuthorities),
    ETCD_PEER_CERT_FILE: at(PATHS.certificate),
    ETCD_PEER_KEY_FILE: at(PATHS.key),
    ETCD_PEER_CLIENT_CERT_AUTH: true,
    ETCD_PEER_TRUSTED_CA_FILE: at(PATHS.authorities),
    ETCD_PEER_CERT_ALLOWED_HOSTNAME: areAllIssued ? peerName(site) : GIVEN_PEER_NAME,
    ETCD_AUTO_COMPACTION_MODE: spec.autoCompactionMode,
    ETCD_AUTO_COMPACTION_RETENTION: spec.autoCompactionRetention,
    ETCD_QUOTA_BACKEND_BYTES: spec.spaceQuotaBytes,
    ETCD_ENABLE_GRPC_GATEWAY: spec.grpcGatewayEnabled,
    ETCD_STRICT_RECONFIG_CHECK: true,
    ETCD_INITIAL_ELECTION_TICK_ADVANCE: true,
    ETCD_LOGGER: 'zap',
    ETCD_LOG_OUTPUTS: 'stderr',
    ETCD_LOG_LEVEL: 'info',
    // etcd 3.4 starts on this architecture only when told so; elsewhere it means nothing.
    ETCD_UNSUPPORTED_ARCH: 'arm64',
  })
}

/**
 * A new cluster begins with all its members; later ones join those that run, one after the other. A member that runs has only
 * itself to ask: with its data, etcd ignores this; without, it refuses to start, and never votes with an empty log under its old id.
 */
export function initialSettings(spec: EtcdSpec, member: EtcdMember, running: readonly MemberPlace[]): string {
  const isRunning = ({ name }: MemberPlace) => running.some((other) => other.name === name)
  const joining = spec.members.filter((other) => !isRunning(other))
  const before = joining.slice(0, joining.indexOf(member) + 1)
  const members = running.length === 0 ? spec.members : isRunning(member) ? [member] : [...running, ...before]
  return lines({
    ETCD_INITIAL_ADVERTISE_PEER_URLS: peerUrl(member.address),
    ETCD_INITIAL_CLUSTER: members.map(({ name, address }) => `${name}=${peerUrl(address)}`).join(','),
    ETCD_INITIAL_CLUSTER_STATE: running.length === 0 ? 'new' : 'existing',
    ETCD_INITIAL_CLUSTER_TOKEN: spec.initialToken,
  })
}

function lines(settings: Readonly<Record<string, string | number | boolean>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
}
