// Connections that go silent, and tokens that a member no longer knows: nobody says so, and still nothing is lost.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EtcdClient } from '../../src/etcd/client.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { EtcdProxy } from '../support/etcd-proxy.ts'
import { Recorder } from '../support/etcd-recorder.ts'
import { freePort } from '../support/ports.ts'
import { until } from '../support/until.ts'

const bytes = (text: string) => Buffer.from(text)
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test('a network that swallows everything is noticed by an idle watch, which goes to another member', async () => {
  const cluster = await EtcdCluster.start({ members: 3 })
  const proxies = await Promise.all(cluster.endpoints.map((endpoint) => EtcdProxy.start(endpoint)))
  const recorder = new Recorder({ endpoints: proxies.map((proxy) => proxy.endpoint) })
  try {
    await recorder.up()
    const watched = proxies.filter((proxy) => proxy.connections > 0)
    expect(watched).toHaveLength(1)
    watched[0].blackHole = true
    await cluster.etcdctl('put', '/t/a', '1')
    await recorder.has('/t/a', '1')
    expect(proxies.filter((proxy) => proxy.connections > 0)).toHaveLength(2)
  } finally {
    await recorder.stop()
    await Promise.all(proxies.map((proxy) => proxy.stop()))
    await cluster.stop()
  }
})

test('tokens that a member has forgotten are renewed, once for all calls that wait for it', async () => {
  const cluster = await EtcdCluster.start({ members: 1, auth: { rootPassword: 'pw' }, flags: ['--auth-token-ttl=1'] })
  const client = new EtcdClient(cluster.options)
  const proxy = await EtcdProxy.start(cluster.endpoints[0])
  const recorder = new Recorder({ ...cluster.options, endpoints: [proxy.endpoint] })
  const authentications = async () => {
    const page = await (await fetch(`${cluster.endpoints[0]}/metrics`)).text()
    return Number(/^grpc_server_started_total\{grpc_method="Authenticate",.*\} (\d+)$/mu.exec(page)?.[1])
  }
  try {
    await recorder.up()
    await client.put(bytes('/t/a'), bytes('1'))
    const before = await authentications()
    // The token lives for a second after its last use, and etcd looks every second, or later on a busy machine.
    const renewals = await until('a token that was forgotten', async () => {
      await wait(2500)
      await Promise.all(Array.from({ length: 20 }, (_, index) => client.put(bytes(`/t/${index}`), bytes('1'))))
      const renewed = (await authentications()) - before
      return renewed > 0 && renewed
    })
    expect(renewals).toBe(1)
    await recorder.has('/t/19', '1')

    await wait(2500)
    const watch = client.watch({ key: bytes('/t/a'), startRevision: 1n })
    expect((await watch.next()).value).toMatchObject({ kind: 'created' })
    await watch.return(undefined)
    proxy.cut()
    await client.put(bytes('/t/a'), bytes('2'))
    await recorder.has('/t/a', '2')

    await cluster.restart(0)
    await cluster.healthy()
    await client.put(bytes('/t/a'), bytes('3'))
    await recorder.has('/t/a', '3')
    expect(recorder.recorded.filter(({ info }) => info.listed)).toHaveLength(1)
  } finally {
    await recorder.stop()
    client.close()
    await proxy.stop()
    await cluster.stop()
  }
})

test('a closed client leaves no socket behind, whatever the member does', async () => {
  const cluster = await EtcdCluster.start({ members: 1, tls: 'server' })
  const client = new EtcdClient(cluster.options)
  const sockets = () => readdirSync('/proc/self/fd').filter((fd) => isSocket(`/proc/self/fd/${fd}`)).length
  try {
    const before = sockets()
    await client.range({ key: bytes('k') })
    expect(sockets()).toBe(before + 1)
    cluster.pause(0)
    // More than the member's kernel takes for it, so that something is left to be sent.
    const stuck = Array.from({ length: 20 }, () => client.put(bytes('k'), Buffer.alloc(300_000)).catch(() => {}))
    await wait(100)
    client.close()
    await Promise.all(stuck)
    expect(await until('socket closed', () => sockets() === before)).toBe(true)
  } finally {
    cluster.resume(0)
    await cluster.stop()
  }
})

test('a closed client lets the process end, also when members hang; an idle one does, too', async () => {
  const cluster = await EtcdCluster.start({ members: 1 })
  const port = await freePort()
  const mute = createServer(() => {}).listen(port, '127.0.0.1')
  const script = (endpoint: string, requestTimeoutMs: number, afterwards: string) => `
    import { EtcdClient } from '${join(import.meta.dirname, '../../src/etcd/client.ts')}'
    const client = new EtcdClient({ endpoints: ['${endpoint}'], dialTimeoutMs: 60_000, requestTimeoutMs: ${requestTimeoutMs} })
    console.log(await client.range({ key: Buffer.from('k') }).then(() => 'read', (error) => error.code))
    ${afterwards}`
  const run = async (source: string) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
    })
    await once(child, 'close')
    return output.trim()
  }
  try {
    const outputs = await Promise.all([
      run(script(`http://127.0.0.1:${port}`, 200, 'client.close()')),
      run(script(`https://127.0.0.1:${port}`, 200, 'client.close()')),
      run(script(cluster.endpoints[0], 60_000, '')),
    ])
    expect(outputs).toEqual(['EtcdUnreachable', 'EtcdUnreachable', 'read'])
  } finally {
    mute.close()
    await cluster.stop()
  }
})

function isSocket(path: string): boolean {
  try {
    return readlinkSync(path).startsWith('socket:')
  } catch {
    return false
  }
}
