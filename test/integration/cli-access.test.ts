// Who may, and how one identifies: passwords, client certificates, permissions; with one line for whoever is not let in.

import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { holdfast } from '../support/command-line.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { Sandbox, zoneText } from '../support/holdfast-process.ts'

let sandbox: Sandbox
beforeEach(() => {
  sandbox = new Sandbox()
})
afterEach(() => sandbox.close())

describe('with passwords', () => {
  let etcd: EtcdCluster
  beforeAll(async () => {
    etcd = await EtcdCluster.start({ members: 1, tls: 'server', auth: { rootPassword: 'root-secret' } })
    await etcd.etcdctl('role', 'add', 'reader')
    await etcd.etcdctl('role', 'grant-permission', 'reader', 'read', '/coredns/', '--prefix')
    await etcd.etcdctl('user', 'add', 'ann:ann-secret')
    await etcd.etcdctl('user', 'grant-role', 'ann', 'reader')
    await etcd.etcdctl('put', '/coredns/a.test', zoneText([]))
  })
  afterAll(() => etcd.stop())

  const flags = () => ['--endpoints', etcd.endpoints.join(','), '--cacert', etcd.caFile!]

  test('the password comes from a variable or from the terminal', async () => {
    const byVariable = await holdfast(['zone', 'ls', ...flags(), '--user', 'ann'], {
      env: { ETCDCTL_PASSWORD: 'ann-secret' },
    })
    expect(byVariable.stdout).toContain('a.test.')
    const typed = await holdfast(['zone', 'ls', ...flags(), '--user', 'ann'], { terminal: true, stdin: 'ann-secret\r' })
    expect(typed.stdout).toBe(byVariable.stdout)
    expect(typed.stderr).toBe('Password of ann: \n')
  })

  test('who may only read cannot write, and is told', async () => {
    const file = sandbox.write('db.b.test', zoneText([]))
    const { code, stderr } = await holdfast(['zone', 'put', file, ...flags(), '--user', 'ann:ann-secret'])
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^holdfast: Cannot write "\/coredns\/b\.test": user "ann" has no permission for that in etcd; .*\n$/u,
    )
    const records = await holdfast(['record', 'ls', ...flags(), '--user', 'ann:ann-secret'])
    expect(records.stderr).toMatch(
      /^holdfast: Cannot read "\/skydns.*": user "ann" has no permission for that in etcd; .*\n$/u,
    )
  })

  test('all records are listed with a permission for what is below the prefix', async () => {
    await etcd.etcdctl('role', 'add', 'records')
    await etcd.etcdctl('role', 'grant-permission', 'records', 'readwrite', '/skydns/', '--prefix')
    await etcd.etcdctl('user', 'add', 'rob:rob-secret')
    await etcd.etcdctl('user', 'grant-role', 'rob', 'records')
    const as = [...flags(), '--user', 'rob:rob-secret']
    expect(await holdfast(['record', 'set', 'www.a.test', 'A', '192.0.2.1', ...as])).toMatchObject({ code: 0 })
    const { code, stdout, stderr } = await holdfast(['record', 'ls', ...as])
    expect(stdout).toMatch(/www\.a\.test\. .*192\.0\.2\.1/u)
    expect([code, stderr]).toEqual([0, ''])
  })

  test.each([
    [
      'a wrong password',
      () => ['--user', 'ann:no'],
      /^holdfast: Cannot log in to etcd at ".*" as "ann": the user or the password is wrong; .*\n$/u,
    ],
    ['no user at all', () => [], /^holdfast: Cannot read "\/coredns\/": etcd at ".*" wants to know the user; .*\n$/u],
  ])('%s is one line', async (_, more, expected) => {
    const { code, stderr } = await holdfast(['zone', 'ls', ...flags(), ...more()])
    expect(stderr).toMatch(expected)
    expect(code).toBe(1)
  })

  test('an authority that did not sign the certificate is one line', async () => {
    const { code, stderr } = await holdfast([
      'zone',
      'ls',
      '--endpoints',
      etcd.endpoints.join(','),
      '--cacert',
      etcd.wrongCaFile!,
    ])
    expect(stderr).toMatch(/^holdfast: Cannot read "\/coredns\/": .*certificate.*\n$/u)
    expect(code).toBe(1)
  })
})

describe('with client certificates', () => {
  let etcd: EtcdCluster
  beforeAll(async () => {
    etcd = await EtcdCluster.start({ members: 1, tls: 'client' })
    await etcd.etcdctl('put', '/coredns/a.test', zoneText([]))
  })
  afterAll(() => etcd.stop())

  test('certificate and key may be in one file, as config.yml can have it', async () => {
    const pem = sandbox.write('both.pem', readFileSync(etcd.certFile!, 'utf8') + readFileSync(etcd.keyFile!, 'utf8'))
    const config = sandbox.write(
      'config.yml',
      `filesystem: { path: zones }
etcd_client:
  prefix: /coredns/
  endpoints: ["${etcd.endpoints[0].replace('https://', '')}"]
  auth: { ca_cert: "${etcd.caFile}", client_cert_key: "${pem}" }
`,
    )
    const once = sandbox.spawn(['publish', 'zonefiles', '--config', config, '--once'])
    expect(await once.ended(), once.output).toBe(0)
    expect(readFileSync(sandbox.path('zones/a.test'), 'utf8')).toBe(zoneText([]))
  })

  test('flags name them as with etcdctl, and without them one line says so', async () => {
    const address = etcd.endpoints[0].replace('https://', '')
    const flags = ['--endpoints', address, '--cacert', etcd.caFile!]
    const named = await holdfast(['zone', 'ls', ...flags, '--cert', etcd.certFile!, '--key', etcd.keyFile!])
    expect(named.stdout).toContain('a.test.')
    const unnamed = await holdfast(['zone', 'ls', ...flags])
    expect(unnamed.code).toBe(1)
    expect(unnamed.stderr).toMatch(/^holdfast: Cannot read "\/coredns\/": .*certificate.*\n$/u)
  })
})
