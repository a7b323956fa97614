// The whole lab, as a user brings it up and uses it: every promise about who gets in, what is told and what is kept
// secret, with etcdctl, psql, patronictl and dig; then changes of the stack file, each of which does the least.

import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request, type RequestOptions } from 'node:https'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RESTART_PARAMETERS } from '../../src/clusters/postgres/parameters/known-parameters.ts'
import type { StackStatus } from '../../src/stack/status.ts'
import { readListeners } from '../../src/targets/local/checks/listeners.ts'
import { zoneText } from '../support/holdfast-process.ts'
import { issueFiles } from '../support/issued-files.ts'
import { loopbackNetwork } from '../support/loopback.ts'
import { HTTP_REQUEST, POSTGRES_STARTUP, speakPlain } from '../support/plain-ports.ts'
import { DNS_PORT, filesBelow, HOLDFAST, StackLab } from '../support/stack-lab.ts'
import { until } from '../support/until.ts'

const N = loopbackNetwork()
/** As the kernel's tables of sockets have the first two octets: at the end, the last one first. */
const NETWORK_IN_TABLES = 'F17F'
const FILE = `domain: lab.test
network: ${N}.0.0/16
etcd:
  members: 3
  users:
    - { name: reader, permissions: [{ access: read, prefix: /books/ }] }
dns: { servers: 2, zones: ./zones, port: ${DNS_PORT} }
postgres: { members: 3, haproxy: true }`

const lab = new StackLab('stack-lab', FILE)
let first: StackStatus

beforeAll(async () => {
  first = await lab.up()
}, 120_000)

afterAll(() => lab.close())

