// A real etcd cluster on 127.0.0.1 for tests: plain, with TLS, with client certificates, with authentication. Members
// are killed, paused and restarted by process id; they end with the process that started them.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { EtcdOptions } from '../../src/etcd/options.ts'
import { Authority, type Certificate } from './etcd-certificates.ts'
import { freePort } from './ports.ts'
import { standStill } from './stand-still.ts'
import { until } from './until.ts'

const run = promisify(execFile)

const START_TIMEOUT_MS = 120_000
const PATIENCE_MS = 60_000

export interface ClusterOptions {
  /** Default 3. */
  readonly members?: number
  /** `server`: members have certificates; `client`: they ask clients for one too. Default `none`. */
  readonly tls?: 'none' | 'server' | 'client'
  /** Enables authentication, with this password for the user root. */
  readonly auth?: { readonly rootPassword: string }
  /** More flags for each member, as `--name=value`. */
  readonly flags?: readonly string[]
}

interface Member {
  readonly name: string
  readonly endpoint: string
  readonly peerUrl: string
  readonly args: readonly string[]
  process: ChildProcess | undefined
  paused: boolean
}

interface Security {
  readonly authority: Authority
  readonly server: Certificate
  readonly client: Certificate | undefined
  readonly wrongCaFile: string
}

export class EtcdCluster {
  readonly directory: string
  readonly #members: readonly Member[]
  readonly #security: Security | undefined
  #rootPassword: string | undefined

  /** Members are up, and with `auth` authentication is enabled. */
  static async start(options: ClusterOptions = {}): Promise<EtcdCluster> {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-etcd-'))
    const { tls = 'none' } = options
    const security = tls === 'none' ? undefined : await secure(directory, tls)
    const members = await plan(directory, options, security)
    const cluster = new EtcdCluster(directory, members, security)
    try {
      for (const member of members) cluster.#spawn(member)
      await cluster.healthy()
      if (options.auth !== undefined) await cluster.#enableAuth(options.auth.rootPassword)
    } catch (error) {
      await cluster.stop()
      throw error
    }
    return cluster
  }

  private constructor(directory: string, members: readonly Member[], security: Security | undefined) {
    this.directory = directory
    this.#members = members
    this.#security = security
  }

  get endpoints(): readonly string[] {
    return this.#members.map((member) => member.endpoint)
  }

