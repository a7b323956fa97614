// A whole PostgreSQL cluster for a test, from a spec: a real etcd with TLS and users, and the machines as they are
// rendered, run as processes on loopback addresses.

import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type PatroniAccess, patroniAccess } from '../../src/clusters/postgres/access.ts'
import { haproxyMachines } from '../../src/clusters/haproxy/machines.ts'
import type { ClusterStatus } from '../../src/clusters/member-status.ts'
import { primaryOf } from '../../src/clusters/postgres/cluster.ts'
import { postgresMachines } from '../../src/clusters/postgres/machines.ts'
import { versionPaths } from '../../src/clusters/postgres/paths.ts'
import type { PostgresMember, PostgresSpec } from '../../src/clusters/postgres/spec.ts'
import { postgresStatus } from '../../src/clusters/postgres/status.ts'
import type { EtcdAccess, Site } from '../../src/clusters/site.ts'
import { Secret } from '../../src/lib/secret.ts'
import { plain, reveal } from '../../src/machine/content.ts'
import type { Machine } from '../../src/machine/machine.ts'
import { newestPostgres } from '../../src/targets/local/postgres-programs.ts'
import { EtcdCluster } from './etcd-cluster.ts'
import { OpensslKeyring } from './openssl-keyring.ts'
import { postgresSpec } from './postgres-spec.ts'
import { pathIn, RunMachine } from './run-machine.ts'
import { until } from './until.ts'

const PATRONI_PASSWORD = 'for-patroni'
export const READY_MS = 170_000
const LOOK_MS = 250
const NEVER = new AbortController().signal

export class PostgresLab {
  readonly #directory: string
  readonly site: Site
  readonly keyring: OpensslKeyring
  readonly etcd: EtcdCluster
  /** Members, then proxies. */
  readonly machines: readonly RunMachine[]
  spec: PostgresSpec

  /** Nothing but etcd runs yet. */
  static async create(
    network: string,
    change: Partial<PostgresSpec> = {},
    watchdogDevice?: string,
  ): Promise<PostgresLab> {
    const etcd = await EtcdCluster.start({ members: 1, tls: 'server', auth: { rootPassword: 'for-root' } })
    await etcd.etcdctl('role', 'add', 'patroni')
    await etcd.etcdctl('role', 'grant-permission', 'patroni', '--prefix=true', 'readwrite', '/patroni/')
    await etcd.etcdctl('user', 'add', `patroni:${PATRONI_PASSWORD}`)
    await etcd.etcdctl('user', 'grant-role', 'patroni', 'patroni')
    return new PostgresLab(etcd, postgresSpec(network, change), {
      ...{ postgresVersion: await newestPostgres(NEVER), watchdogDevice },
    })
  }

