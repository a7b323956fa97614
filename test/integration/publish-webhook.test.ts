// `holdfast publish webhook`, as a process, against a real etcd; and where ExternalDNS has been built, with the real
// ExternalDNS in front of it.

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { holdfast } from '../support/command-line.ts'
import { describeWithExternalDns, describeWithKubernetes } from '../support/describe-with-kubernetes.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { type HoldfastProcess, metric, Sandbox } from '../support/holdfast-process.ts'
import { KubeCluster } from '../support/kube-cluster.ts'
import { findExternalDns } from '../support/kubernetes-programs.ts'
import { freePort } from '../support/ports.ts'
import { until } from '../support/until.ts'

const MEDIA_TYPE = 'application/external.dns.webhook+json;version=1'

let etcd: EtcdCluster
let sandbox: Sandbox
let port: number
let metricsPort: number
beforeAll(async () => {
  etcd = await EtcdCluster.start({ members: 1 })
})
afterAll(() => etcd.stop())
beforeEach(async () => {
  sandbox = new Sandbox()
  port = await freePort()
  metricsPort = await freePort()
})
afterEach(async () => {
  await sandbox.close()
  await etcd.etcdctl('del', '', '--prefix')
})

async function serve(...args: readonly string[]): Promise<HoldfastProcess> {
  const addresses = ['--listen', `127.0.0.1:${port}`, '--metrics-address', `127.0.0.1:${metricsPort}`]
  const child = sandbox.spawn(['publish', 'webhook', ...addresses, ...args], 'pipe', { ETCD_URLS: etcd.endpoints[0] })
  await Promise.race([child.logged(/Following/u), child.failure()])
  return child
}