describe('a new stack', () => {
  test('is ready when "up" ends, and so "status" says', async () => {
    expect(first).toMatchObject({ stack: lab.name, isReady: true, problems: [], directory: lab.path() })
    const { code, stdout } = await lab.run('status', '--json')
    expect(code).toBe(0)
    const { machines, names, supervisorPid } = JSON.parse(stdout) as StackStatus
    expect(machines.map(({ machine, kind, address, state }) => [machine, kind, address, state])).toEqual([
      ...[1, 2, 3].map((i) => [`etcd-${i}`, 'etcd', `${N}.10.${i}`, 'ready']),
      ...[1, 2].map((i) => [`dns-${i}`, 'dns', `${N}.20.${i}`, 'ready']),
      ...[1, 2, 3].map((i) => [`postgres-${i}`, 'postgres', `${N}.30.${i}`, 'ready']),
      ['haproxy-1', 'haproxy', `${N}.40.1`, 'ready'],
    ])
    expect(machines.map(({ role }) => String(role)).toSorted()).toEqual([
      ...['follower', 'follower', 'leader', 'primary', 'proxy', 'replica', 'server', 'server', 'sync standby'],
    ])
    for (const { kind, version, certificateExpires, restarts, lastError } of machines) {
      expect({ restarts, lastError }).toEqual({ restarts: 0, lastError: undefined })
      if (kind !== 'haproxy') expect(version).toMatch(/^\d+\.\d+/u)
      if (kind === 'etcd' || kind === 'postgres')
        expect(Date.parse(certificateExpires ?? '')).toBeGreaterThan(Date.now())
    }
    const addressOf = (role: string) => machines.filter((each) => each.role === role).map(({ address }) => address)
    expect(names).toEqual([
      { name: 'primary.pg.lab.test', addresses: addressOf('primary') },
      { name: 'replica.pg.lab.test', addresses: [...addressOf('replica'), ...addressOf('sync standby')].toSorted() },
    ])
    expect(readFileSync(`/proc/${supervisorPid}/cmdline`, 'utf8')).toContain('supervise')
  })

  test('is what patronictl and etcdctl say, too', async () => {
    const { machines } = await lab.status()
    const roles = (kind: string) =>
      machines.filter((each) => each.kind === kind).map(({ machine, role }) => [machine, role])
    const config = lab.path('machines/postgres-2/etc/patroni/patroni.yml')
    const listed = JSON.parse((await lab.exec('patronictl', ['-c', config, 'list', '-f', 'json'])).stdout) as Listed[]
    const words: Record<string, string> = { Leader: 'primary', 'Sync Standby': 'sync standby', Replica: 'replica' }
    expect(listed.map(({ Member, Role }) => [Member, words[Role]])).toEqual(roles('postgres'))

    const members = JSON.parse((await lab.etcdctl('root', 'member', 'list', '-w', 'json')).stdout) as Members
    const endpoints = JSON.parse((await lab.etcdctl('root', 'endpoint', 'status', '-w', 'json')).stdout) as Endpoint[]
    const leader = endpoints[0].Status.leader
    expect(
      members.members
        .map(({ name, ID }) => [name, ID === leader ? 'leader' : 'follower'])
        .toSorted(([one], [other]) => (one < other ? -1 : 1)),
    ).toEqual(roles('etcd'))
  })

  test('can be used with the lines that are printed at its end', async () => {
    expect(first.examples.map(({ purpose }) => purpose)).toEqual(['names', 'data', 'consensus'])
    const [names, data, consensus] = await Promise.all(first.examples.map(({ command }) => lab.sh(command)))
    const { address } = await lab.machine('primary')
    expect(names).toEqual({ code: 0, stdout: `${address}\n`, stderr: '' })
    expect(data).toMatchObject({ code: 0, stderr: '' })
    expect(data.stdout).toContain(address)
    expect(consensus).toMatchObject({ code: 0, stderr: '' })
    expect(consensus.stdout.match(/https:\/\/127/gu)).toHaveLength(3)
  })

  test('stays as it is with a second "up": no process is started anew', async () => {
    const before = await lab.pids()
    expect(Object.keys(before)).toHaveLength(12)
    const { code, stdout } = await lab.run('plan')
    expect({ code, stdout }).toEqual({ code: 0, stdout: `No changes. ${lab.name} matches stack.yaml\n` })
    expect(await lab.done('up', '--yes', '--detach')).toContain('No changes')
    expect(await lab.pids()).toEqual(before)
  })

  test('has logs', async () => {
    expect(await lab.done('logs', 'postgres-1')).toMatch(/^postgres-1.*(?:leader|secondary)/mu)
    const all = await lab.done('logs', '--lines', '1')
    for (const machine of Object.keys(await lab.pids())) expect(all).toContain(machine.split('/')[0])
    expect(await lab.run('logs', 'postgres-9')).toMatchObject({ code: 2 })
  })
})

describe('etcd', () => {
  const KEYS = ['/coredns/example.org', '/patroni/other/leader', '/books/one', '/other']
  test.each([
    ['dns', { reads: ['/coredns/example.org', '/patroni/other/leader'], writes: [] }],
    ['zones', { reads: ['/coredns/example.org'], writes: ['/coredns/example.org'] }],
    ['patroni', { reads: ['/patroni/other/leader'], writes: ['/patroni/other/leader'] }],
    ['reader', { reads: ['/books/one'], writes: [] }],
  ])('lets %s do what its role allows, and nothing else', async (user, { reads, writes }) => {
    const isAllowed = async (...args: readonly string[]) => {
      const { code, stderr } = await lab.etcdctl(user, ...args)
      if (code !== 0) expect(stderr).toContain('permission denied')
      return code === 0
    }
    const allowed = async (verb: string, ...value: readonly string[]) => {
      const answers = await Promise.all(KEYS.map((key) => isAllowed(verb, key, ...value)))
      return KEYS.filter((_, index) => answers[index])
    }
    expect(await allowed('get')).toEqual(reads)
    expect(await allowed('put', 'x')).toEqual(writes)
    expect(await isAllowed('get', '', '--prefix')).toBe(false)
    expect(await isAllowed('user', 'list')).toBe(false)
    expect(await isAllowed('member', 'remove', '1')).toBe(false)
  })

  test('refuses whoever does not log in, or with a wrong password', async () => {
    const nobody = await lab.client('unset ETCDCTL_USER; etcdctl get /other')
    expect(nobody.stderr).toContain('user name is empty')
    const wrong = await lab.client('etcdctl get /other', { ETCDCTL_USER: 'root:wrong' })
    expect(wrong.stderr).toContain('authentication failed')
    expect(nobody.stdout + wrong.stdout).toBe('')
  })
})

