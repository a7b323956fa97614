// Where the members of an etcd cluster are: always TLS, always the machine's own address.

import { isIPv6 } from 'node:net'
import { ETCD_CLIENT_PORT, ETCD_PEER_PORT } from './spec.ts'

/** `10.0.0.1:2379` */
export function clientEndpoint(address: string): string {
  return `${host(address)}:${ETCD_CLIENT_PORT}`
}

export function clientUrl(address: string): string {
  return `https://${clientEndpoint(address)}`
}

/** Tells members apart: a member has no name before it has started. */
export function peerUrl(address: string): string {
  return `https://${host(address)}:${ETCD_PEER_PORT}`
}

function host(address: string): string {
  return isIPv6(address) ? `[${address}]` : address
}
