// Which names reach the forwarder, asked of the real server: `fallthrough` of every kind of source, as a list and for all
// names, and blocks whose sources differ. The upstream answers everything, so an answer of its own shows that it was asked.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TYPE } from '../../src/dns/types.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { address, FaultServer } from '../support/fault-server.ts'
import { Sandbox, zoneText } from '../support/holdfast-process.ts'
import { brief, untilAnswer } from '../support/lookup.ts'
import { ObjectServer } from '../support/object-server.ts'
import { freePort } from '../support/ports.ts'

const FORWARDED = '203.0.113.1'
const sandbox = new Sandbox()
let cluster: EtcdCluster
let upstream: FaultServer
let kubernetes: ObjectServer
let port: number

/** Each kind twice: zone `KIND-all.test` with `true`, zone `KIND-some.test` with a list. */
const KINDS = ['directory', 'file', 'etcd-zones', 'skydns', 'kubernetes', 'kubevirt'] as const
const ORIGINS: Partial<Record<string, string>> = { kubevirt: 'vm.kubevirt' }
const originOf = (kind: string, which: string) => `${ORIGINS[kind] ?? kind}-${which}.test`

function sourceOf(kind: string, which: 'all' | 'some'): string {
  const origin = originOf(kind, which)
  const fields: Record<string, string> = {
    directory: `path: ${which}`,
    file: `path: db.file, zones: [${origin}]`,
    'etcd-zones': `prefix: /${which}/`,
    skydns: `zones: [${origin}]`,
    kubernetes: `zones: [${origin}], from: [service], kubeconfig: kubeconfig`,
    kubevirt: `domain: ${origin.slice('vm.'.length)}, name_server_ip: [192.0.2.53], kubeconfig: kubeconfig`,
  }
  const fallthrough = which === 'all' ? 'true' : `[in.${origin}]`
  return `  - { name: ${kind}-${which}, type: ${kind}, ${fields[kind]}, fallthrough: ${fallthrough} }`
}

beforeAll(async () => {
  cluster = await EtcdCluster.start({ members: 1 })
  upstream = await FaultServer.start(({ query, send }) => send(address(query, FORWARDED)))
  kubernetes = await ObjectServer.start()
  port = await freePort()
  sandbox.write('db.file', zoneText(['here A 192.0.2.1']))
  sandbox.write('db.mixed', zoneText(['here A 192.0.2.1']))
  for (const which of ['all', 'some'])
    sandbox.write(`${which}/db.${originOf('directory', which)}`, zoneText(['here A 192.0.2.1']))
  const cluster1 = `clusters: [{ name: c, cluster: { server: "${kubernetes.url}" } }]`
  const context = 'contexts: [{ name: x, context: { cluster: c, user: u } }]'
  sandbox.write('kubeconfig', `${cluster1}\n${context}\nusers: [{ name: u, user: {} }]\ncurrent-context: x\n`)
  for (const which of ['all', 'some'])
    await cluster.etcdctl('put', `/${which}/${originOf('etcd-zones', which)}`, zoneText(['here A 192.0.2.1']))
  const names = `etcd: { endpoints: [${cluster.endpoints.join(', ')}] }
sources:
${KINDS.flatMap((kind) => [sourceOf(kind, 'all'), sourceOf(kind, 'some')]).join('\n')}
  - { name: strict, type: file, path: db.file, zones: [strict.test] }
  - { name: mixed-file, type: file, path: db.mixed, zones: [mixed.test], fallthrough: true }
  - { name: mixed-skydns, type: skydns, zones: [mixed.test], fallthrough: [in.mixed.test] }
  - { name: pg-file, type: file, path: db.file, zones: [pg.test], fallthrough: true }
  - { name: pg, type: patroni, scope: pg, zone: pg.test }
serve:
  listen: ["127.0.0.1:${port}"]
  forward: ["127.0.0.1:${upstream.port}"]
  ptr: { zones: [192.0.2.0/24] }
  state: state
`
  await sandbox.serve('--config', sandbox.write('names.yaml', names))
  for (const kind of KINDS)
    for (const which of ['all', 'some'] as const)
      await untilAnswer(port, `${originOf(kind, which)}.`, 'NOERROR', TYPE.TXT)
}, 120_000)
afterAll(async () => {
  await sandbox.close()
  await kubernetes.stop()
  await upstream.stop()
  await cluster.stop()
})

describe.each(KINDS)('a name that a source of kind %s does not have', (kind) => {
  test('is forwarded where everything falls through', async () => {
    expect(await brief(port, `none.${originOf(kind, 'all')}.`)).toBe(FORWARDED)
  })

  test('is forwarded below the names of the list, and does not exist elsewhere', async () => {
    expect(await brief(port, `none.in.${originOf(kind, 'some')}.`)).toBe(FORWARDED)
    expect(await brief(port, `none.${originOf(kind, 'some')}.`)).toBe('NXDOMAIN')
  })
})

test('the setting of one source changes nothing for another of the same block', async () => {
  expect(await brief(port, 'none.strict.test.')).toBe('NXDOMAIN')
  expect(await brief(port, 'here.strict.test.')).toBe('192.0.2.1')
})

test('in a zone of two sources a name is forwarded where both let it pass', async () => {
  expect(await brief(port, 'none.mixed.test.')).toBe('NXDOMAIN')
  expect(await brief(port, 'none.in.mixed.test.')).toBe(FORWARDED)
})

test('names of a Patroni cluster are never forwarded', async () => {
  await untilAnswer(port, 'here.pg.test.', '192.0.2.1')
  expect(await brief(port, 'replica.pg.test.')).toBe('NXDOMAIN')
})

test('a search that finds nothing is forwarded by the same rule', async () => {
  expect(await brief(port, '*.x.skydns-all.test.')).toBe(FORWARDED)
  expect(await brief(port, '*.in.skydns-some.test.')).toBe(FORWARDED)
  expect(await brief(port, '*.x.skydns-some.test.')).toBe('NXDOMAIN')
})

test('ANY is never forwarded: every name gets the minimal answer', async () => {
  const before = upstream.received.length
  expect(await brief(port, 'example.org.', TYPE.ANY)).toBe('"RFC8482" ""')
  expect(await brief(port, 'none.file-all.test.', TYPE.ANY)).toBe('"RFC8482" ""')
  expect(await brief(port, 'none.file-some.test.', TYPE.ANY)).toBe('NXDOMAIN')
  expect(upstream.received).toHaveLength(before)
})