describe('PostgreSQL', () => {
  test('refuses connections without TLS, sockets and replication by anybody else', async () => {
    for (const PGHOSTADDR of [`${N}.30.1`, `${N}.30.2`, `${N}.30.3`]) {
      const { code, stderr } = await lab.psql('select 1', { PGSSLMODE: 'disable', PGHOSTADDR })
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/pg_hba.conf.*no encryption/u) })
    }
    const { stderr } = await lab.client('psql "replication=database dbname=postgres" -c IDENTIFY_SYSTEM')
    expect(stderr).toBe('')
    const rejected = await lab.client('psql "replication=true" -c IDENTIFY_SYSTEM')
    expect(rejected).toMatchObject({ code: 2, stderr: expect.stringContaining('pg_hba.conf') })
  })

  test('takes scram passwords, and no others', async () => {
    expect(await lab.sql('show password_encryption')).toBe('scram-sha-256')
    await lab.sql(
      "create role modern login password 'm'; set password_encryption = 'md5'; create role old login password 'o'",
    )
    const login = (PGUSER: string, PGPASSWORD: string) => lab.psql('select current_user', { PGUSER, PGPASSWORD })
    expect(await login('modern', 'm')).toMatchObject({ code: 0, stdout: 'modern\n' })
    expect(await login('old', 'o')).toMatchObject({ code: 2, stderr: expect.stringContaining('authentication failed') })
    await lab.sql('drop role modern, old')
  })

  test('is behind stable ports: one for the primary, one for replicas', async () => {
    const PGHOST = 'haproxy-1.lab.test'
    const isReplica = (PGPORT: string) =>
      lab.sql('select pg_is_in_recovery()', { PGHOST, PGHOSTADDR: `${N}.40.1`, PGPORT })
    expect(await isReplica('5000')).toBe('f')
    expect(await isReplica('5001')).toBe('t')
  })
})