function ask(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`, init)
}

function post(path: string, body: unknown): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return ask(path, { method: 'POST', body: text, headers: { 'content-type': MEDIA_TYPE } })
}

/** Unlike fetch, with any Host and Origin. */
async function rawStatus(headers: Record<string, string>, body: string): Promise<number> {
  const message = request({ host: '127.0.0.1', port, path: '/records', method: 'POST', headers })
  message.end(body)
  const [answer] = (await once(message, 'response')) as [IncomingMessage]
  answer.resume()
  return answer.statusCode ?? 0
}

async function stored(prefix = '/skydns/'): Promise<[string, string][]> {
  const lines = (await etcd.etcdctl('get', prefix, '--prefix')).split('\n')
  return Array.from({ length: lines.length >> 1 }, (_, at) => [lines[2 * at], lines[2 * at + 1]])
}

describe('the contract', () => {
  test('records are written and read, and the key is found again for a change', async () => {
    await serve()
    const create = [{ dnsName: 'www.example.org', recordType: 'A', targets: ['192.0.2.1'], recordTTL: 60 }]
    expect((await post('/records', { create })).status).toBe(204)
    const answer = await ask('/records', { headers: { accept: MEDIA_TYPE } })
    expect(answer.headers.get('content-type')).toBe(MEDIA_TYPE)
    const [old] = (await answer.json()) as object[]
    expect(old).toMatchObject({ dnsName: 'www.example.org', targets: ['192.0.2.1'], recordTTL: 60 })
    const [[key, value]] = await stored()
    expect(value).toBe('{"host":"192.0.2.1","ttl":60,"targetstrip":1}')
    await post('/records', { updateOld: [old], updateNew: [{ ...create[0], recordTTL: 30 }] })
    expect(await stored()).toEqual([[key, '{"host":"192.0.2.1","ttl":30,"targetstrip":1}']])
    expect((await post('/records', { create: null, delete: [old] })).status).toBe(204)
    expect(await stored()).toEqual([])
    expect(await (await ask('/records')).json()).toEqual([])
  })

  test('a web page can neither read nor write records, and a password keeps other users out', async () => {
    await serve('--password-file', sandbox.write('password', 's3cret\n'), '--allow-host', 'webhook.test')
    const body = JSON.stringify({ create: [{ dnsName: 'a.test', recordType: 'A', targets: ['192.0.2.66'] }] })
    const right = { authorization: `Basic ${Buffer.from('externaldns:s3cret').toString('base64')}` }
    const send = (headers: Record<string, string>) => rawStatus({ 'content-type': MEDIA_TYPE, ...headers }, body)
    expect(await send({ ...right, origin: 'http://evil.example' })).toBe(403)
    expect(await send({ ...right, host: 'evil.example' })).toBe(403)
    expect(await send({ ...right, 'content-type': 'text/plain' })).toBe(415)
    expect(await send({})).toBe(401)
    expect(await stored()).toEqual([])
    expect((await ask('/records')).status).toBe(401)
    expect((await ask('/healthz')).status).toBe(200)
    expect(await send({ ...right, host: `webhook.test:${port}` })).toBe(204)
    expect(await stored()).toHaveLength(1)
  })

  test('the domain filter is negotiated, and kept to', async () => {
    await serve('--domain-filter', 'example.org', '--exclude-domains', 'not.example.org')
    const answer = await ask('/')
    expect(answer.headers.get('content-type')).toBe(MEDIA_TYPE)
    expect(await answer.json()).toEqual({ include: ['example.org'], exclude: ['not.example.org'] })
    const create = ['a.example.org', 'a.not.example.org', 'a.example.net'].map((dnsName) => {
      return { dnsName, recordType: 'A', targets: ['192.0.2.1'] }
    })
    expect((await post('/records', { create })).status).toBe(204)
    expect(await stored()).toHaveLength(1)
    await etcd.etcdctl('put', '/skydns/net/example/b', '{"host":"192.0.2.1"}')
    expect(await (await ask('/records')).json()).toHaveLength(1)
  })

  test('endpoints are adjusted to what can be stored', async () => {
    const child = await serve()
    const wanted = [
      {
        dnsName: 'a.test',
        recordType: 'A',
        targets: ['192.0.2.1'],
        providerSpecific: [{ name: 'alias', value: 'false' }],
      },
      { dnsName: 'b.test', recordType: 'A', targets: ['192.0.2.1'], setIdentifier: 'x', labels: { owner: 'me' } },
      {
        dnsName: 'c.test',
        recordType: 'CNAME',
        targets: ['a.test'],
        providerSpecific: [{ name: 'webhook/coredns-group', value: 'g' }],
      },
      { dnsName: 'a.test', recordType: 'MX', targets: ['10 mail.test'] },
    ]
    const group = [{ name: 'coredns/group', value: 'g' }]
    for (let times = 0; times < 2; times++)
      expect(await (await post('/adjustendpoints', wanted)).json()).toEqual([
        { dnsName: 'a.test', recordType: 'A', targets: ['192.0.2.1'], labels: {}, providerSpecific: [] },
        { dnsName: 'b.test', recordType: 'A', targets: ['192.0.2.1'], labels: { owner: 'me' }, providerSpecific: [] },
        { dnsName: 'c.test', recordType: 'CNAME', targets: ['a.test'], labels: {}, providerSpecific: group },
      ])
    expect(child.output.match(/Cannot store "a.test" MX/gu)).toHaveLength(1)
  })

  test('what is wrong with a request is said in one line, and is not to be repeated', async () => {
    await serve()
    const refusal = async (path: string, body: unknown) => {
      const answer = await post(path, body)
      expect(answer.status).toBe(400)
      return answer.text()
    }
    expect(await refusal('/records', '{')).toMatch(/^Cannot read the request: it is not JSON \(.*\)\n$/u)
    expect(await refusal('/records', { create: [{ dnsName: 'a.test', recordType: 'A', targets: '192.0.2.1' }] })).toBe(
      'Cannot read the request: create[0].targets: Invalid input: expected array, received string\n',
    )
    expect(await refusal('/adjustendpoints', [{ recordType: 'A' }])).toContain('[0].dnsName')
    const endpoint = { dnsName: 'a.test', recordType: 'A', targets: [] }
    expect(await refusal('/records', { updateNew: [endpoint] })).toContain(
      'as many endpoints in updateOld as in updateNew',
    )
    expect((await post('/records', ' '.repeat((32 << 20) + 1))).status).toBe(413)
    expect((await ask('/nothing')).status).toBe(404)
    const answer = await ask('/records', { method: 'DELETE' })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, POST'])
  })

  test('what etcd does not do now is to be tried again', async () => {
    const child = await serve()
    await etcd.kill(0)
    await child.logged(/refuses connections/u)
    const answer = await ask('/records')
    expect(answer.status).toBe(503)
    expect(await answer.text()).toContain('refuses connections')
    await etcd.restart(0)
    await etcd.healthy()
    expect((await ask('/records')).status).toBe(200)
  })

  test('what belongs to another owner stays, and ExternalDNS hears of it', async () => {
    await etcd.etcdctl('put', '/skydns/arpa/in-addr/192/0/2/1', '{"host":"theirs.test","owner":"you"}')
    const child = await serve('--coredns-strictly-owned', '--txt-owner-id', 'me')
    const answer = await post('/records', {
      create: [
        { dnsName: '1.2.0.192.in-addr.arpa', recordType: 'PTR', targets: ['mine.test'] },
        { dnsName: '2.2.0.192.in-addr.arpa', recordType: 'PTR', targets: ['mine.test'] },
      ],
    })
    expect(answer.status).toBe(500)
    expect(await answer.text()).toContain('belongs to "you"')
    await child.logged(/belongs to "you"/u)
    expect(await stored()).toEqual([
      ['/skydns/arpa/in-addr/192/0/2/1', '{"host":"theirs.test","owner":"you"}'],
      ['/skydns/arpa/in-addr/192/0/2/2', '{"host":"mine.test","owner":"me"}'],
    ])
  })
})

describe('the process', () => {
  test('is healthy, shows metrics, and ends cleanly', async () => {
    const child = await serve()
    expect((await ask('/healthz')).status).toBe(200)
    expect((await fetch(`http://127.0.0.1:${metricsPort}/healthz`)).status).toBe(200)
    expect((await fetch(`http://127.0.0.1:${metricsPort}/records`)).status).toBe(404)
    expect(await metric(metricsPort, 'holdfast_publisher_up{of="etcd"}')).toBe(1)
    expect(await metric(metricsPort, 'holdfast_webhook_answers_total{route="/healthz",status="200"}')).toBe(1)
    child.kill('SIGTERM')
    expect(await child.ended()).toBe(0)
    expect(child.output).toContain('Stopping on SIGTERM')
  })

  test('says why it cannot start', async () => {
    await serve()
    const env = { ETCD_URLS: etcd.endpoints[0] }
    const again = await holdfast(['publish', 'webhook', '--listen', `127.0.0.1:${port}`], { env })
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('another program has it')])
    const bad = await holdfast(['publish', 'webhook', '--listen', 'nowhere'], { env })
    expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining('"nowhere": not an address')])
    const everything = await holdfast(['publish', 'webhook', '--coredns-prefix='], { env })
    expect([everything.code, everything.stderr]).toEqual([2, expect.stringContaining('every key of etcd')])
  })

  test('takes few connections at a time', async () => {
    await serve()
    const sockets = Array.from({ length: 17 }, () => connect(port, '127.0.0.1'))
    onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
    const [last] = sockets.slice(-1)
    await once(
      last.resume().on('error', () => undefined),
      'close',
    )
    for (const socket of sockets) socket.destroy()
    await until('an answer', () =>
      ask('/healthz').then(
        ({ status }) => status === 200,
        () => false,
      ),
    )
  })
})

