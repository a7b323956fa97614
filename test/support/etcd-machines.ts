// An etcd cluster made of the machines that the product renders, on loopback addresses of its own, in a temporary
// directory: what a target would do, step by step, as a test wants it.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { etcdAccess } from '../../src/clusters/etcd/access.ts'
import { etcdMachines } from '../../src/clusters/etcd/machines.ts'
import type { MemberPlace } from '../../src/clusters/etcd/settings.ts'
import type { EtcdSpec, EtcdUser } from '../../src/clusters/etcd/spec.ts'
import { clientCertificate, type EtcdAccess, type Site } from '../../src/clusters/site.ts'
import { EtcdClient } from '../../src/etcd/client.ts'
import type { EtcdOptions } from '../../src/etcd/options.ts'
import { type Content, reveal } from '../../src/machine/content.ts'
import { HARDWARE } from './machine-spec.ts'
import { OpensslKeyring } from './openssl-keyring.ts'
import { pathIn, RunMachine } from './run-machine.ts'

export function etcdSpec(addresses: readonly string[], changes: Partial<EtcdSpec> = {}): EtcdSpec {
  return {
    members: addresses.map((address, index) => ({
      name: `etcd-${index + 1}`,
      address,
      moreAddresses: [],
      hardware: HARDWARE,
      tls: undefined,
    })),
    autoCompactionMode: 'revision',
    autoCompactionRetention: '1000',
    spaceQuotaBytes: 8 * 2 ** 30,
    grpcGatewayEnabled: false,
    clientCertAuth: true,
    bootstrapMember: 'etcd-1',
    rootPassword: undefined,
    initialToken: 'etcd-cluster',
    users: [],
    ...changes,
  }
}

export function etcdUser(name: string, ...permissions: EtcdUser['permissions']): EtcdUser {
  return { name, permissions, password: undefined }
}

export class EtcdMachines {
  readonly directory: string
  readonly keyring: OpensslKeyring
  readonly site: Site
  readonly machines = new Map<string, RunMachine>()
  readonly #clients: EtcdClient[] = []
  #files = 0
  spec: EtcdSpec

  constructor(spec: EtcdSpec) {
    this.spec = spec
    this.directory = mkdtempSync(join(tmpdir(), 'holdfast-etcd-machines-'))
    // The users of the services have to get through.
    chmodSync(this.directory, 0o711)
    const secrets = join(this.directory, 'secrets')
    mkdirSync(secrets, { mode: 0o700 })
    this.keyring = new OpensslKeyring(secrets)
    this.site = {
      stack: 'lab',
      domain: 'lab.test',
      path: pathIn(this.directory),
      program: ['holdfast'],
      postgresVersion: '15',
      watchdogDevice: '/dev/watchdog',
      keyring: this.keyring,
    }
  }

  /** Renders all machines; those of these names are written. */
  write(names: readonly string[], running: readonly MemberPlace[]): void {
    for (const machine of etcdMachines(this.spec, this.site, running)) {
      if (!names.includes(machine.name)) continue
      const existing = this.machines.get(machine.name) ?? new RunMachine(this.directory, machine)
      this.machines.set(machine.name, existing)
      existing.write(machine)
    }
  }

  /** All members of a new cluster, and users and roles. */
  async form(): Promise<void> {
    const names = this.spec.members.map(({ name }) => name)
    this.write(names, [])
    for (const name of names) this.start(name)
    await this.setUp()
  }

  start(name: string): void {
    // Checking a password is made to take long, and tests check many.
    this.at(name).start('etcd', { ETCD_BCRYPT_COST: '4' })
  }

  /** The step of the bootstrap member. */
  setUp(): Promise<string> {
    return this.at(this.spec.bootstrapMember).run('etcd-auth')
  }

  /** As when a changed stack file is applied to the bootstrap member. */
  change(changes: Partial<EtcdSpec>): Promise<string> {
    this.spec = { ...this.spec, ...changes }
    this.write([this.spec.bootstrapMember], this.spec.members)
    return this.setUp()
  }

  at(name: string): RunMachine {
    const found = this.machines.get(name)
    if (found === undefined) throw new Error(`no machine ${name}`)
    return found
  }

  client(user: string, options: Partial<EtcdOptions> = {}): EtcdClient {
    return this.open({ ...this.options(etcdAccess(this.spec, this.site, user)), ...options })
  }

  /** Closed at the end. */
  open(options: EtcdOptions): EtcdClient {
    const client = new EtcdClient(options)
    this.#clients.push(client)
    return client
  }

  options({ endpoints, ca, login }: EtcdAccess): EtcdOptions {
    const pair = clientCertificate(login)
    const files = pair && { certFile: this.file(pair.certificate), keyFile: this.file(pair.key) }
    const user = 'username' in login && { username: login.username, password: login.password.reveal() }
    return { endpoints, tls: { caFile: this.file(ca), ...files }, ...user }
  }

  /** A file with that content. */
  file(content: Content): string {
    const path = join(this.directory, 'secrets', `file-${this.#files++}`)
    writeFileSync(path, reveal(content), { mode: 0o600 })
    return path
  }

  async end(): Promise<void> {
    for (const client of this.#clients) client.close()
    await Promise.all([...this.machines.values()].map((machine) => machine.endAll()))
    rmSync(this.directory, { recursive: true, force: true })
  }
}