describe('a stranger', () => {
  const PLAIN_BY_NATURE = [...[1, 2].flatMap((i) => [DNS_PORT, 8080, 9153].map((port) => `${N}.20.${i}:${port}`))]

  test('gets no service without TLS from any port but those of name servers', async () => {
    const open = lab.openPorts()
    const tcp = open.filter(({ protocol }) => protocol === 'tcp').map(({ address, port }) => `${address}:${port}`)
    const wanted = [
      ...PLAIN_BY_NATURE,
      ...[1, 2, 3].flatMap((i) => [`${N}.10.${i}:2379`, `${N}.10.${i}:2380`, `${N}.30.${i}:5432`, `${N}.30.${i}:8008`]),
      ...[`${N}.40.1:5000`, `${N}.40.1:5001`],
    ]
    expect([...new Set(tcp)].toSorted()).toEqual(wanted.toSorted())
    const udp = open.filter(({ protocol }) => protocol === 'udp').map(({ address, port }) => `${address}:${port}`)
    expect([...new Set(udp)].toSorted()).toEqual([1, 2].map((i) => `${N}.20.${i}:${DNS_PORT}`))
    for (const place of wanted.filter((each) => !PLAIN_BY_NATURE.includes(each))) {
      const [address, port] = place.split(':')
      const answer = await speakPlain(address, Number(port), HTTP_REQUEST)
      expect([place, answer]).toEqual([place, expect.stringMatching(/^$|HTTP request to an HTTPS server|^E/u)])
      if (['5432', '5000', '5001'].includes(port)) {
        const refusal = await speakPlain(address, Number(port), POSTGRES_STARTUP)
        expect([place, refusal]).toEqual([place, expect.stringMatching(/^E.*28000.*no encryption/su)])
      }
    }
  })

  test('cannot pass for the stack, nor get in with certificates of another authority', async () => {
    const files = await issueFiles(join(lab.directory, 'stranger'), [{ id: 'client', usages: ['client'] }])
    // etcdctl itself only says that it had no connection in time.
    expect(await lab.client('etcdctl get /other', { ETCDCTL_CACERT: files.ca })).toMatchObject({ code: 2, stdout: '' })
    expect(await lab.client(`${HOLDFAST} zone ls`, { ETCDCTL_CACERT: files.ca })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('certificate'),
    })
    expect(await lab.psql('select 1', { PGSSLROOTCERT: files.ca })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('certificate verify failed'),
    })
    const ca = readFileSync(lab.path('client/ca.pem'))
    const own = {
      cert: readFileSync(lab.path('secrets/patroni/operator.pem')),
      key: readFileSync(lab.path('secrets/patroni/operator.key')),
    }
    const others = { cert: readFileSync(files.cert('client')), key: readFileSync(files.key('client')) }
    expect(await ask({ ca, ...own })).toBe(200)
    expect(await ask({ ca: readFileSync(files.ca), ...own })).toMatch(/certificate/u)
    expect(await ask({ ca })).toMatch(/certificate required|ECONNRESET/u)
    expect(await ask({ ca, ...others })).toMatch(/unknown ca|ECONNRESET/u)
    const peer = { ca, port: 2380, host: `${N}.10.1`, path: '/members' }
    expect(await ask(peer)).toMatch(/bad certificate|certificate required|ECONNRESET/u)
    expect(await ask({ ...peer, ...others })).toMatch(/bad certificate|unknown|ECONNRESET/u)
  })

  test('commands nothing with a certificate of the stack alone', async () => {
    const read = (name: string) => readFileSync(lab.path('secrets', name))
    const own = { ca: read('ca.pem'), cert: read('haproxy-1/client.pem'), key: read('haproxy-1/client.key') }
    expect(await ask({ ...own, path: '/cluster' })).toBe(200)
    expect(await ask({ ...own, path: '/restart', method: 'POST' })).toBe(401)
  })
})

describe('names', () => {
  test('of machines, roles, the reverse and zones of the user are answered by every name server', async () => {
    const { machines } = await lab.status()
    const primary = machines.find(({ role }) => role === 'primary')
    for (const server of [`${N}.20.1`, `${N}.20.2`]) {
      for (const { machine, address } of machines) {
        expect(await lab.dig(server, `${machine}.lab.test`)).toEqual([address])
        expect(await lab.dig(server, '-x', address)).toEqual([`${machine}.lab.test.`])
      }
      expect(await lab.dig(server, 'primary.pg.lab.test')).toEqual([primary?.address])
      expect(await lab.dig(server, 'replica.pg.lab.test')).toHaveLength(2)
      expect(await lab.dig(server, 'www.example.test')).toEqual(['192.0.2.80'])
      expect(await lab.dig(server, 'nobody.lab.test')).toEqual([''])
    }
  })

  test('of a zone that is put into etcd are answered at once', async () => {
    const file = lab.write('stored.test.zone', zoneText(['www A 192.0.2.99']))
    expect(await lab.client(`${HOLDFAST} zone put ${file}`)).toMatchObject({ code: 0, stderr: '' })
    for (const server of [`${N}.20.1`, `${N}.20.2`])
      await until('the stored zone', async () => (await lab.dig(server, 'www.stored.test'))[0] === '192.0.2.99')
  })
})

