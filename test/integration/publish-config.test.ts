// `holdfast publish zonefiles --config config.yml` against an etcd with TLS and passwords; and what it says when it is
// not let in.

import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { holdfast } from '../support/command-line.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { type HoldfastProcess, Sandbox, zoneText } from '../support/holdfast-process.ts'
import { freePort } from '../support/ports.ts'
import { until } from '../support/until.ts'

const ROOT_PASSWORD = 'root-secret'
const PASSWORD = 'ann-secret'

let etcd: EtcdCluster
let sandbox: Sandbox
beforeAll(async () => {
  etcd = await EtcdCluster.start({ members: 1, tls: 'server', auth: { rootPassword: ROOT_PASSWORD } })
  await etcd.etcdctl('role', 'add', 'files')
  await etcd.etcdctl('role', 'grant-permission', 'files', 'read', '/files/', '--prefix')
  await etcd.etcdctl('user', 'add', `ann:${PASSWORD}`)
  await etcd.etcdctl('user', 'grant-role', 'ann', 'files')
})
afterAll(() => etcd.stop())
beforeEach(() => {
  sandbox = new Sandbox()
})
afterEach(async () => {
  await sandbox.close()
  await etcd.etcdctl('del', '', '--prefix')
})

interface Changes {
  readonly prefix?: string
  readonly endpoint?: string
  readonly caFile?: string
  readonly password?: string
  readonly more?: string
}

function writeConfig(changes: Changes = {}): void {
  const { prefix = '/files/', endpoint = etcd.endpoints[0].replace('https://', ''), caFile = etcd.caFile } = changes
  sandbox.write('password.yml', `username: ann\npassword: ${changes.password ?? PASSWORD}\n`)
  sandbox.write(
    'config.yml',
    `filesystem:
  path: files
  files_permission: "0640"
  directories_permission: "0750"
etcd_client:
  prefix: "${prefix}"
  endpoints:
    - "${endpoint}"
  connection_timeout: "2s"
  request_timeout: "5s"
  retry_interval: "1s"
  retries: 5
  auth:
    ca_cert: "${caFile}"
    password_auth: password.yml
${changes.more ?? ''}
log_level: info
`,
  )
}

/** The file is found in the directory it runs in. */
function publish(...args: readonly string[]): HoldfastProcess {
  return sandbox.spawn(['publish', 'zonefiles', ...args])
}

