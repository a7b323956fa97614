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
