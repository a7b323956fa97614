// Three PostgreSQL servers under Patroni from the files they are rendered to: whom they let in, and how settings and
// certificates reach them while they run.

import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { request as plainRequest } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientCertificate } from '../../src/clusters/postgres/certificates.ts'
import { removeMember, restartPending } from '../../src/clusters/postgres/cluster.ts'
import { patroniPassword } from '../../src/clusters/postgres/roles.ts'
import { Secret } from '../../src/lib/secret.ts'
import { reveal } from '../../src/machine/content.ts'
import { loopbackNetwork } from '../support/loopback.ts'
import { OpensslKeyring } from '../support/openssl-keyring.ts'
import { PostgresLab, patiently, READY_MS } from '../support/postgres-lab.ts'
import { QUICK_PATRONI } from '../support/postgres-spec.ts'
import { PsqlSession } from '../support/psql-session.ts'
import { until } from '../support/until.ts'

const NETWORK = loopbackNetwork()

const { signal } = new AbortController()
const directory = mkdtempSync(join(tmpdir(), 'holdfast-stranger-'))
const stranger = new OpensslKeyring(directory)
let lab: PostgresLab
let address: string

beforeAll(async () => {
  lab = await PostgresLab.create(`${NETWORK}.30`, { patroni: QUICK_PATRONI })
  await lab.start()
  ;({ address } = await lab.primary())
}, READY_MS)

afterAll(async () => {
  rmSync(directory, { recursive: true, force: true })
  await lab.stop()
})

describe('a new cluster', () => {
  test('has a primary, a synchronous standby and a replica, all of them streaming', async () => {
    const { members, isReady, problem } = await lab.status()
    expect({ isReady, problem }).toEqual({ isReady: true, problem: undefined })
    expect(members.map(({ role }) => String(role)).toSorted()).toEqual(['primary', 'replica', 'sync standby'])
    expect(members.every(({ version }) => version?.startsWith(`${lab.site.postgresVersion}.`))).toBe(true)
    expect(members.filter(({ lagBytes }) => lagBytes === undefined).map(({ role }) => role)).toEqual(['primary'])
  })

  test('is as patronictl shows it', async () => {
    const config = lab.machines[1].path('etc/patroni/patroni.yml')
    const { stdout } = await promisify(execFile)('patronictl', ['-c', config, 'list', '-f', 'json'])
    const listed = JSON.parse(stdout) as { Member: string; Role: string }[]
    const roles: Record<string, string> = { Leader: 'primary', 'Sync Standby': 'sync standby', Replica: 'replica' }
    const { members } = await lab.status()
    expect(listed.map(({ Member, Role }) => [Member, roles[Role]])).toEqual(
      members.map(({ machine, role }) => [machine, role]),
    )
  })

  test('has checksums, scram passwords, TLS of today and no socket', async () => {
    const settings = ['data_checksums', 'password_encryption', 'ssl_min_protocol_version', 'unix_socket_directories']
    const values = await Promise.all(settings.map((name) => lab.psql(address, `show ${name}`)))
    expect(values).toEqual(['on', 'scram-sha-256', 'TLSv1.2', ''])
  })
})

describe('PostgreSQL', () => {
  test('is known by its address and by the names of its role and machine', async () => {
    const { name } = await lab.primary()
    for (const host of [address, 'primary.pg.lab.test', `${name}.lab.test`]) {
      const sql = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()'
      expect(await lab.psql(host, sql, { PGHOSTADDR: address })).toBe('t')
    }
  })

  test('is not trusted by another name, nor when another authority is asked', async () => {
    const byName = lab.psql('other.test', 'select 1', { PGHOSTADDR: address })
    await expect(byName).rejects.toThrow(/does not match host name/u)
    const byAuthority = lab.psql(address, 'select 1', { PGSSLROOTCERT: stranger.caFile })
    await expect(byAuthority).rejects.toThrow(/certificate verify failed/u)
  })

  test('refuses whoever comes without TLS', async () => {
    await expect(lab.psql(address, 'select 1', { PGSSLMODE: 'disable' })).rejects.toThrow(/no encryption/u)
  })

  test('refuses a password that is kept as md5', async () => {
    await lab.psql(address, "set password_encryption = md5; create role old login password 'secret'")
    const login = { PGUSER: 'old', PGPASSWORD: 'secret' }
    await expect(lab.psql(address, 'select 1', login)).rejects.toThrow(/password authentication failed/u)
  })

  test('lets the replication user replicate, and nothing else', async () => {
    const login = { PGUSER: 'replicator', PGPASSWORD: lab.password('replicator') }
    await expect(lab.psql(address, 'select 1', login)).rejects.toThrow(/pg_hba.conf rejects/u)
  })
})

