import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EtcdCluster } from '../../../test/support/etcd-cluster.ts'
import { until } from '../../../test/support/until.ts'
import { Log } from '../../lib/log.ts'
import { publishZonefiles } from './zonefiles.ts'

let etcd: EtcdCluster
const directory = mkdtempSync(join(tmpdir(), 'holdfast-zonefiles-'))
beforeAll(async () => {
  etcd = await EtcdCluster.start({ members: 1 })
})
afterAll(async () => {
  await etcd.stop()
  rmSync(directory, { recursive: true })
})

test('a file that is to be kept stays, before etcd has it and after', async () => {
  writeFileSync(join(directory, 'index.conf'), 'default')
  writeFileSync(join(directory, 'old.conf'), 'old')
  await etcd.etcdctl('put', '/logs/inputs.conf', 'inputs')
  const stop = new AbortController()
  const log = new Log({ write: () => {} } as never)
  const index = () => readFileSync(join(directory, 'index.conf'), 'utf8')
  const files = () => readdirSync(directory).toSorted().join(' ')
  const publishing = publishZonefiles(
    {
      ...{ etcd: { endpoints: etcd.endpoints }, prefix: '/logs/', directory },
      ...{ fileMode: 0o600, directoryMode: 0o700, validate: false, keep: ['index.conf'] },
    },
    { log, signal: stop.signal },
  )
  await until('the first files', () => files() === 'index.conf inputs.conf')
  expect(index()).toBe('default')
  await etcd.etcdctl('put', '/logs/index.conf', 'of etcd')
  await until('the file of etcd', () => index() === 'of etcd')
  await etcd.etcdctl('del', '/logs/', '--prefix')
  await until('what is left', () => files() === 'index.conf')
  expect(index()).toBe('of etcd')
  stop.abort()
  await publishing
})

test('without a prefix, keys that are domains are files, and paths are left alone without a word', async () => {
  const zones = join(directory, 'zones')
  const soa = (name: string) => `$ORIGIN ${name}.\n@ 60 SOA a.test. b.test. 1 60 60 60 60\n@ 60 NS a.test.\n`
  await etcd.etcdctl('put', 'example.org', soa('example.org'))
  await etcd.etcdctl('put', '/patroni/pg/leader', 'a')
  await etcd.etcdctl('put', 'not a domain', 'b')
  const lines: string[] = []
  const log = new Log({ write: (line: string) => void lines.push(line) } as never)
  await publishZonefiles(
    {
      ...{ etcd: { endpoints: etcd.endpoints }, prefix: '', directory: zones },
      ...{ fileMode: 0o600, directoryMode: 0o700, validate: true },
    },
    { log, signal: new AbortController().signal, once: true },
  )
  expect(readdirSync(zones)).toEqual(['example.org'])
  expect(lines.join('')).toContain('Cannot publish "not a domain"')
  expect(lines.join('')).not.toContain('patroni')
})