  /** For a client; the user is root where authentication is enabled. */
  get options(): EtcdOptions {
    const security = this.#security
    return {
      endpoints: this.endpoints,
      // Only a call that hangs takes so long; and only where there is no other member, a connection may.
      requestTimeoutMs: PATIENCE_MS,
      ...(this.endpoints.length === 1 && { dialTimeoutMs: PATIENCE_MS }),
      ...(security !== undefined && { tls: { caFile: security.authority.caFile, ...security.client } }),
      ...(this.#rootPassword !== undefined && { username: 'root', password: this.#rootPassword }),
    }
  }

  get caFile(): string | undefined {
    return this.#security?.authority.caFile
  }

  /** A client certificate, where members ask for one. Its common name, `holdfast-test`, is not a user. */
  get certFile(): string | undefined {
    return this.#security?.client?.certFile
  }

  get keyFile(): string | undefined {
    return this.#security?.client?.keyFile
  }

  /** An authority that signed nothing here. */
  get wrongCaFile(): string | undefined {
    return this.#security?.wrongCaFile
  }

  /** Another client certificate of the cluster's authority. */
  async clientCertificate(user: string): Promise<Certificate> {
    if (this.#security === undefined) throw new Error('this cluster has no TLS')
    return this.#security.authority.client(user)
  }

  /** SIGKILL; resolves when the process is gone. */
  async kill(index: number): Promise<void> {
    const member = this.#members[index]
    const { process } = member
    member.process = undefined
    member.paused = false
    if (process === undefined || process.exitCode !== null || process.signalCode !== null) return
    const exit = once(process, 'exit')
    process.kill('SIGKILL')
    await exit
  }

  /** Starts a killed member again, with its data. It serves once `healthy` resolves: without quorum it cannot. */
  async restart(index: number): Promise<void> {
    await this.kill(index)
    this.#spawn(this.#members[index])
  }

  /** Killed or restarted, but with nothing of what it had stored; all members of a cluster have to be emptied. */
  empty(index: number): void {
    if (this.#members[index].process !== undefined) throw new Error('kill the member first')
    rmSync(join(this.directory, this.#members[index].name), { recursive: true, force: true })
  }

  /** Stops the process as it is (SIGSTOP): connections stay, nothing is answered. Returns when it stands still. */
  pause(index: number): void {
    const member = this.#members[index]
    standStill(member.process)
    member.paused = true
  }

  resume(index: number): void {
    this.#members[index].process?.kill('SIGCONT')
    this.#members[index].paused = false
  }

  /** Every member that was not killed or paused answers a consistent read. */
  async healthy(): Promise<void> {
    const running = this.#members.filter((member) => member.process !== undefined && !member.paused)
    let reason = ''
    const isHealthy = async () => {
      for (const member of running) {
        if (member.process?.exitCode !== null) throw new Error(`etcd ended: ${this.#log(member)}`)
      }
      try {
        const endpoints = running.map((member) => member.endpoint).join(',')
        await this.#control(['--command-timeout=2s', 'endpoint', 'health'], endpoints)
        return true
      } catch (error) {
        reason = String(error)
        return false
      }
    }
    await until('healthy cluster', isHealthy, START_TIMEOUT_MS).catch((cause: unknown) => {
      throw new Error(`${String(cause)}\n${reason}\n${running.map((member) => this.#log(member)).join('\n')}`)
    })
  }

  /** The index of the member that leads. */
  leader(): Promise<number> {
    return until('leader', async () => {
      const running = this.#members.filter((member) => member.process !== undefined && !member.paused)
      const endpoints = running.map((member) => member.endpoint).join(',')
      const answer = await this.#control(['endpoint', 'status', '-w', 'json'], endpoints).catch(() => '[]')
      const statuses = JSON.parse(answer) as {
        Endpoint: string
        Status: { leader: number; header: { member_id: number } }
      }[]
      const found = statuses.find(({ Status }) => Status.leader === Status.header.member_id)
      return found === undefined ? undefined : this.endpoints.indexOf(found.Endpoint)
    })
  }

  /** Standard output of etcdctl (API 3), run as root where authentication is enabled. */
  etcdctl(...args: readonly string[]): Promise<string> {
    return this.#control(args, this.endpoints.join(','))
  }

  /** Ends all members and removes their files. */
  async stop(): Promise<void> {
    await Promise.all(this.#members.map((_, index) => this.kill(index)))
    rmSync(this.directory, { recursive: true, force: true })
  }

  async #enableAuth(rootPassword: string): Promise<void> {
    await this.#control(['user', 'add', 'root', '--interactive=false'], this.endpoints.join(','), `${rootPassword}\n`)
    await this.etcdctl('user', 'grant-role', 'root', 'root')
    await this.etcdctl('auth', 'enable')
    this.#rootPassword = rootPassword
  }

  async #control(args: readonly string[], endpoints: string, input?: string): Promise<string> {
    const { caFile, certFile, keyFile } = this
    const env = {
      PATH: process.env.PATH,
      ETCDCTL_API: '3',
      ETCDCTL_ENDPOINTS: endpoints,
      ...(caFile !== undefined && { ETCDCTL_CACERT: caFile }),
      ...(certFile !== undefined && { ETCDCTL_CERT: certFile, ETCDCTL_KEY: keyFile }),
      ...(this.#rootPassword !== undefined && { ETCDCTL_USER: `root:${this.#rootPassword}` }),
    }
    const running = run('etcdctl', args, { env, maxBuffer: 1 << 28 })
    running.child.stdin?.on('error', () => undefined).end(input)
    return (await running).stdout
  }

  #spawn(member: Member): void {
    const log = openSync(join(this.directory, `${member.name}.log`), 'a')
    // A test that is killed cannot stop its members: the kernel does.
    const args = ['--pdeathsig', 'KILL', 'etcd', ...member.args]
    member.process = spawn('setpriv', args, { stdio: ['ignore', log, log], env: { PATH: process.env.PATH } })
    closeSync(log)
  }

  #log(member: Member): string {
    return readFileSync(join(this.directory, `${member.name}.log`), 'utf8').slice(-2000)
  }
}

async function secure(directory: string, tls: 'server' | 'client'): Promise<Security> {
  const authority = await Authority.create(directory, 'ca')
  const wrong = await Authority.create(directory, 'wrong-ca')
  return {
    authority,
    server: await authority.server('server'),
    client: tls === 'client' ? await authority.client('holdfast-test') : undefined,
    wrongCaFile: wrong.caFile,
  }
}

async function plan(directory: string, options: ClusterOptions, security: Security | undefined): Promise<Member[]> {
  const names = Array.from({ length: options.members ?? 3 }, (_, index) => `member${index}`)
  const ports = await Promise.all(names.map(async () => [await freePort(), await freePort()]))
  const peerUrls = ports.map(([, port]) => `http://127.0.0.1:${port}`)
  const common = [
    `--initial-cluster=${names.map((name, index) => `${name}=${peerUrls[index]}`).join(',')}`,
    `--initial-cluster-token=${directory}`,
    '--heartbeat-interval=50',
    '--election-timeout=500',
    '--bcrypt-cost=4',
    ...tlsFlags(security),
    ...(options.flags ?? []),
  ]
  return names.map((name, index) => {
    const endpoint = `${security === undefined ? 'http' : 'https'}://127.0.0.1:${ports[index][0]}`
    const args = [
      `--name=${name}`,
      `--data-dir=${join(directory, name)}`,
      `--listen-client-urls=${endpoint}`,
      `--advertise-client-urls=${endpoint}`,
      `--listen-peer-urls=${peerUrls[index]}`,
      `--initial-advertise-peer-urls=${peerUrls[index]}`,
      ...common,
    ]
    return { name, endpoint, peerUrl: peerUrls[index], args, process: undefined, paused: false }
  })
}

/** A trusted authority makes client certificates mandatory, so members that only have TLS do without. */
function tlsFlags(security: Security | undefined): string[] {
  if (security === undefined) return []
  const { authority, server, client } = security
  const own = [`--cert-file=${server.certFile}`, `--key-file=${server.keyFile}`]
  return client === undefined ? own : [...own, '--client-cert-auth=true', `--trusted-ca-file=${authority.caFile}`]
}
