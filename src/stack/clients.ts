// How an operator reaches the clusters of a stack: as etcd's root and as Patroni's operator, with what the keyring has.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { dnsStatus } from '../clusters/dns/cluster.ts'
import { etcdAccess } from '../clusters/etcd/access.ts'
import { etcdStatus } from '../clusters/etcd/status.ts'
import { clientEndpoint } from '../clusters/etcd/urls.ts'
import { haproxyStatus } from '../clusters/haproxy/cluster.ts'
import type { ClusterStatus } from '../clusters/member-status.ts'
import { type PatroniAccess, patroniAccess } from '../clusters/postgres/access.ts'
import { readIdentity } from '../clusters/postgres/check-identity.ts'
import { patroniPassword } from '../clusters/postgres/roles.ts'
import { postgresStatus } from '../clusters/postgres/status.ts'
import type { Site } from '../clusters/site.ts'
import { EtcdClient } from '../etcd/client.ts'
import type { EtcdOptions } from '../etcd/options.ts'
import { HoldfastError } from '../lib/errors.ts'
import type { Secret } from '../lib/secret.ts'
import type { MachineKind } from '../machine/machine.ts'
import type { ExistingMachine } from '../targets/target.ts'
import type { Stack } from './stack.ts'

const NOTHING: ClusterStatus = { members: [], isReady: true, isWorking: true, problem: undefined }

export class Clients {
  readonly #stack: Stack
  readonly #site: Site
  readonly #leaving: readonly ExistingMachine[]
  readonly #etcdOptions: EtcdOptions | undefined
  #etcd: EtcdClient | undefined

  /** `directory`: where the files of client-files.ts are. `leaving`: machines that the stack file has no longer. */
  constructor(stack: Stack, site: Site, directory: string, leaving: readonly ExistingMachine[] = []) {
    this.#stack = stack
    this.#site = site
    this.#leaving = leaving
    this.#etcdOptions = rootOptions(stack, site, directory, leaving)
  }

  etcd(): EtcdClient {
    if (this.#etcdOptions === undefined)
      throw new HoldfastError('StackInvalid', 'Cannot reach etcd: the stack file has none; expected one')
    this.#etcd ??= new EtcdClient(this.#etcdOptions)
    return this.#etcd
  }

  patroni(): PatroniAccess {
    if (this.#stack.postgres === undefined)
      throw new HoldfastError('StackInvalid', 'Cannot reach Patroni: the stack file has no postgres; expected one')
    const access = patroniAccess(this.#stack.postgres, this.#site.keyring)
    // One of those that leave may still lead.
    const leaving = this.#leaving.flatMap(({ name, address, files }) => {
      const patroniName = readIdentity(files)?.name
      return patroniName === undefined ? [] : [{ name, address, patroniName }]
    })
    return { ...access, members: [...access.members, ...leaving] }
  }

  /** Of the role that Patroni has in PostgreSQL. */
  postgresPassword(): Secret {
    return patroniPassword(this.#site.keyring)
  }

  async status(kind: MachineKind, signal: AbortSignal): Promise<ClusterStatus> {
    const { etcd, dns, postgres, domain } = this.#stack
    const questions: Readonly<Record<MachineKind, () => Promise<ClusterStatus> | undefined>> = {
      etcd: () => etcd && etcdStatus(etcd, this.etcd(), signal),
      dns: () => dns && dnsStatus(dns, domain, signal),
      postgres: () => postgres && postgresStatus(postgres, this.patroni(), signal),
      haproxy: () => postgres?.haproxy && haproxyStatus(postgres.haproxy, signal),
    }
    return (await questions[kind]()) ?? NOTHING
  }

  close(): void {
    this.#etcd?.close()
  }
}

/** Names of the files that an etcd client of the operator reads, below the directory of client-files.ts. */
export const ROOT_FILES = { ca: 'etcd-ca.pem', certificate: 'etcd-root.pem', key: 'etcd-root.key' } as const

function rootOptions(
  { etcd }: Stack,
  site: Site,
  directory: string,
  leaving: readonly ExistingMachine[],
): EtcdOptions | undefined {
  if (etcd === undefined) return undefined
  const { endpoints: staying, login } = etcdAccess(etcd, site, 'root')
  const endpoints = [
    ...staying,
    ...leaving.filter(({ kind }) => kind === 'etcd').map(({ address }) => clientEndpoint(address)),
  ]
  const caFile = join(directory, ROOT_FILES.ca)
  const [certFile, keyFile] = [join(directory, ROOT_FILES.certificate), join(directory, ROOT_FILES.key)]
  if (!('username' in login)) return { endpoints, tls: { caFile, certFile, keyFile } }
  // A stack of an earlier version has none until the next `up`, and its etcd asks for none.
  const pair = existsSync(certFile) ? { certFile, keyFile } : {}
  return { endpoints, tls: { caFile, ...pair }, username: login.username, password: login.password.reveal() }
}
