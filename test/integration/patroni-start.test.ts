// What a leader of Patroni does with the leader key when its lease has ended, as after a pause that was longer than its
// TTL: with Debian's Patroni, started as we start it, and a real etcd.

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { program } from '../../src/clusters/postgres/programs.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'

/** Arguments: our file, etcd, and what happens to the member "old" after it has become the leader. */
const DRIVER = `
import importlib.util, sys, etcd
spec = importlib.util.spec_from_file_location('start', sys.argv[1])
start = importlib.util.module_from_spec(spec)
spec.loader.exec_module(start)
start.fix((3, 0, 2))
from patroni.dcs import get_dcs

def member(name):
    return get_dcs({'etcd3': {'host': sys.argv[2]}, 'scope': 'pg', 'namespace': '/patroni/', 'name': name,
                    'ttl': 30, 'loop_wait': 10, 'retry_timeout': 10})

old = member('old')
if sys.argv[3] == 'silent':
    def silent(*args):
        raise etcd.EtcdConnectionFailed('no answer')
    old._client._token = 'of a cluster that was lost'
    old._client.api_execute = silent
    try:
        old._client.prefix('/patroni/')
    except etcd.EtcdConnectionFailed:
        print(old._client._token)
    sys.exit()
assert old.attempt_to_acquire_leader()
seen = old.get_cluster()
what = sys.argv[3]
if what == 'new ttl':
    old.set_ttl(40)
else:
    old._client.call_rpc('/lease/revoke', {'ID': old._lease})
if what == 'replaced':
    assert member('new').attempt_to_acquire_leader()
# What it has seen before it stood still.
old._cluster = seen
print(bool(old._update_leader()), old._client.prefix('/patroni/pg/leader')['kvs'][0]['value'])
`

let etcd: EtcdCluster
beforeAll(async () => {
  etcd = await EtcdCluster.start({ members: 1 })
  writeFileSync(join(etcd.directory, 'start-patroni.py'), program('start-patroni'))
  writeFileSync(join(etcd.directory, 'driver.py'), DRIVER)
})
afterAll(() => etcd.stop())
beforeEach(() => etcd.etcdctl('del', '--prefix', '/patroni/'))

async function run(what: string): Promise<string> {
  const path = (name: string) => join(etcd.directory, name)
  const endpoint = etcd.endpoints[0].replace(/^https?:\/\//u, '')
  const { stdout } = await promisify(execFile)('/usr/bin/python3', [
    ...[path('driver.py'), path('start-patroni.py'), endpoint, what],
  ])
  return stdout.trim()
}

/** Whether it goes on leading, and whose name is in the leader key then. */
async function updateAfter(what: 'replaced' | 'expired' | 'new ttl'): Promise<{ leads: string; key: string }> {
  const [leads, key] = (await run(what)).split(' ')
  return { leads, key: Buffer.from(key, 'base64').toString() }
}

test('a token that etcd does not answer to is not used again', async () => {
  expect(await run('silent')).toBe('None')
})

test('a leader that was replaced meanwhile does not take the key back', async () => {
  expect(await updateAfter('replaced')).toEqual({ leads: 'False', key: 'new' })
})

test('a leader whose key is gone, and nobody has it, goes on leading', async () => {
  expect(await updateAfter('expired')).toEqual({ leads: 'True', key: 'old' })
})

test('a leader with a new TTL writes its own key anew', async () => {
  expect(await updateAfter('new ttl')).toEqual({ leads: 'True', key: 'old' })
})
