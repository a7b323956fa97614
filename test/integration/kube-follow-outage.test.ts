// Following objects while the API server is restarted, forgets its history, or comes back with an older one.

import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeWithKubernetes } from '../support/describe-with-kubernetes.ts'
import { KubeCluster } from '../support/kube-cluster.ts'
import { KubeFollowLab } from '../support/kube-follow-lab.ts'
import type { Told } from '../support/kube-follower.ts'
import { until } from '../support/until.ts'

const PATIENCE_MS = 90_000

describeWithKubernetes('following objects through outages', () => {
  let cluster: KubeCluster
  let lab: KubeFollowLab
  let labs = 0

  beforeAll(async () => {
    cluster = await KubeCluster.start()
  })
  afterAll(() => cluster.stop())
  beforeEach(async () => {
    lab = await KubeFollowLab.start(cluster, `t${labs++}`)
  })
  afterEach(() => lab.stop())

  test('a restart of the API server costs a word about it, and nothing else', async () => {
    await lab.put('before')
    const follower = await lab.follow()
    await cluster.kill()
    const { error, missing } = await lab.down()
    expect(error).toMatchObject({ code: 'KubeUnreachable', retryable: true })
    expect(missing).toBe(false)
    await cluster.restart()
    await lab.put('after')
    await follower.has(lab.key('after'), PATIENCE_MS)
    expect(follower.words).toEqual([`+${lab.key('before')}`, `+${lab.key('after')}`])
    expect(follower.states.map(({ up }) => up)).toEqual([true, false, true])
    expect(follower.lists.map(({ info }) => info.rewound)).toEqual([false, false])
  })

  test('what the server has forgotten is found out by a list, and only the difference is told', async () => {
    for (const name of ['stays', 'goes', 'changes']) await lab.put(name)
    const follower = await lab.follow()
    lab.proxy.swallowing = true
    await lab.remove('goes')
    await lab.change('changes', { a: 'b' })
    await lab.put('comes')
    lab.proxy.refusing = true
    lab.proxy.cut()
    await compact(cluster)
    // The server's own memory reaches farther back than that of its etcd.
    await cluster.restart()
    lab.proxy.swallowing = false
    lab.proxy.refusing = false
    await follower.has(lab.key('comes'), PATIENCE_MS)
    const [, second] = follower.lists
    expect(summary(second)).toEqual([`+${lab.key('changes')}`, `+${lab.key('comes')}`, `-${lab.key('goes')}`])
    expect(second.info).toMatchObject({ listed: true, count: 3, rewound: false })
    expect(follower.objects.has(lab.key('stays'))).toBe(true)
  })

  test('a cluster restored from an older backup is noticed, and all of it is told', async () => {
    const data = join(cluster.etcd.directory, 'member0')
    const backup = join(cluster.directory, 'backup')
    await lab.put('old')
    await cluster.etcd.kill(0)
    cpSync(data, backup, { recursive: true })
    await cluster.etcd.restart(0)
    const follower = await lab.follow()
    await until('write', () => lab.put('young').catch(() => undefined), PATIENCE_MS)
    // More versions than a server gives out while it starts.
    for (let count = 0; count < 300; count++) await lab.change('young', { count: String(count) })
    await follower.has(lab.key('young'))
    lab.proxy.refusing = true
    lab.proxy.cut()
    await Promise.all([cluster.kill(), cluster.etcd.kill(0)])
    rmSync(data, { recursive: true })
    cpSync(backup, data, { recursive: true })
    await cluster.etcd.restart(0)
    await cluster.restart()
    lab.proxy.refusing = false
    await follower.lacks(lab.key('young'), PATIENCE_MS)
    const last = follower.lists.at(-1)
    expect(last?.info).toMatchObject({ listed: true, rewound: true, count: 1 })
    expect(last === undefined ? [] : summary(last)).toEqual([`+${lab.key('old')}`, `-${lab.key('young')}`])
  })
})

function summary({ changes }: Told): string[] {
  return changes.map(({ key, object }) => (object === undefined ? '-' : '+') + key).toSorted()
}

async function compact(cluster: KubeCluster): Promise<void> {
  const answer = await cluster.etcd.etcdctl('get', '/', '--limit=1', '-w', 'json')
  const { header } = JSON.parse(answer) as { header: { revision: number } }
  await cluster.etcd.etcdctl('compact', String(header.revision))
}
