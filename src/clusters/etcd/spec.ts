// The etcd part of a stack file, checked and resolved: what the variables of the stack file mean, with no question left.

import type { Secret } from '../../lib/secret.ts'
import type { MachineSpec } from '../site.ts'

export interface EtcdSpec {
  readonly members: readonly EtcdMember[]
  readonly autoCompactionMode: 'periodic' | 'revision'
  readonly autoCompactionRetention: string
  readonly spaceQuotaBytes: number
  readonly grpcGatewayEnabled: boolean
  /** Users are told by certificates (their CN) instead of passwords. */
  readonly clientCertAuth: boolean
  /** The member that sets up users and roles. */
  readonly bootstrapMember: string
  readonly rootPassword: Secret | undefined
  readonly initialToken: string
  /** The stack file says of all members that they are not there from the beginning: no cluster is made of them. */
  readonly isExisting?: boolean
  /** Beside root. */
  readonly users: readonly EtcdUser[]
}

export interface EtcdMember extends MachineSpec {
  /** Finished certificates; else they are issued by the stack's authority. */
  readonly tls: GivenCertificate | undefined
}

export interface GivenCertificate {
  readonly caCert: string
  readonly serverCert: string
  readonly serverKey: Secret
}

export interface EtcdUser {
  readonly name: string
  readonly permissions: readonly { readonly access: 'read' | 'write' | 'readwrite'; readonly prefix: string }[]
  /** Given in the stack file; else generated (or a certificate is issued, with clientCertAuth). */
  readonly password: Secret | undefined
}

export const ETCD_CLIENT_PORT = 2379
export const ETCD_PEER_PORT = 2380