describeWithExternalDns('behind ExternalDNS', () => {
  /** One round. */
  async function run(...args: readonly string[]): Promise<string> {
    const address = `--metrics-address=127.0.0.1:${await freePort()}`
    const common = ['--once', '--policy=sync', '--txt-owner-id=me', address]
    const { stderr } = await promisify(execFile)(findExternalDns() ?? '', [...common, ...args], {
      env: { ETCD_URLS: etcd.endpoints[0] },
    })
    return stderr
  }
  const WEBHOOK = () => ['--provider=webhook', `--webhook-provider-url=http://127.0.0.1:${port}`]
  const DONE = 'All records are already up to date'
  const masked = (entries: [string, string][]) =>
    entries.map(([key, value]) => [key.replace(/^\/\w+/u, '').replace(/\/[\da-f]{8}$/u, '/<8 hex>'), value])

  describe('with endpoints of every type', () => {
    /** They are the same whenever it starts, all of them below `domain`. */
    const fake = (domain: string) => [
      ...['--source=fake', `--fqdn-template=${domain}`],
      ...['A', 'AAAA', 'CNAME', 'PTR'].map((type) => `--managed-record-types=${type}`),
    ]

    test('the same keys and values come about as with its own CoreDNS provider', async () => {
      await serve()
      await run(...fake('one.test'), ...WEBHOOK())
      const ours = await stored()
      expect(ours).toHaveLength(8)
      await run(...fake('one.test'), '--provider=coredns', '--coredns-prefix=/other/')
      expect(masked(ours)).toEqual(masked(await stored('/other/')))
      expect(await run(...fake('one.test'), ...WEBHOOK())).toContain(DONE)
      expect(await stored()).toEqual(ours)
    })

    test('it gives the password that is part of its URL', async () => {
      await serve('--password-file', sandbox.write('password', 's3cret'))
      await run(...fake('one.test'), '--provider=webhook', `--webhook-provider-url=http://me:s3cret@127.0.0.1:${port}`)
      expect(await stored()).toHaveLength(8)
    })

    test('what is no longer wanted goes with everything that was written for it', async () => {
      await serve()
      await run(...fake('one.test'), '--provider=coredns')
      await run(...fake('two.test'), ...WEBHOOK())
      const keys = (await stored()).map(([key]) => key)
      expect(keys).toHaveLength(8)
      expect(keys.filter((key) => key.includes('/one/'))).toEqual([])
    })
  })

  describeWithKubernetes('with ingresses', () => {
    let cluster: KubeCluster
    beforeAll(async () => {
      cluster = await KubeCluster.start()
    })
    afterAll(() => cluster?.stop())

    async function ingress(name: string, ...addresses: readonly object[]): Promise<void> {
      const metadata = { name, namespace: 'default' }
      const kind = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress' }
      await cluster.apply(JSON.stringify({ ...kind, metadata, spec: { rules: [{ host: `${name}.example.org` }] } }))
      await cluster.setStatus({ resource: 'ingresses', ...metadata }, { loadBalancer: { ingress: addresses } })
    }

    test('it takes over from its own provider and gives back without a change, and leaves nothing behind', async () => {
      await serve()
      const source = () => ['--source=ingress', `--kubeconfig=${cluster.kubeconfig}`]
      const direct = () => run(...source(), '--provider=coredns')
      const throughUs = () => run(...source(), ...WEBHOOK())
      await ingress('web', { ip: '192.0.2.1' })
      await ingress('alias', { hostname: 'lb.example.net' })
      await throughUs()
      const ours = await stored()
      expect(ours).toHaveLength(4)
      expect(await direct()).toContain(DONE)
      expect(await stored()).toEqual(ours)
      await ingress('web', { ip: '192.0.2.2' })
      await direct()
      const theirs = await stored()
      expect(await throughUs()).toContain(DONE)
      expect(await stored()).toEqual(theirs)
      // Its own provider never comes to rest with addresses of both families.
      await ingress('web', { ip: '192.0.2.2' }, { ip: '192.0.2.3' }, { ip: '2001:db8::1' })
      await throughUs()
      expect(await throughUs()).toContain(DONE)
      await cluster.kubectl(['delete', 'ingress', '--all'])
      await throughUs()
      expect(await stored()).toEqual([])
    })
  })
})