describe('secrets', () => {
  /** Passwords as they are, keys by what stands in them. */
  const values = () =>
    filesBelow(lab.path('secrets'))
      .filter((file) => !file.endsWith('.pem'))
      .map((file) => readFileSync(file, 'utf8').trim().split('\n'))
      .map((lines) => (lines.length > 1 ? lines[1] : lines[0]))

  test('are only for whoever brought the stack up', () => {
    expect(values().length).toBeGreaterThan(10)
    for (const place of ['secrets', 'client', 'supervisor', 'manifests']) {
      expect([place, modeOf(lab.path(place))]).toEqual([place, '700'])
    }
    for (const file of filesBelow(lab.path('secrets'))) expect([file, modeOf(file)]).toEqual([file, '600'])
    const secrets = values()
    for (const file of filesBelow(lab.path('machines'))) {
      const text = readFileSync(file, 'latin1')
      if (secrets.some((secret) => text.includes(secret)))
        expect([file, modeOf(file)]).toEqual([file, expect.stringMatching(/^[46]00$/u)])
    }
  })

  test('are in no output, no log and no command line', async () => {
    const rendered = join(lab.directory, 'rendered')
    const outputs = await Promise.all([
      lab.done('render', rendered),
      lab.run('plan', '--json', '--verbose').then(({ stdout }) => stdout),
      lab.done('status', '--json'),
      lab.done('status'),
      lab.done('logs', '--lines', '10000'),
    ])
    expect(readdirSync(rendered)).toEqual(expect.arrayContaining(['etcd-1', 'haproxy-1', 'postgres-3']))
    const renderedText = filesBelow(rendered).map((file) => readFileSync(file, 'utf8'))
    const commandLines = lab.processes().map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
    expect(commandLines.length).toBeGreaterThan(10)
    const texts = [...outputs, ...renderedText, ...commandLines, lab.logs()]
    for (const secret of values()) expect(texts.some((text) => text.includes(secret))).toBe(false)
  })
})

describe('a change of the stack file', () => {
  test('that can be read again is: no process is started anew, and all of it is in use', async () => {
    const before = await lab.pids()
    lab.write('zones/db.example.test', zoneText(['www A 192.0.2.80', 'more A 192.0.2.81'], 2))
    lab.file(`domain: lab.test
network: ${N}.0.0/16
etcd: { members: 3, users: [{ name: reader, permissions: [{ access: read, prefix: /papers/ }] }] }
dns: { servers: 2, zones: ./zones, port: ${DNS_PORT}, load_balance_records: false }
postgres:
  members: 3
  haproxy: true
  params: { work_mem: 8MB }
  certificate: { organization: Another }
  superuser_password: { file: superuser }`)
    lab.write('superuser', 'another "password" \\ of \'mine\'', 0o600)
    expect(await lab.effects()).toEqual([
      'etcd-1 none',
      ...['dns-1 reload', 'dns-2 reload', 'postgres-1 reload', 'postgres-2 reload', 'postgres-3 reload'],
      'haproxy-1 reload',
    ])
    await lab.done('up', '--yes', '--detach')
    expect(await lab.pids()).toEqual(before)
    expect((await lab.run('plan')).code).toBe(0)

    expect(await lab.dig(`${N}.20.2`, 'more.example.test')).toEqual(['192.0.2.81'])
    expect(await lab.etcdctl('reader', 'get', '/papers/one')).toMatchObject({ code: 0 })
    expect(await lab.etcdctl('reader', 'get', '/books/one')).toMatchObject({ code: 1 })
    expect(await lab.sql('show work_mem')).toBe('8MB')
    expect(readFileSync(lab.path('client/pgpass'), 'utf8')).toContain('another')
    for (const i of [1, 2, 3])
      await until('the new certificate', async () =>
        (
          await lab.sh(`openssl s_client -starttls postgres -connect ${N}.30.${i}:5432 </dev/null 2>&1`)
        ).stdout.includes('O = Another'),
      )
  })
})