describe('the REST API', () => {
  const proxyLogin = () => credentials(lab.keyring)

  test('does not answer without TLS', async () => {
    const answer = new Promise((resolve, reject) => {
      const sent = plainRequest({ host: address, port: 8008, path: '/patroni' }, resolve)
      sent.once('error', reject).end()
    })
    await expect(answer).rejects.toThrow(/socket hang up|ECONNRESET/u)
  })

  test('answers nobody without a certificate of the authority', async () => {
    await expect(ask({ ca: reveal(lab.keyring.authority) })).rejects.toThrow(/certificate required/u)
    await expect(ask({ ...credentials(stranger), ca: reveal(lab.keyring.authority) })).rejects.toThrow(/unknown ca/u)
  })

  test('lets a certificate ask, but not command', async () => {
    expect(await ask(proxyLogin())).toBe(200)
    expect(await ask({ ...proxyLogin(), method: 'POST', path: '/restart' })).toBe(401)
    expect(await ask({ ...proxyLogin(), method: 'PATCH', path: '/config' })).toBe(401)
  })

  function credentials(keyring: OpensslKeyring): RequestOptions {
    const { certificate, key } = keyring.certificate(clientCertificate(lab.spec, 'proxy-1/client'))
    return { ca: reveal(keyring.authority), cert: reveal(certificate), key: reveal(key) }
  }

  function ask(options: RequestOptions): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const sent = request({ host: address, port: 8008, path: '/patroni', agent: false, ...options }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      sent.once('error', reject).end()
    })
  }
})

