// What a user reads when the cluster cannot be used: one line with the endpoint or key, and what to do.

import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EtcdClient } from '../../src/etcd/client.ts'
import type { EtcdOptions } from '../../src/etcd/options.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { freePort } from '../support/ports.ts'

let certified: EtcdCluster
let guarded: EtcdCluster
let plain: EtcdCluster
/** Takes connections and says nothing. */
let mute: Server
let mutePort: number

beforeAll(async () => {
  ;[certified, guarded, plain, mutePort] = await Promise.all([
    EtcdCluster.start({ members: 1, tls: 'client' }),
    EtcdCluster.start({ members: 1, tls: 'server', auth: { rootPassword: 'pw' } }),
    EtcdCluster.start({ members: 1 }),
    freePort(),
  ])
  mute = createServer((socket) => socket.on('error', () => {})).listen(mutePort, '127.0.0.1')
})
afterAll(async () => {
  mute.close()
  await Promise.all([certified, guarded, plain].map((cluster) => cluster.stop()))
})

test('certificates that cannot be trusted or used', async () => {
  const { options } = certified
  const [endpoint] = certified.endpoints
  const wrongCa = { tls: { ...options.tls, caFile: certified.wrongCaFile ?? '' } }
  expect(await failure({ ...options, ...wrongCa })).toBe(
    `EtcdUntrusted: Cannot read "/zones/": the certificate of etcd at "${endpoint}" is signed by an authority that is not trusted (not by one in "${certified.wrongCaFile}"); give the CA file of that cluster`,
  )
  expect(await failure({ ...options, tls: {} })).toContain('(no CA file is given)')
  expect(await failure({ ...options, tls: { caFile: certified.caFile ?? '' } })).toBe(
    `EtcdUntrusted: Cannot read "/zones/": etcd at "${endpoint}" wants a client certificate; give one and its key`,
  )
  const foreign = await guarded.clientCertificate('root')
  expect(await failure({ ...options, tls: { ...options.tls, ...foreign } })).toBe(
    `EtcdUntrusted: Cannot read "/zones/": etcd at "${endpoint}" refuses the client certificate "${foreign.certFile}"; give one that its authority has signed`,
  )
  expect(await failure({ ...options, tls: { ...options.tls, keyFile: foreign.keyFile } })).toContain(
    'key values mismatch',
  )
  expect(await failure({ ...options, tls: { ...options.tls, serverName: 'other.example' } })).toBe(
    `EtcdUntrusted: Cannot read "/zones/": the certificate of etcd at "${endpoint}" is not for "other.example" but for IP Address:127.0.0.1, DNS:localhost; take one of these as endpoint or as server name`,
  )
  expect(await failure({ ...options, tls: { ...options.tls, caFile: '/nowhere/ca.crt' } })).toBe(
    'FileUnreadable: Cannot read "/nowhere/ca.crt": no such file or directory',
  )
})

test('certificates that are fine', async () => {
  const { options } = certified
  const { port } = new URL(certified.endpoints[0])
  expect(await failure({ ...options, endpoints: [`localhost:${port}`] })).toBe('')
  expect(await failure({ ...options, tls: { ...options.tls, serverName: 'localhost' } })).toBe('')
  expect(await failure({ ...guarded.options, tls: { insecure: true } })).toBe('')
})

test('users that may not', async () => {
  const { options } = guarded
  const [endpoint] = guarded.endpoints
  expect(await failure({ ...options, password: 'wrong' })).toBe(
    `EtcdWrongPassword: Cannot log in to etcd at "${endpoint}" as "root": the user or the password is wrong; give others`,
  )
  expect(await failure({ endpoints: options.endpoints, tls: options.tls ?? {} })).toBe(
    `EtcdWrongPassword: Cannot read "/zones/": etcd at "${endpoint}" wants to know the user; give a user name and a password`,
  )
  await guarded.etcdctl('user', 'add', 'dns:secret')
  expect(await failure({ ...options, username: 'dns', password: 'secret' })).toBe(
    'EtcdForbidden: Cannot read "/zones/": user "dns" has no permission for that in etcd; give the user a role that has',
  )
})

test('endpoints where nobody is, or somebody else', async () => {
  const nobody = `http://127.0.0.1:${await freePort()}`
  const advice = 'see whether it runs, and whether the endpoints are right'
  expect(await failure({ endpoints: [nobody] })).toBe(
    `EtcdUnreachable: Cannot read "/zones/": etcd at "${nobody}" refuses connections; ${advice}`,
  )
  expect(await failure({ endpoints: ['http://etcd.invalid:2379'] })).toContain('has a host name that is not known')
  const unsaid = certified.endpoints[0].replace('https', 'http')
  expect(await failure({ endpoints: [unsaid] })).toBe(
    `EtcdUnreachable: Cannot read "/zones/": etcd at "${unsaid}" closes the connection without a greeting (with TLS it would be https://); ${advice}`,
  )
  const oversaid = plain.endpoints[0].replace('http', 'https')
  expect(await failure({ endpoints: [oversaid], tls: { caFile: certified.caFile ?? '' } })).toBe(
    `EtcdUnreachable: Cannot read "/zones/": etcd at "${oversaid}" closes the connection instead of speaking TLS (without TLS it would be http://); ${advice}`,
  )
})

test('endpoints that take connections and say nothing, with TLS and without, several at once', async () => {
  const urls = [`http://127.0.0.1:${mutePort}`, `https://127.0.0.1:${mutePort}`]
  const told = await failure({ endpoints: urls, dialTimeoutMs: 300 })
  expect(told).toContain('does not answer')
  for (const url of urls) expect(told).toContain(`"${url}"`)
  // Nor does it matter how much longer the connection might have been waited for.
  expect(await failure({ endpoints: urls, dialTimeoutMs: 60_000, requestTimeoutMs: 300 })).toContain('does not answer')
})

test('requests that etcd refuses', async () => {
  const client = new EtcdClient(plain.options)
  await expect(client.put(Buffer.from('big'), Buffer.alloc(3_000_000))).rejects.toMatchObject({
    code: 'EtcdFailed',
    message: expect.stringContaining('Cannot write "big": etcd says "'),
  })
  await expect(client.range({ key: Buffer.from('k'), revision: 1_000_000n })).rejects.toThrow(
    'Cannot read "k": etcd says "mvcc: required revision is a future revision"',
  )
  await expect(client.leaseRevoke(77n)).rejects.toThrow(
    'Cannot revoke lease "4d": etcd says "requested lease not found"',
  )
  client.close()
})

async function failure(options: EtcdOptions): Promise<string> {
  const client = new EtcdClient(options)
  try {
    await client.range({ key: Buffer.from('/zones/') })
    return ''
  } catch (error) {
    const { code, message } = error as Error & { code: string }
    expect(message).not.toContain('\n')
    return `${code}: ${message}`
  } finally {
    client.close()
  }
}