describe('a parameter that PostgreSQL has to restart for', () => {
  const file = (params: string) =>
    lab.file(`domain: lab.test
network: ${N}.0.0/16
etcd: { members: 3, users: [{ name: reader, permissions: [{ access: read, prefix: /papers/ }] }] }
dns: { servers: 2, zones: ./zones, port: ${DNS_PORT}, load_balance_records: false }
postgres:
  members: 3
  haproxy: true
  params: { work_mem: 8MB${params} }
  certificate: { organization: Another }
  superuser_password: { file: superuser }`)
  test('is refused by the plan where the server does not take it', async () => {
    file(', max_conections: 120')
    const { code, stderr } = await lab.run('plan')
    expect(code).toBe(1)
    expect(stderr).toContain('the server has no such parameter; did you mean "max_connections"?')
    file('')
  })

  test('is in the table for servers that cannot be asked', async () => {
    const names = (await lab.sql("select name from pg_settings where context = 'postmaster'")).split('\n')
    expect(names.filter((name) => !RESTART_PARAMETERS.has(name))).toEqual([])
  })
})

describe('what is lost', () => {
  test('of the authority and of the operator is in the plan', async () => {
    const key = lab.path('secrets/ca.key')
    const operator = lab.path('secrets/patroni/operator.key')
    const texts = [key, operator].map((path) => readFileSync(path, 'utf8'))
    rmSync(operator)
    expect((await lab.plan()).credentials).toMatchObject([{ id: 'patroni/operator', why: 'has lost its key' }])
    expect((await lab.run('plan')).code).toBe(4)
    writeFileSync(operator, texts[1], { mode: 0o600 })
    rmSync(key)
    const { stdout } = await lab.run('plan')
    writeFileSync(key, texts[0], { mode: 0o600 })
    expect(stdout).toMatch(/Note: certificates cannot be renewed: the key of the authority is not there/u)
  })
})

describe('the end', () => {
  test('"down" stops everything and keeps everything; passwords may change meanwhile', async () => {
    await lab.sql('create table kept as select 42 as answer')
    await lab.done('down', '--yes')
    expect(lab.processes()).toEqual([])
    expect(lab.openPorts()).toEqual([])
    const { code, stdout } = await lab.run('status', '--json')
    expect(code).toBe(1)
    expect((JSON.parse(stdout) as StackStatus).machines.every(({ state }) => state === 'stopped')).toBe(true)
    lab.write('superuser', 'changed while nothing ran', 0o600)
    rmSync(lab.path('secrets/postgres-replicator-password'))
    await lab.up()
    expect(await lab.sql('select answer from kept', { PGPASSWORD: 'changed while nothing ran' })).toBe('42')
    expect(await lab.dig(`${N}.20.1`, 'www.stored.test')).toEqual(['192.0.2.99'])
  })

  test('"down --purge" leaves nothing behind', async () => {
    const pids = lab.processes()
    await lab.done('down', '--purge', '--yes')
    expect(lab.processes()).toEqual([])
    expect(pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([])
    expect(readListeners().filter(({ address }) => address.endsWith(NETWORK_IN_TABLES))).toEqual([])
    expect(existsSync(lab.state)).toBe(false)
  })
})

interface Listed {
  readonly Member: string
  readonly Role: string
}

interface Members {
  readonly members: readonly { readonly name: string; readonly ID: number }[]
}

interface Endpoint {
  readonly Status: { readonly leader: number }
}

/** The status of an answer of Patroni's, or why there is none. */
function ask(options: RequestOptions): Promise<number | string> {
  const { promise, resolve } = Promise.withResolvers<number | string>()
  request({ host: `${N}.30.1`, port: 8008, path: '/patroni', agent: false, ...options }, (response) => {
    response.resume()
    resolve(response.statusCode ?? 0)
  })
    .on('error', (error) => resolve(error.message))
    .end()
  return promise
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8)
}