describe('settings', () => {
  const show = (parameter: string) =>
    Promise.all(lab.spec.members.map((member) => lab.psql(member.address, `show ${parameter}`)))
  const step = () => lab.machines[0].run('patroni-settings')

  test(
    'and passwords reach all members while clients go on writing: no restart, no failover, nothing lost',
    async () => {
      await lab.psql(address, 'create table written (number int)')
      const old = lab.login(address)
      const writer = await PsqlSession.open({ env: old, table: 'written' })
      const acknowledged: number[] = []
      const ending = new AbortController()
      const writing = (async () => {
        for (let number = 0; !ending.signal.aborted && (await writer?.insert(number)); number++)
          acknowledged.push(number)
      })()
      const changed = lab.change({
        params: { work_mem: '8MB', max_connections: '120' },
        superuserPassword: new Secret(`néw'"\\:$ Ⅸ pass`),
        replicatorPassword: new Secret('another one'),
      })
      expect(changed).toEqual([
        'pg-1:/etc/patroni/patroni.yml',
        ...['dynamic.json', 'roles.json'].map((file) => `pg-1:/etc/patroni/${file}`),
        ...['pg-2', 'pg-3'].map((name) => `${name}:/etc/patroni/patroni.yml`),
      ])
      const said = await lab.apply()
      expect(said).toContain('Created or updated roles: postgres, replicator\n')
      expect(said).toContain('{"postgresql": {"parameters": {"work_mem": "8MB", "max_connections": "120"}}}')
      expect(await show('work_mem')).toEqual(['8MB', '8MB', '8MB'])
      await expect(lab.psql(address, 'select 1', old)).rejects.toThrow(/password authentication failed/u)
      expect(await step()).toContain('as wanted')

      const before = acknowledged.length
      await until('the old session goes on', () => acknowledged.length > before + 10)
      // Whoever has to log in again does so with the new password.
      await lab.psql(address, "select pg_terminate_backend(pid) from pg_stat_activity where usename <> 'postgres'")
      await lab.ready()
      await until('writes go on', () => acknowledged.length > before + 20)
      ending.abort()
      await writing
      writer?.end()
      expect((await lab.primary()).address).toBe(address)
      const kept = new Set((await lab.psql(address, 'select number from written')).split('\n').map(Number))
      expect(acknowledged.filter((number) => !kept.has(number))).toEqual([])
    },
    READY_MS,
  )

  test('come without a password to be read in any log', () => {
    const logs = lab.machines.map((machine) => machine.log('patroni')).join('\n')
    expect(logs).not.toMatch(/ALTER ROLE|SCRAM-SHA-256\$|another one/u)
  })

  test(
    'that need a restart get it, the primary last',
    async () => {
      expect((await lab.status()).members.every(({ problem }) => problem === 'restart pending')).toBe(true)
      const { name } = await lab.primary()
      const restarted: string[] = []
      const onStep = (machine: string) => restarted.push(machine)
      await restartPending(lab.spec, lab.access, { signal, password: patroniPassword(lab.keyring), onStep })
      expect(restarted).toHaveLength(3)
      expect(restarted.at(-1)).toBe(name)
      expect(await show('max_connections')).toEqual(['120', '120', '120'])
      // Patroni names a synchronous standby when its next loop comes.
      await patiently('ready again', async () => (await lab.status()).isReady)
    },
    READY_MS,
  )

  test.each([
    ['a value', { max_connections: '120', work_mem: '64XB' }, /invalid value for parameter "work_mem": "64XB"/u],
    [
      'a name',
      { max_connections: '120', "max_conec'tions": '5' },
      /unrecognized configuration parameter "max_conec'tions"/u,
    ],
  ])('with %s that PostgreSQL does not take are refused in its words, and change nothing', async (_, params, words) => {
    lab.change({ params })
    await expect(step()).rejects.toMatchObject({ code: 78, stderr: expect.stringMatching(words) })
    expect(await show('work_mem')).toEqual(['8MB', '8MB', '8MB'])
  })

  test('that are given up have their defaults again, and roles that are missing are made', async () => {
    const primary = await lab.primary()
    await lab.psql(primary.address, 'drop owned by rewinder; drop role rewinder')
    expect(lab.change({ params: { max_connections: '120' } })).toEqual(['pg-1:/etc/patroni/dynamic.json'])
    expect(await step()).toContain('Created or updated roles: rewinder\n')
    expect(await show('work_mem')).toEqual(['4MB', '4MB', '4MB'])
    const sql = "select has_function_privilege('rewinder', 'pg_read_binary_file(text)', 'execute')"
    expect(await lab.psql(primary.address, sql)).toBe('t')
    const login = { PGUSER: 'rewinder', PGPASSWORD: lab.keyring.secret('postgres-rewinder-password').reveal() }
    expect(await lab.psql(primary.address, 'select current_user', login)).toBe('rewinder')
  })
})

test('a new certificate is in use after a reload, for PostgreSQL and the REST API', async () => {
  const [, { address: at }] = lab.spec.members
  lab.keyring.expire('pg-2/server')
  expect(lab.change({})).toEqual(['pg-2:/etc/patroni/server.pem', 'pg-2:/etc/patroni/server.key'])
  lab.machine('pg-2').signal('patroni', 'SIGHUP')
  const { certificate } = lab.keyring.certificate(clientCertificate(lab.spec, 'pg-2/server'))
  const { serialNumber } = new X509Certificate(reveal(certificate))
  await patiently(
    'PostgreSQL has it',
    async () => (await serialAt(`${at}:5432`, '-starttls', 'postgres')) === serialNumber,
  )
  await patiently('the REST API has it', async () => (await serialAt(`${at}:8008`)) === serialNumber)
})

test('a member is not let go when strict synchronous replication could commit no more', async () => {
  const spec = { ...lab.spec, patroni: { ...lab.spec.patroni, synchronousNodeCount: 2 } }
  const [member] = spec.members
  await expect(removeMember(spec, lab.access, member, signal)).rejects.toMatchObject({ code: 'TooFewMembers' })
})

async function serialAt(endpoint: string, ...options: readonly string[]): Promise<string | undefined> {
  const command = ['s_client', '-connect', endpoint, ...options]
  // Without a client certificate the REST API ends the conversation, but shows its own one before.
  const running = promisify(execFile)('openssl', command)
  running.child.stdin?.end()
  const { stdout = '' } = await running.catch((error: unknown) => error as { stdout?: string })
  const [pem] = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/u.exec(stdout) ?? []
  return pem === undefined ? undefined : new X509Certificate(pem).serialNumber
}
