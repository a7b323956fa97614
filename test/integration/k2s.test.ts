// Two configurations as people have them, against clusters of three with TLS and authentication, each with a user who may
// only read its prefix: the Corefile of K2s, which identifies with a certificate, and zones in etcd by names.yaml, with a
// password. Members die, all of etcd goes, the server is killed: names stay, and changes are followed.

import { afterEach, beforeEach, expect, test } from 'vitest'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { address, FaultServer } from '../support/fault-server.ts'
import { Sandbox, zoneText } from '../support/holdfast-process.ts'
import { brief, untilAnswer } from '../support/lookup.ts'
import { freePort } from '../support/ports.ts'

/** The shape K2s gives it; endpoint, files, ports and the forwarder are of the test. */
const COREFILE = `.:53 {
    errors
    health
    ready
    etcd cluster.local {
        stubzones
        path /skydns
        endpoint https://192.0.2.100:2379
        tls /etc/kubernetes/pki/etcd-client/tls.crt /etc/kubernetes/pki/etcd-client/tls.key /etc/kubernetes/pki/etcd-ca/tls.crt
        fallthrough
    }
    prometheus :9153
    forward . /etc/resolv.conf
    cache 30
    loop
    reload
    loadbalance
}
`

const LIMIT_MS = 170_000
const MEMBERS = [0, 1, 2] as const

let sandbox: Sandbox
let port: number
beforeEach(async () => {
  sandbox = new Sandbox()
  port = await freePort()
})
afterEach(() => sandbox.close())

test(
  'the Corefile of K2s',
  async () => {
    const cluster = await EtcdCluster.start({ tls: 'client', auth: { rootPassword: 'hunter2' } })
    const upstream = await FaultServer.start(({ query, send }) => send(address(query, '198.51.100.1')))
    try {
      await addReader(cluster, '/skydns/', 'dns', '--no-password')
      await cluster.etcdctl('put', '/skydns/local/cluster/web/1a2b3c4d', '{"host":"192.0.2.1","targetstrip":1}')
      const [health, ready, metrics] = [await freePort(), await freePort(), await freePort()]
      const { certFile, keyFile } = await cluster.clientCertificate('dns')
      const corefile = COREFILE.replace('.:53 {', `.:${port} {\n    bind 127.0.0.1`)
        .replace('health\n', `health 127.0.0.1:${health}\n`)
        .replace('ready\n', `ready 127.0.0.1:${ready}\n`)
        .replace(/endpoint .*/u, `endpoint ${cluster.endpoints.join(' ')}`)
        .replace(/tls .*/u, `tls ${certFile} ${keyFile} ${cluster.caFile}`)
        .replace(':9153', `127.0.0.1:${metrics}`)
        .replace('/etc/resolv.conf', `127.0.0.1:${upstream.port}`)
      const server = await sandbox.serve('-conf', sandbox.write('Corefile', corefile))

      await untilAnswer(port, 'web.cluster.local.', '192.0.2.1')
      expect(await brief(port, 'elsewhere.example.')).toBe('198.51.100.1')
      expect(await brief(port, 'fallen.cluster.local.')).toBe('198.51.100.1')
      expect((await fetch(`http://127.0.0.1:${ready}/ready`)).status).toBe(200)
      expect((await fetch(`http://127.0.0.1:${health}/health`)).status).toBe(200)
      expect(await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()).toContain('coredns_dns_requests_total')

      await cluster.kill(0)
      await cluster.etcdctl('put', '/skydns/local/cluster/web/1a2b3c4d', '{"host":"192.0.2.2","targetstrip":1}')
      await untilAnswer(port, 'web.cluster.local.', '192.0.2.2')
      await cluster.etcdctl('put', '/skydns/local/cluster/new/1a2b3c4d', '{"host":"192.0.2.3"}')
      await untilAnswer(port, 'new.cluster.local.', '192.0.2.3')
      await cluster.etcdctl('del', '/skydns/local/cluster/new/1a2b3c4d')
      await untilAnswer(port, 'new.cluster.local.', '198.51.100.1')

      for (const member of MEMBERS) await cluster.kill(member)
      await server.logged(/etcd/u, server.output.length)
      expect(await brief(port, 'web.cluster.local.')).toBe('192.0.2.2')
    } finally {
      await upstream.stop()
      await cluster.stop()
    }
  },
  LIMIT_MS,
)

test(
  'zones in etcd by names.yaml',
  async () => {
    const cluster = await EtcdCluster.start({ tls: 'server', auth: { rootPassword: 'hunter2' } })
    try {
      await addReader(cluster, '/zones/', 'dns:swordfish')
      const put = (...records: string[]) => cluster.etcdctl('put', '--', '/zones/lab.test', zoneText(records))
      await put('www A 192.0.2.1')
      sandbox.write('password', 'swordfish\n')
      const names = sandbox.write(
        'names.yaml',
        `etcd:
  endpoints: [${cluster.endpoints.join(', ')}]
  ca_cert: ${cluster.caFile}
  username: dns
  password: { file: password }
sources:
  - { type: etcd-zones, prefix: /zones/ }
serve:
  listen: [127.0.0.1:${port}]
  state: state
`,
      )
      const server = await sandbox.serve('--config', names)
      await untilAnswer(port, 'www.lab.test.', '192.0.2.1')
      await cluster.kill(1)
      await put('www A 192.0.2.2')
      await untilAnswer(port, 'www.lab.test.', '192.0.2.2')

      for (const member of MEMBERS) await cluster.kill(member)
      expect(await brief(port, 'www.lab.test.')).toBe('192.0.2.2')
      await server.end()
      const again = await sandbox.serve('--config', names)
      await untilAnswer(port, 'www.lab.test.', '192.0.2.2')

      for (const member of MEMBERS) await cluster.restart(member)
      await cluster.healthy()
      await put('www A 192.0.2.3')
      await untilAnswer(port, 'www.lab.test.', '192.0.2.3')
      expect(server.output + again.output).not.toContain('swordfish')
    } finally {
      await cluster.stop()
    }
  },
  LIMIT_MS,
)

/** A user `dns` who may read the keys below a prefix and nothing else. */
async function addReader(cluster: EtcdCluster, prefix: string, ...user: readonly string[]): Promise<void> {
  await cluster.etcdctl('role', 'add', 'reader')
  await cluster.etcdctl('role', 'grant-permission', 'reader', '--prefix=true', 'read', prefix)
  await cluster.etcdctl('user', 'add', ...user)
  await cluster.etcdctl('user', 'grant-role', 'dns', 'reader')
}
