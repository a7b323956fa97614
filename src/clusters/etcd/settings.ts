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

/** A member of a cluster, or a machine that may be one: what the cluster knows it by is its address. */
export interface MemberPlace {
  readonly name: string
  readonly address: string
}

/**
 * A name that only our members' certificates carry. The users' certificates come from the same authority, and without
 * this, any of them would be let in on the port of the peers, where there are no permissions. It is nobody's address, and stays when
 * the domain of the stack changes: members with another one would shut each other out.
 */
export function peerName({ stack }: Site): string {
  return `peers.etcd.${stack}`
}

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
    // Given without client certificate authentication, it would make client certificates mandatory all the same.
    ...(spec.clientCertAuth && { ETCD_TRUSTED_CA_FILE: at(PATHS.clientAuthorities) }),
    ETCD_PEER_CERT_FILE: at(PATHS.certificate),
    ETCD_PEER_KEY_FILE: at(PATHS.key),
    ETCD_PEER_CLIENT_CERT_AUTH: true,
    ETCD_PEER_TRUSTED_CA_FILE: at(PATHS.authorities),
    ...(areAllIssued && { ETCD_PEER_CERT_ALLOWED_HOSTNAME: peerName(site) }),
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

/** A new cluster begins with all its members; who comes later joins those that are there, one after the other. */
export function initialSettings(spec: EtcdSpec, member: EtcdMember, running: readonly MemberPlace[]): string {
  const isRunning = ({ name }: MemberPlace) => running.some((other) => other.name === name)
  const joining = spec.members.filter((other) => !isRunning(other))
  const before = isRunning(member) ? [] : joining.slice(0, joining.indexOf(member) + 1)
  const members = running.length === 0 ? spec.members : [...running, ...before]
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
