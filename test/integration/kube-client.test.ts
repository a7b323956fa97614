// The client against a real API server: single objects, watches, credentials that are renewed, trust, and what is said when
// something is wrong.

import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { parse } from 'yaml'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { KubeClient } from '../../src/kube/client.ts'
import { type KubeOptions, openConnection } from '../../src/kube/connection.ts'
import { describeWithKubernetes } from '../support/describe-with-kubernetes.ts'
import { KubeCluster } from '../support/kube-cluster.ts'
import { CONFIG_MAPS } from '../support/kube-follow-lab.ts'
import { KubeProxy } from '../support/kube-proxy.ts'
import { loopbackNetwork } from '../support/loopback.ts'
import { until } from '../support/until.ts'

const HOST = `${loopbackNetwork()}.0.1`
const selection = { resource: CONFIG_MAPS, namespace: 'default' }
const map = (name: string, data: Readonly<Record<string, string>> = {}) => ({
  metadata: { name, namespace: 'default' },
  data,
})

interface Kubeconfig {
  readonly clusters: { cluster: object }[]
  readonly users: { user: Readonly<Record<string, string>> }[]
}

describeWithKubernetes('a client of an API server', () => {
  let cluster: KubeCluster
  const open: (() => Promise<void> | void)[] = []
  let configs = 0

  beforeAll(async () => {
    cluster = await KubeCluster.start({ host: HOST })
  })
  afterAll(() => cluster.stop())
  afterEach(async () => {
    for (const close of open.splice(0)) await close()
  })

  function clientWith(options: KubeOptions): KubeClient {
    const client = new KubeClient(openConnection(options, {}))
    open.push(() => client.close())
    return client
  }

  const admin = () => clientWith({ kubeconfig: cluster.kubeconfig })

  async function proxied(): Promise<KubeProxy> {
    const connection = openConnection({ kubeconfig: cluster.kubeconfig }, {})
    const proxy = await KubeProxy.start(HOST, await connection.access())
    open.push(
      () => proxy.stop(),
      () => connection.close(),
    )
    return proxy
  }

  /** The administrator's file with other entries. */
  function kubeconfig({ cluster: place = {}, user }: { cluster?: object; user?: object }): string {
    const config = parse(readFileSync(cluster.kubeconfig, 'utf8')) as Kubeconfig
    Object.assign(config.clusters[0].cluster, place)
    if (user !== undefined) Object.assign(config.users[0], { user })
    const file = join(cluster.directory, `own${configs++}.kubeconfig`)
    writeFileSync(file, JSON.stringify(config))
    return file
  }

  async function token(name: string): Promise<string> {
    const file = await cluster.serviceAccount('default', name, [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['list'] },
    ])
    return (parse(readFileSync(file, 'utf8')) as Kubeconfig).users[0].user.token
  }

  test('objects are made, read, and changed by their version', async () => {
    const client = admin()
    const made = await client.create(CONFIG_MAPS, map('one', { a: '1' }))
    expect(await client.get(CONFIG_MAPS, made.metadata)).toEqual(made)
    const changed = await client.replace(CONFIG_MAPS, { ...made, ...{ data: { a: '2' } } })
    await expect(client.replace(CONFIG_MAPS, made)).rejects.toMatchObject({ code: 'KubeConflict' })
    await expect(client.create(CONFIG_MAPS, map('one'))).rejects.toMatchObject({ code: 'KubeConflict' })
    expect(changed.metadata.resourceVersion).not.toBe(made.metadata.resourceVersion)
    expect(await client.get(CONFIG_MAPS, { namespace: 'default', name: 'none' })).toBeUndefined()
    await expect(client.create(CONFIG_MAPS, { metadata: { name: 'a', namespace: 'none' } })).rejects.toThrow(
      'says "namespaces "none" not found" (404)',
    )
  })

  test('a selector chooses, and a watch goes on where the list ended', async () => {
    const client = admin()
    const labelled = (name: string) => ({ metadata: { ...map(name).metadata, labels: { app: 'x' } } })
    await client.create(CONFIG_MAPS, labelled('two'))
    const chosen = { ...selection, labelSelector: 'app=x' }
    const { items, resourceVersion } = await client.list(chosen)
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['two'])
    const large = 'x'.repeat(900_000)
    await client.replace(CONFIG_MAPS, { ...labelled('two'), ...{ data: { large } } })
    await client.replace(CONFIG_MAPS, map('two'))
    const seen: string[] = []
    for await (const events of client.watch(chosen, { resourceVersion, timeoutSeconds: 60, silenceMs: 60_000 })) {
      seen.push(...events.map(({ type }) => type))
      if (seen.length === 2) break
    }
    expect(seen).toEqual(['MODIFIED', 'DELETED'])
  })

  test('a watch ends when it is aborted, when the server ends it, and when nothing is heard of it', async () => {
    const proxy = await proxied()
    const client = clientWith({ server: proxy.server })
    const { resourceVersion } = await client.list(selection)
    const watch = async (timeoutSeconds: number, silenceMs: number, signal?: AbortSignal) => {
      for await (const events of client.watch(selection, { resourceVersion, timeoutSeconds, silenceMs }, signal))
        if (events.length > 0 && events.every(({ type }) => type !== 'BOOKMARK')) throw new Error('there is an event')
    }
    await watch(1, 60_000)
    proxy.swallowing = true
    await expect(watch(60, 200)).rejects.toMatchObject({
      code: 'KubeUnreachable',
      message: `Cannot watch configmaps: the API server at "${proxy.server}" does not answer; see whether it runs, and whether the address is right`,
    })
    await expect(watch(60, 60_000, AbortSignal.timeout(100))).rejects.toMatchObject({ name: 'TimeoutError' })
  })

  test('a busy server is waited for as it asks', async () => {
    const proxy = await proxied()
    let refusals = 0
    proxy.onRequest = () => (refusals++ < 2 ? { status: 429, headers: { 'retry-after': '0' } } : 'pass')
    const { items } = await clientWith({ server: proxy.server }).list(selection, { limit: 1 })
    expect(items).toHaveLength(1)
    expect(refusals).toBe(3)
  })

  test('a connection that the server has closed in the meantime costs nothing', async () => {
    const proxy = await proxied()
    const client = clientWith({ server: proxy.server })
    for (let count = 0; count < 20; count++) {
      await client.list(selection, { limit: 1 })
      proxy.cut()
    }
    expect(proxy.requests.length).toBeGreaterThanOrEqual(20)
  })

  describe('credentials', () => {
    test('a token file that is renewed', async () => {
      const tokenFile = join(cluster.directory, 'token')
      writeFileSync(tokenFile, 'outdated')
      const file = kubeconfig({ user: { tokenFile } })
      const client = clientWith({ kubeconfig: file })
      await expect(client.list(selection)).rejects.toMatchObject({
        code: 'KubeUnauthorized',
        message: `Cannot list configmaps: the API server at "${cluster.server}" does not accept the credentials of context "test" of "${file}"; expected valid ones`,
      })
      writeFileSync(tokenFile, `${await token('renewed')}\n`)
      expect((await client.list(selection)).resourceVersion).toMatch(/^\d+$/u)
    })

    test('a program whose first token is refused is asked once more', async () => {
      const flag = join(cluster.directory, 'asked')
      const [refused, valid] = ['outdated', await token('program')].map((each) =>
        JSON.stringify({ status: { token: each } }),
      )
      const script = `test -e ${flag} && echo '${valid}' || { touch ${flag}; echo '${refused}'; }`
      const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', args: ['-c', script] }
      const client = clientWith({ kubeconfig: kubeconfig({ user: { exec } }) })
      expect((await client.list(selection)).resourceVersion).toMatch(/^\d+$/u)
    })

    test('a program that gives a certificate', async () => {
      const config = parse(readFileSync(cluster.kubeconfig, 'utf8')) as Kubeconfig
      const [cert, key] = ['client-certificate', 'client-key'].map((name) =>
        readFileSync(config.users[0].user[name], 'utf8'),
      )
      const given = join(cluster.directory, 'given')
      writeFileSync(given, JSON.stringify({ status: { clientCertificateData: cert, clientKeyData: key } }))
      const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'cat', args: [given] }
      const client = clientWith({ kubeconfig: kubeconfig({ user: { exec } }) })
      expect((await client.list(selection)).resourceVersion).toMatch(/^\d+$/u)
    })

    test('a permission that is missing in one namespace', async () => {
      const client = clientWith({ kubeconfig: kubeconfig({ user: { token: await token('reader') } }) })
      await expect(client.create(CONFIG_MAPS, map('three'))).rejects.toMatchObject({
        code: 'KubeForbidden',
        hint: 'Add to a Role in namespace "default" that is bound to "system:serviceaccount:default:reader": { apiGroups: [""], resources: ["configmaps"], verbs: ["create"] }',
      })
    })

    test('a key that is none', async () => {
      const pem = Buffer.from('nonsense').toString('base64')
      const user = { 'client-certificate-data': pem, 'client-key-data': pem }
      await expect(clientWith({ kubeconfig: kubeconfig({ user }) }).list(selection)).rejects.toMatchObject({
        code: 'KubeCredentials',
      })
    })
  })

  describe('who the server is', () => {
    const asked = (place: object) => clientWith({ kubeconfig: kubeconfig({ cluster: place }) }).list(selection)
    const nobody = { 'certificate-authority': undefined }

    test('an authority that is not trusted, and taking it all the same', async () => {
      await expect(asked(nobody)).rejects.toMatchObject({ code: 'KubeUntrusted' })
      expect(await asked({ ...nobody, 'insecure-skip-tls-verify': true })).toHaveProperty('resourceVersion')
    })

    test('another name', async () => {
      await expect(asked({ 'tls-server-name': 'elsewhere' })).rejects.toThrow(
        `is not for that host but for IP Address:${HOST}; expected one of these as server or tls-server-name`,
      )
    })

    test('nobody, and somebody who speaks otherwise', async () => {
      await expect(asked({ server: `https://${HOST}:1` })).rejects.toThrow(
        `Cannot list configmaps: the API server at "https://${HOST}:1" refuses connections; see whether it runs, and whether the address is right`,
      )
      await expect(asked({ server: 'https://no-such-host.invalid' })).rejects.toThrow(
        'has a host name that is not known',
      )
      const proxy = await proxied()
      await expect(asked({ server: proxy.server.replace('http:', 'https:') })).rejects.toThrow('does not speak TLS')
      await expect(asked({ server: cluster.server.replace('https:', 'http:') })).rejects.toThrow(
        'Client sent an HTTP request to an HTTPS server',
      )
    })

    test('behind a proxy', async () => {
      const tunnels: string[] = []
      const tunnel = createServer().listen(0, HOST)
      open.push(() => void tunnel.close())
      tunnel.on('connect', ({ url = '' }, socket: Socket) => {
        tunnels.push(url)
        const { hostname, port } = new URL(`tcp://${url}`)
        const onward = connect(Number(port), hostname, () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
        onward.pipe(socket).pipe(onward)
        for (const end of [onward, socket]) end.on('error', () => end.destroy())
      })
      await once(tunnel, 'listening')
      const { port } = tunnel.address() as AddressInfo
      expect(await asked({ 'proxy-url': `http://${HOST}:${port}` })).toHaveProperty('resourceVersion')
      expect(tunnels).toEqual([new URL(cluster.server).host])
    })
  })

  test('a server that stands still is noticed', async () => {
    const client = admin()
    await client.list(selection, { limit: 1 })
    cluster.pause()
    try {
      await expect(client.request('GET', '/version', { timeoutMs: 300 })).rejects.toThrow('does not answer')
    } finally {
      cluster.resume()
    }
    expect(await until('answer', () => client.request('GET', '/version'))).toMatchObject({ minor: '36' })
  })
})
