// What a cluster's pure function has to know besides its own part of the stack file: where things lie on the target, and
// which credentials there are. The same function renders for every target.

import type { Secret } from '../lib/secret.ts'
import type { Content } from '../machine/content.ts'
import type { Hardware } from '../machine/hardware.ts'

export interface Site {
  readonly stack: string
  /** `lab.test`, without the final dot. */
  readonly domain: string
  /** What a path inside a machine is for a process there: itself on a virtual machine, below the machine's root locally. */
  readonly path: (machine: string, path: string) => string
  /** How our own program is started there: a program and its first arguments. */
  readonly program: readonly string[]
  /** The major version of PostgreSQL, `15`: that of the data there is, where there is some. */
  readonly postgresVersion: string
  /** The package that PostgreSQL comes from; `postgresql` unless given: that of the system, whatever its version. */
  readonly postgresPackage?: string
  /**
   * Patroni's watchdog: a device that resets the machine when Patroni hangs. Where the device is missing, Patroni runs
   * without. Undefined where several members share a machine, which must not be reset: a process then stops PostgreSQL.
   */
  readonly watchdogDevice: string | undefined
  readonly keyring: Keyring
}

/** One machine as the stack file has it, resolved. */
export interface MachineSpec {
  readonly name: string
  readonly address: string
  /** Of its other interfaces. */
  readonly moreAddresses: readonly string[]
  readonly hardware: Hardware
}

/** Credentials. What is not there yet is made between plan and apply; until then placeholders stand for it. */
export interface Keyring {
  /** A password: the one given in the stack file, else one generated once and kept. */
  secret(id: string, given?: Secret): Secret
  /** The certificate of the authority, PEM. */
  readonly authority: Content
  certificate(request: CertificateRequest): CertifiedKey
}

export interface CertificateRequest {
  /** `etcd-1/server`, `etcd-user/dns`: where it is kept; unique. */
  readonly id: string
  /** Left out for servers whose name might be taken for a user. */
  readonly commonName?: string
  readonly organization: string
  readonly domains: readonly string[]
  readonly addresses: readonly string[]
  readonly usages: readonly ('server' | 'client')[]
  readonly validityHours: number
  /** Renewed when less than this is left. */
  readonly earlyRenewalHours: number
}

export interface CertifiedKey {
  /** The certificate, then the authorities between it and the root, PEM. */
  readonly certificate: Content
  /** PKCS #8, PEM. */
  readonly key: Content
}

/** How a machine or a person reaches an etcd cluster. */
export interface EtcdAccess {
  /** `10.0.0.1:2379` */
  readonly endpoints: readonly string[]
  /** PEM. */
  readonly ca: Content
  readonly login: EtcdLogin
}

/** The certificate of a user, or a password with the certificate that the cluster asks every client for. */
export type EtcdLogin = PasswordLogin | CertifiedKey

export interface PasswordLogin {
  readonly username: string
  readonly password: Secret
  /** Without a common name: etcd's JSON gateway rejects a client certificate that has one. An external cluster may ask for none. */
  readonly connection?: CertifiedKey | undefined
}

/** What a client presents when it connects. */
export function clientCertificate(login: EtcdLogin): CertifiedKey | undefined {
  return 'username' in login ? login.connection : login
}

/** The same cluster for a machine that may have a login of its own. */
export function etcdOf(etcd: EtcdAccess, { etcdLogin }: { readonly etcdLogin?: EtcdLogin | undefined }): EtcdAccess {
  return etcdLogin === undefined ? etcd : { ...etcd, login: etcdLogin }
}
