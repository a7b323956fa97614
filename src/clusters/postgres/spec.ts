// The postgres part of a stack file, checked and resolved.

import type { Secret } from '../../lib/secret.ts'
import type { EtcdAccess, EtcdLogin, MachineSpec } from '../site.ts'

export interface PostgresSpec {
  /** The major version that the stack file asks for; undefined: whatever is usual. */
  readonly version: string | undefined
  readonly members: readonly PostgresMember[]
  readonly params: Readonly<Record<string, string>>
  readonly replicatorPassword: Secret | undefined
  readonly superuserPassword: Secret | undefined
  readonly etcd: EtcdAccess | 'own'
  readonly patroni: PatroniSpec
  /** Stable ports in front of the cluster. */
  readonly haproxy: HaproxySpec | undefined
}

export interface PostgresMember extends MachineSpec {
  /** Patroni's name of the member. */
  readonly patroniName: string
  readonly certificate: PostgresCertificate
  /** Its own way to log in to an etcd that is not the stack's; that of `etcd` unless given. */
  readonly etcdLogin?: EtcdLogin | undefined
}

export interface PostgresCertificate {
  readonly domains: readonly string[]
  readonly extraIps: readonly string[]
  readonly organization: string
  readonly validityHours: number
  readonly earlyRenewalHours: number
}

export interface PatroniSpec {
  readonly scope: string
  /** With a slash at both ends. */
  readonly namespace: string
  readonly ttl: number
  readonly loopWait: number
  readonly retryTimeout: number
  readonly masterStartTimeout: number
  readonly masterStopTimeout: number
  /** -1: half of the TTL. */
  readonly watchdogSafetyMargin: number
  readonly synchronousNodeCount: number
  readonly synchronousMode: boolean
  readonly synchronousModeStrict: boolean
}

export interface HaproxySpec {
  readonly servers: readonly MachineSpec[]
  readonly readWritePort: number
  readonly readOnlyPort: number
}

export const POSTGRES_PORT = 5432
export const PATRONI_PORT = 8008