  private constructor(etcd: EtcdCluster, spec: PostgresSpec, site: Pick<Site, 'postgresVersion' | 'watchdogDevice'>) {
    this.etcd = etcd
    this.spec = spec
    this.#directory = mkdtempSync(join(tmpdir(), 'holdfast-postgres-'))
    // Other users have to pass.
    chmodSync(this.#directory, 0o711)
    this.keyring = new OpensslKeyring(this.#directory)
    this.site = {
      stack: 'lab',
      domain: 'lab.test',
      path: pathIn(this.#directory),
      program: [],
      ...site,
      keyring: this.keyring,
    }
    this.machines = this.#render().map((machine) => new RunMachine(this.#directory, machine))
    for (const machine of this.machines) machine.write()
  }

  get access(): PatroniAccess {
    return patroniAccess(this.spec, this.keyring)
  }

  status(): Promise<ClusterStatus> {
    return postgresStatus(this.spec, this.access, NEVER)
  }

  ready(): Promise<true> {
    return patiently('ready cluster', async () => (await this.status()).isReady)
  }

  /** The member that leads. */
  async primary(): Promise<PostgresMember> {
    const name = await patiently('primary', () => primaryOf(this.access, NEVER))
    const member = this.spec.members.find((each) => each.name === name)
    if (member === undefined) throw new Error(`no member ${name}`)
    return member
  }

  machine(name: string): RunMachine {
    const found = this.machines.find(({ machine }) => machine.name === name)
    if (found === undefined) throw new Error(`no machine ${name}`)
    return found
  }

  password(user: 'superuser' | 'replicator'): string {
    const given = { superuser: this.spec.superuserPassword, replicator: this.spec.replicatorPassword }
    return this.keyring.secret(`postgres-${user}-password`, given[user]).reveal()
  }

  /** Everything runs, and the cluster is ready. */
  async start(): Promise<void> {
    for (const machine of this.machines) machine.start(machine.machine.services[0].name)
    await Promise.all([this.machines[0].run('patroni-settings'), this.ready()])
  }

  /** The paths of files that change, each with its machine. */
  change(change: Partial<PostgresSpec>): string[] {
    this.spec = { ...this.spec, ...change }
    return this.#render().flatMap((machine, index) => {
      const running = this.machines[index]
      const changed = machine.files.filter(
        ({ path, content, isInitial }) => !isInitial && readFileSync(running.path(path), 'utf8') !== reveal(content),
      )
      running.write(machine)
      return changed.map(({ path }) => `${machine.name}:${path}`)
    })
  }

  /** What files say is as wanted, and each Patroni reads its own again. */
  async apply(): Promise<string> {
    const said = await this.machines[0].run('patroni-settings')
    for (const machine of this.machines) machine.signal('patroni', 'SIGHUP')
    return said
  }

  /** As when the machine loses power: Patroni and PostgreSQL are gone at once, and tell nobody. */
  async lose(name: string): Promise<void> {
    const machine = this.machine(name)
    const server = postmasterPid(machine)
    if (server !== undefined && isRunning(server)) process.kill(server, 'SIGKILL')
    await machine.end('patroni')
    if (server !== undefined) await until(`${name} has ended`, () => !isRunning(server))
  }

  /** Environment of psql: as the superuser with TLS. */
  login(host: string): Record<string, string> {
    return {
      PGHOST: host,
      PGUSER: 'postgres',
      PGDATABASE: 'postgres',
      PGPASSWORD: this.password('superuser'),
      PGSSLMODE: 'verify-full',
      PGSSLROOTCERT: this.keyring.caFile,
      PGCONNECT_TIMEOUT: '3',
    }
  }

  /** Standard output of psql. */
  async psql(host: string, sql: string, environment: Record<string, string> = {}): Promise<string> {
    const env = { ...this.login(host), ...environment }
    const psql = join(versionPaths(this.site.postgresVersion).programs, 'psql')
    const { stdout } = await promisify(execFile)(psql, ['-XAtq', '-c', sql], { env })
    return stdout.trim()
  }

  async stop(): Promise<void> {
    await Promise.all(this.spec.members.map(({ name }) => this.lose(name)))
    await Promise.all(this.machines.map((machine) => machine.endAll()))
    await this.etcd.stop()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  #render(): Machine[] {
    const { caFile, endpoints } = this.etcd
    const access: EtcdAccess = {
      endpoints: endpoints.map((endpoint) => endpoint.replace('https://', '')),
      ca: plain(readFileSync(caFile ?? '', 'utf8')),
      login: { username: 'patroni', password: new Secret(PATRONI_PASSWORD) },
    }
    const { haproxy } = this.spec
    const proxies = haproxy === undefined ? [] : haproxyMachines(this.spec, haproxy, this.site)
    return [...postgresMachines(this.spec, this.site, access), ...proxies]
  }
}

/** As `until`, for questions that cost those who are asked more than looking does. */
export async function patiently<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  const slowly = async () => {
    const found = await look()
    if (found === undefined || found === false) await sleep(LOOK_MS)
    return found
  }
  return until(what, slowly, READY_MS)
}

export function postmasterPid(machine: RunMachine): number | undefined {
  const home = machine.machine.directories.find(({ isData }) => isData)?.path ?? ''
  const file = machine.path(join(home, 'main/postmaster.pid'))
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : undefined
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
