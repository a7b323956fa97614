// A PostgreSQL server run by a real Patroni, with an address of its own in 127.0.0.0/8. PostgreSQL refuses to run as
// root, so there everything belongs to the user postgres.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../support/ports.ts'
import { until } from '../support/until.ts'

const BIN_DIRECTORY = '/usr/lib/postgresql/15/bin'
const isRoot = process.getuid?.() === 0

export interface NodeOptions {
  readonly name: string
  readonly address: string
  /** Empty, and writable for the user postgres. */
  readonly directory: string
  readonly scope: string
  readonly namespace: string
  /** host:port of the etcd members. */
  readonly etcd: readonly string[]
}

export class PatroniNode {
  readonly name: string
  readonly address: string
  readonly port: number
  readonly #directory: string
  #patroni: ChildProcess | undefined

  static async create(options: NodeOptions): Promise<PatroniNode> {
    const port = await freePort()
    const node = new PatroniNode(options, port)
    writeFileSync(node.#path('patroni.json'), JSON.stringify(config(options, port, await freePort())))
    return node
  }

  private constructor({ name, address, directory }: NodeOptions, port: number) {
    this.name = name
    this.address = address
    this.port = port
    this.#directory = directory
  }

  start(): void {
    const log = openSync(this.#path('patroni.log'), 'a')
    const user = isRoot ? ['--reuid=postgres', '--regid=postgres', '--init-groups'] : []
    const args = [...user, '--pdeathsig', 'KILL', 'patroni', this.#path('patroni.json')]
    this.#patroni = spawn('setpriv', args, { cwd: this.#directory, stdio: ['ignore', log, log] })
    closeSync(log)
  }

  /** As when the machine loses power: Patroni and PostgreSQL are gone at once, and tell nobody. */
  async kill(): Promise<void> {
    const server = this.#serverPid()
    const patroni = this.#patroni
    this.#patroni = undefined
    if (patroni !== undefined && patroni.exitCode === null && patroni.signalCode === null) {
      const exit = once(patroni, 'exit')
      patroni.kill('SIGKILL')
      await exit
    }
    if (server === undefined || !isRunning(server)) return
    process.kill(server, 'SIGKILL')
    // Its own processes notice that it is gone and end.
    await until(`${this.name} has ended`, () => !isRunning(server))
  }

  /** The answer to a query, by the address that the names lead to. */
  async query(sql: string): Promise<string> {
    const args = ['-XAtq', '-h', this.address, '-p', String(this.port), '-U', 'postgres', '-c', sql, 'postgres']
    const { stdout } = await promisify(execFile)(join(BIN_DIRECTORY, 'psql'), args)
    return stdout.trim()
  }

  log(): string {
    return readFileSync(this.#path('patroni.log'), 'utf8').split('\n').slice(-30).join('\n')
  }

  #path(name: string): string {
    return join(this.#directory, name)
  }

  #serverPid(): number | undefined {
    try {
      return Number(readFileSync(this.#path('data/postmaster.pid'), 'utf8').split('\n')[0])
    } catch {
      return undefined
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

function config({ name, address, directory, scope, namespace, etcd }: NodeOptions, port: number, apiPort: number) {
  return {
    scope,
    namespace,
    name,
    restapi: { listen: `${address}:${apiPort}`, connect_address: `${address}:${apiPort}` },
    etcd3: { hosts: etcd },
    bootstrap: {
      dcs: {
        ttl: 6,
        loop_wait: 1,
        retry_timeout: 2,
        synchronous_mode: true,
        postgresql: { use_pg_rewind: true, parameters: { wal_retrieve_retry_interval: '500ms' } },
      },
      initdb: [{ encoding: 'UTF8' }, 'data-checksums', 'no-sync'],
    },
    postgresql: {
      listen: `${address}:${port}`,
      connect_address: `${address}:${port}`,
      data_dir: join(directory, 'data'),
      bin_dir: BIN_DIRECTORY,
      pgpass: join(directory, 'pgpass'),
      authentication: { superuser: { username: 'postgres' }, replication: { username: 'replicator' } },
      pg_hba: ['host all all 127.0.0.0/8 trust', 'host replication all 127.0.0.0/8 trust'],
      parameters: { unix_socket_directories: directory, shared_buffers: '16MB', fsync: 'off' },
    },
  }
}
