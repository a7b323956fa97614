// Certificates of the keyring in a real PostgreSQL server, as its clients see them with sslmode=verify-full.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { GivenAuthority } from '../../src/stack/stack.ts'
import { type IssuedFiles, issueFiles } from '../support/issued-files.ts'
import { loopbackNetwork } from '../support/loopback.ts'
import { opensslAuthority, RSA_2048 } from '../support/openssl.ts'
import { until } from '../support/until.ts'

const NETWORK = loopbackNetwork()

const run = promisify(execFile)
const BIN_DIRECTORY = '/usr/lib/postgresql/15/bin'
const isRoot = process.getuid?.() === 0
const ADDRESS = `${NETWORK}.30.1`

/** PostgreSQL refuses to run as root. */
const asPostgres = isRoot ? ['--reuid=postgres', '--regid=postgres', '--init-groups'] : []

function issue(directory: string, authority?: GivenAuthority): Promise<IssuedFiles> {
  const names = { domains: ['primary.pg.lab.test', '*.replica.lab.test'], addresses: [ADDRESS, '127.0.0.1', 'fd00::1'] }
  const server = { id: 'server', usages: ['server', 'client'], ...names } as const
  return issueFiles(directory, [server, { id: 'user', usages: ['client'], commonName: 'writer' }], authority)
}

async function rsaBelowRoot(directory: string): Promise<GivenAuthority> {
  const root = await opensslAuthority(directory, 'root', { key: RSA_2048 })
  const { certificate, key } = await opensslAuthority(directory, 'middle', { key: RSA_2048, signedBy: 'root' })
  return { certificate: certificate + root.certificate, key }
}

describe.each([
  ['an authority made for the stack', () => Promise.resolve(undefined)],
  ["the user's RSA authority below a root", rsaBelowRoot],
])('certificates of %s', (_, authority) => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-pki-'))
  let ours: IssuedFiles
  let others: IssuedFiles
  let server: ChildProcess | undefined

  beforeAll(async () => {
    ours = await issue(join(directory, 'ours'), await authority(directory))
    others = await issue(join(directory, 'others'))
    const data = join(directory, 'data')
    if (isRoot) await run('chown', ['-R', 'postgres:', directory])
    await run('setpriv', [...asPostgres, `${BIN_DIRECTORY}/initdb`, '-N', '-U', 'writer', '-D', data], {
      cwd: directory,
    })
    const settings = {
      listen_addresses: ADDRESS,
      unix_socket_directories: '',
      fsync: 'off',
      ssl: 'on',
      ssl_cert_file: ours.cert('server'),
      ssl_key_file: ours.key('server'),
      ssl_ca_file: ours.ca,
    }
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`)
    appendFileSync(join(data, 'postgresql.conf'), lines.join(''))
    writeFileSync(join(data, 'pg_hba.conf'), 'hostssl all all all cert\n')
    const args = ['--pdeathsig', 'KILL', ...asPostgres, `${BIN_DIRECTORY}/postgres`, '-D', data]
    server = spawn('setpriv', args, { cwd: directory, stdio: 'ignore' })
    await until('PostgreSQL', () => psql({ host: ADDRESS }).catch(() => undefined), 15_000)
  })

  afterAll(async () => {
    if (server?.exitCode === null && server.signalCode === null) {
      server.kill('SIGQUIT')
      await once(server, 'exit')
    }
    rmSync(directory, { recursive: true, force: true })
  })

  /** The user and the version of TLS, as the server sees them. */
  async function psql({ host, trust = ours, user = ours }: { host: string; trust?: IssuedFiles; user?: IssuedFiles }) {
    const key = join(directory, `${user === ours ? 'our' : 'their'}-user.key`)
    // libpq wants the key to belong to whoever uses it.
    writeFileSync(key, readFileSync(user.key('user')), { mode: 0o600 })
    if (isRoot) chownSync(key, 0, 0)
    const connection = {
      host,
      hostaddr: ADDRESS,
      dbname: 'postgres',
      user: 'writer',
      sslmode: 'verify-full',
      sslrootcert: trust.ca,
      sslcert: user.cert('user'),
      sslkey: key,
      connect_timeout: '10',
    }
    const text = Object.entries(connection).map(([name, value]) => `${name}='${value}'`)
    const query =
      'select usename, version from pg_stat_ssl join pg_stat_activity using (pid) where pid = pg_backend_pid()'
    return (await run('psql', ['-XAtc', query, text.join(' ')])).stdout.trim()
  }

  test('are accepted for every name and address, and tell the user', async () => {
    for (const host of ['primary.pg.lab.test', 'a.replica.lab.test', ADDRESS, '127.0.0.1', 'fd00::1'])
      expect(await psql({ host }), host).toBe('writer|TLSv1.3')
  })

  test('are refused for other names, other addresses and by who trusts another authority', async () => {
    await expect(psql({ host: 'other.pg.lab.test' })).rejects.toThrow(/does not match host name "other.pg.lab.test"/u)
    await expect(psql({ host: `${NETWORK}.30.2` })).rejects.toThrow(`does not match host name "${NETWORK}.30.2"`)
    await expect(psql({ host: ADDRESS, trust: others })).rejects.toThrow(/certificate verify failed/u)
    await expect(psql({ host: ADDRESS, user: others })).rejects.toThrow(/unknown ca|unknown CA/u)
  })
})
