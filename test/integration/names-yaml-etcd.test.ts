// names.yaml and a Corefile against a real cluster with TLS and a password: served, written as files, and what is told
// when a certificate or a password is not right.

import { existsSync, readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { Sandbox, zoneText } from '../support/holdfast-process.ts'
import { untilAnswer } from '../support/lookup.ts'
import { freePort } from '../support/ports.ts'
import { until } from '../support/until.ts'

let cluster: EtcdCluster
let sandbox: Sandbox
let port: number
beforeAll(async () => {
  cluster = await EtcdCluster.start({ members: 1, tls: 'server', auth: { rootPassword: 'hunter2' } })
  await cluster.etcdctl('put', '/zones/stored.test', zoneText(['www A 192.0.2.1']))
  await cluster.etcdctl('put', '/skydns/local/cluster/web/x1', '{"host":"192.0.2.2"}')
})
afterAll(() => cluster.stop())
beforeEach(async () => {
  sandbox = new Sandbox()
  port = await freePort()
})
afterEach(() => sandbox.close())

function names(password: string, more = ''): string {
  sandbox.write('password', `${password}\n`)
  return sandbox.write(
    'names.yaml',
    `etcd:
  endpoints: [${cluster.endpoints.join(', ')}]
  ca_cert: ${cluster.caFile}
  username: root
  password: { file: password }
sources:
  - { type: etcd-zones, prefix: /zones/ }
  - { type: skydns, zones: [cluster.local] }
serve: { listen: [127.0.0.1:${port}], reload: 3600s }
${more}`,
  )
}

test('names.yaml serves what is in etcd and writes it as files', async () => {
  const write = 'write: [{ type: zonefiles, prefix: /zones/, directory: out, permissions: "0600" }]'
  const server = await sandbox.serve('--config', names('hunter2', write))
  await untilAnswer(port, 'www.stored.test.', '192.0.2.1')
  await untilAnswer(port, 'web.cluster.local.', '192.0.2.2')
  await until('the file', () => existsSync(sandbox.path('out/stored.test')))
  expect(readFileSync(sandbox.path('out/stored.test'), 'utf8')).toBe(zoneText(['www A 192.0.2.1']))
  server.kill('SIGTERM')
  expect(await server.ended()).toBe(0)
  expect(server.output).not.toContain('hunter2')
})

test('a password that is mended in its file is taken up, and never printed', async () => {
  const server = await sandbox.serve('--config', names('hunter1'))
  await server.logged(/password/u)
  sandbox.write('password', 'hunter2\n')
  await untilAnswer(port, 'www.stored.test.', '192.0.2.1')
  expect(server.output).not.toMatch(/hunter[12]/u)
})

test('a certificate that is not there is told in one line', async () => {
  const file = names('hunter2')
  sandbox.write('names.yaml', readFileSync(file, 'utf8').replace(/ca_cert: .*/u, 'ca_cert: missing.pem'))
  const server = await sandbox.serve('--config', file)
  const [line] = await server.logged(/^.*missing\.pem.*$/mu)
  expect(line).toMatch(/no such file/u)
})

test('a Corefile with etcd serves the same', async () => {
  const corefile = `.:${port} {
    bind 127.0.0.1
    etcd cluster.local {
        endpoint ${cluster.endpoints.join(' ')}
        tls ${cluster.caFile}
        credentials root hunter2
    }
  }`
  const server = await sandbox.serve('-conf', sandbox.write('Corefile', corefile))
  await untilAnswer(port, 'web.cluster.local.', '192.0.2.2')
  expect(server.output).not.toContain('hunter2')
})