function read(name: string): string | undefined {
  const path = sandbox.path(`files/${name}`)
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

test('any value is a file, slashes make folders, modes are those asked for', async () => {
  writeConfig()
  await etcd.etcdctl('put', '/files/motd', 'hello')
  await etcd.etcdctl('put', '/files/etc/app/config', 'a=1')
  await etcd.etcdctl('put', '/files/../escape', 'x')
  sandbox.write('files/old/file', 'x')
  const publisher = publish()
  await until(
    'the files',
    () => read('motd') === 'hello' && read('etc/app/config') === 'a=1' && read('old/file') === undefined,
  )
  expect(statSync(sandbox.path('files/motd')).mode & 0o777).toBe(0o640)
  expect(statSync(sandbox.path('files/etc/app')).mode & 0o777).toBe(0o750)
  expect(statSync(sandbox.path('files/etc')).mode & 0o777).toBe(0o750)
  expect(existsSync(sandbox.path('escape'))).toBe(false)
  await publisher.logged(/Cannot publish "\/files\/\.\.\/escape": "\.\." leads elsewhere; it is passed over/u)
  await etcd.etcdctl('put', '/files/etc/app/config', 'a=2')
  await etcd.etcdctl('del', '/files/motd')
  await until('the changes', () => read('motd') === undefined && read('etc/app/config') === 'a=2')
  expect(publisher.output).not.toContain(PASSWORD)
})

test('with --validate only good zones are written', async () => {
  writeConfig()
  await etcd.etcdctl('put', '/files/good.test', zoneText([]))
  await etcd.etcdctl('put', '/files/bad.test', 'hello')
  const once = publish('--validate', '--once')
  expect(await once.ended()).toBe(0)
  expect([read('good.test'), read('bad.test')]).toEqual([zoneText([]), undefined])
})

describe('the notification command', () => {
  const NOTIFICATION = (script: string, retries: number) =>
    `notification_command: ["sh", "-c", ${JSON.stringify(script)}]\nnotification_command_retries: ${retries}`

  test('runs after a change, again while it fails, and what it prints is in the log', async () => {
    const script = 'echo run >> runs; echo "run $(wc -l < runs)"; [ "$(wc -l < runs)" -ge 3 ]'
    writeConfig({ more: NOTIFICATION(script, 5) })
    await etcd.etcdctl('put', '/files/a', '1')
    const publisher = publish()
    await publisher.logged(/\[INFO\] sh: run 3/u)
    expect(publisher.output).toContain('retry 2 of 5 follows')
    expect(publisher.output).not.toContain('retry 3 of 5 follows')
    await etcd.etcdctl('put', '/files/a', '2')
    await publisher.logged(/\[INFO\] sh: run 4/u)
    await until('everybody told', () => read('.holdfast-owed') === undefined)
    publisher.kill('SIGTERM')
    await publisher.ended()
    // Nothing changed: nobody is told.
    const again = publish('--once')
    expect(await again.ended()).toBe(0)
    expect(again.output).not.toContain('run 5')
  })

  test('that never succeeds is an error, and publishing goes on', async () => {
    writeConfig({ more: NOTIFICATION('exit 7', 0) })
    await etcd.etcdctl('put', '/files/a', '1')
    const publisher = publish()
    await publisher.logged(
      /\[ERROR\] Cannot notify with "sh -c exit 7": exit code 7; it is tried again after the next change/u,
    )
    await etcd.etcdctl('put', '/files/b', '2')
    await until('the other file', () => read('b') === '2')
  })

  test('that never succeeds fails what runs only once', async () => {
    writeConfig({ more: NOTIFICATION('exit 7', 0) })
    await etcd.etcdctl('put', '/files/a', '1')
    const once = publish('--once')
    expect(await once.ended()).toBe(1)
    expect(once.output).toContain('Cannot notify with "sh -c exit 7": exit code 7; it is tried again at the next start')
    expect(read('a')).toBe('1')
  })

  test('gets our environment without our secrets, and cannot fill the log', async () => {
    writeConfig({ more: NOTIFICATION('env; seq 1000', 0) })
    await etcd.etcdctl('put', '/files/a', '1')
    const env = { GREETING: 'hello', ETCDCTL_PASSWORD: 'secret', ETCDCTL_USER: 'ann:secret', USER_PASSWORD: 'secret' }
    const once = sandbox.spawn(['publish', 'zonefiles', '--once'], 'pipe', env)
    expect(await once.ended()).toBe(0)
    expect(once.output).toContain('sh: GREETING=hello')
    expect(once.output).not.toContain('secret')
    expect(once.output.match(/\[INFO\] sh: /gu)).toHaveLength(101)
    expect(once.output).toMatch(/\[INFO\] sh: \d+ more lines/u)
  })

  test('may take the directory away without ending us', async () => {
    writeConfig({ more: NOTIFICATION('rm -r files; mkdir -p files/.holdfast-owed/x', 0) })
    await etcd.etcdctl('put', '/files/a', '1')
    const publisher = publish()
    await publisher.logged(/\[ERROR\] Cannot note that the notification was sent in "files": .*; it is repeated/u)
    await etcd.etcdctl('put', '/files/b', '2')
    await publisher.logged(/Cannot write "b" into "files"/u)
  })

  test('is not forgotten when the process is killed before it ran', async () => {
    writeConfig({ more: NOTIFICATION('[ -f allowed ] && echo told', 100) })
    await etcd.etcdctl('put', '/files/a', '1')
    const killed = publish()
    await killed.logged(/retry 1 of 100 follows/u)
    killed.kill('SIGKILL')
    await killed.ended()
    writeFileSync(sandbox.path('allowed'), '')
    const once = publish('--once')
    expect(await once.ended()).toBe(0)
    expect(once.output).toContain('sh: told')
    expect(existsSync(sandbox.path('files/.holdfast-owed'))).toBe(false)
  })
})

describe('one line says what is wrong, and nothing is touched, when', () => {
  test.each<[string, () => Promise<Changes> | Changes, RegExp]>([
    ['the authority is another', () => ({ caFile: etcd.wrongCaFile! }), /Cannot .*certificate/u],
    [
      'the password is wrong',
      () => ({ password: 'no' }),
      /Cannot log in to etcd at ".*" as "ann": the user or the password is wrong/u,
    ],
    ['there is no permission', () => ({ prefix: '/other/' }), /Cannot .*"\/other\/.*user "ann" has no permission/u],
    ['nobody listens', async () => ({ endpoint: `127.0.0.1:${await freePort()}` }), /Cannot .*refuses connections/u],
    ['the file of the authority is missing', () => ({ caFile: '/no/ca.pem' }), /Cannot .*\/no\/ca\.pem/u],
  ])('%s', async (_, changes, expected) => {
    writeConfig(await changes())
    mkdirSync(sandbox.path('files'))
    sandbox.write('files/kept', 'x')
    const once = publish('--once')
    expect(await once.ended()).toBe(1)
    const lines = once.output.trimEnd().split('\n')
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(expected)
    expect(read('kept')).toBe('x')
    const publisher = publish()
    await publisher.logged(new RegExp(`\\[ERROR\\] ${expected.source}.*; files stay as they are`, 'u'))
    expect(read('kept')).toBe('x')
    expect(once.output + publisher.output).not.toContain(PASSWORD)
  })
})

describe('a config.yml that is wrong is refused with its place', () => {
  test.each([
    [
      { more: 'notification_comand: [sh]' },
      /config\.yml:16:1: unknown key "notification_comand"; did you mean "notification_command"\?/u,
    ],
    [
      { more: 'grpc_notifications: [{ endpoint: "x:1" }]' },
      /config\.yml:16:\d+: grpc_notifications is a list; expected no notifications by gRPC/u,
    ],
    [
      { more: '    client_cert: cert.pem' },
      /config\.yml:14:\d+: etcd_client\.auth: a certificate and its key go together; expected both/u,
    ],
    [{ prefix: '' }, /config\.yml:6:\d+: etcd_client\.prefix is empty; expected/u],
    [{ endpoint: 'nowhere' }, /config\.yml:8:\d+: .*"nowhere" is not an endpoint/u],
  ])('%o', async (changes, expected) => {
    writeConfig(changes)
    const { code, stderr } = await holdfast(['publish', 'zonefiles', '--config', sandbox.path('config.yml')])
    expect(code).toBe(3)
    expect(stderr).toMatch(expected)
  })
})
