// Following objects of a real API server while connections are cut, it is restarted, history is lost or rewound, and
// permissions and definitions are missing.

import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { KubeClient } from '../../src/kube/client.ts'
import { openConnection } from '../../src/kube/connection.ts'
import type { FollowState } from '../../src/kube/follow.ts'
import type { Resource } from '../../src/kube/resource.ts'
import { KubeCluster } from '../support/kube-cluster.ts'
import { KubeFollower } from '../support/kube-follower.ts'
import { KubeProxy } from '../support/kube-proxy.ts'
import { describeWithKubernetes } from '../support/describe-with-kubernetes.ts'
import { until } from '../support/until.ts'

const HOST = '127.111.0.1'
const CONFIG_MAPS: Resource = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true }
const INSTANCES: Resource = {
  group: 'kubevirt.io',
  version: 'v1',
  plural: 'virtualmachineinstances',
  kind: 'VirtualMachineInstance',
  namespaced: true,
}

describeWithKubernetes('following objects of an API server', () => {
  let cluster: KubeCluster
  let proxy: KubeProxy
  let client: KubeClient
  let follower: KubeFollower | undefined
  let namespace: string
  let namespaces = 0
  const closing: (() => void)[] = []

  beforeAll(async () => {
    cluster = await KubeCluster.start({ host: HOST })
  }, 60_000)
  afterAll(() => cluster.stop())
  beforeEach(async () => {
    namespace = `t${namespaces++}`
    await cluster.request('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
    const connection = openConnection({ kubeconfig: cluster.kubeconfig }, {})
    proxy = await KubeProxy.start(HOST, await connection.access())
    client = new KubeClient(openConnection({ server: proxy.server }, {}))
    closing.push(
      () => connection.close(),
      () => client.close(),
    )
  })
  afterEach(async () => {
    await follower?.stop()
    await proxy.stop()
    for (const close of closing.splice(0)) close()
  })

  const selection = () => ({ resource: CONFIG_MAPS, namespace })
  const path = (name = '') => `/api/v1/namespaces/${namespace}/configmaps${name === '' ? '' : `/${name}`}`
  const put = (name: string) => cluster.request('POST', path(), { metadata: { name } })
  const change = (name: string, data: object) => cluster.request('PATCH', path(name), { data })
  const remove = (name: string) => cluster.request('DELETE', path(name))
  const key = (name: string) => `${namespace}/${name}`
  const begin = async (options = {}) => {
    follower = new KubeFollower(client, selection(), options)
    await follower.up()
    return follower
  }

  test('2,500 objects come in pages and in one piece, and then every change as it happens', async () => {
    let made = 0
    const makeSome = async () => {
      while (made < 2500) await put(`c${made++}`)
    }
    await Promise.all(Array.from({ length: 16 }, makeSome))
    const { told } = await begin()
    expect(told).toHaveLength(1)
    expect(told[0].changes).toHaveLength(2500)
    expect(told[0].info).toMatchObject({ listed: true, count: 2500, rewound: false })
    expect(proxy.lists).toHaveLength(5)
    await put('new')
    await follower?.has(key('new'))
    await change('new', { a: 'b' })
    await until('change', () => (follower?.objects.get(key('new')) as { data?: object } | undefined)?.data)
    await remove('c7')
    await follower?.lacks(key('c7'))
    expect(follower?.words.slice(2500)).toEqual([`+${key('new')}`, `+${key('new')}`, `-${key('c7')}`])
    expect(told.at(-1)?.info).toMatchObject({ listed: false, count: 2500 })
  })

  test('a watch that is cut again and again loses nothing, tells nothing twice, and lists only once', async () => {
    await put('first')
    const { words, states } = await begin()
    const cutting = setInterval(() => proxy.cut(), 60)
    const wanted = words.slice()
    for (let i = 0; i < 60; i++) {
      await put(`c${i}`)
      wanted.push(`+${key(`c${i}`)}`)
    }
    clearInterval(cutting)
    await follower?.has(key('c59'))
    expect(follower?.words).toEqual(wanted)
    expect(follower?.lists).toHaveLength(1)
    expect(proxy.watches.length).toBeGreaterThan(2)
    expect(states.every(({ up }) => up)).toBe(true)
  })

  test('what the server does not remember any more is found out by a list, and only the difference is told', async () => {
    await put('stays')
    await put('goes')
    await put('changes')
    await begin()
    proxy.swallowing = true
    await remove('goes')
    await change('changes', { a: 'b' })
    await put('comes')
    proxy.refusing = true
    proxy.cut()
    await compact(cluster)
    // The server's cache remembers longer than its etcd.
    await cluster.restart()
    proxy.swallowing = false
    proxy.refusing = false
    await follower?.has(key('comes'))
    const [, second] = follower?.lists ?? []
    expect(second.changes.map((one) => [one.key, one.object !== undefined]).toSorted()).toEqual([
      [key('changes'), true],
      [key('comes'), true],
      [key('goes'), false],
    ])
    expect(second.info).toMatchObject({ listed: true, count: 3, rewound: false })
    expect(follower?.objects.has(key('stays'))).toBe(true)
  })

  test('a list of which a page is missing deletes nothing', async () => {
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map(put))
    await begin({ pageSize: 2 })
    const before = follower?.told.length
    let cuts = 0
    proxy.onRequest = ({ searchParams }) => {
      if (searchParams.get('watch') === 'true') return cuts < 3 ? gone() : 'pass'
      if (!searchParams.has('continue') || cuts >= 3) return 'pass'
      return cuts++ === 1 ? 'cut' : 'half'
    }
    proxy.cut()
    await until('lists cut short', () => cuts === 3)
    expect(follower?.told).toHaveLength(before ?? 0)
    await put('f')
    await follower?.has(key('f'))
    expect(follower?.words.slice(5)).toEqual([`+${key('f')}`])
  })

  test('an expired continue token begins the list anew', async () => {
    await Promise.all(['a', 'b', 'c'].map(put))
    let expired = 0
    proxy.onRequest = ({ searchParams }) => (searchParams.has('continue') && expired++ === 0 ? gone() : 'pass')
    await begin({ pageSize: 2 })
    expect(expired).toBeGreaterThan(1)
    expect(follower?.words.toSorted()).toEqual(['a', 'b', 'c'].map((name) => `+${key(name)}`))
    expect(follower?.states).toEqual([{ up: true }])
  })

  test('what answers in place of the API server is no empty list', async () => {
    await put('a')
    await begin()
    proxy.onRequest = () => ({ status: 200, body: '<html>Please log in</html>' })
    proxy.cut()
    const { error } = await down()
    expect(error.message).toBe('Cannot list configmaps: the answer is no list')
    proxy.onRequest = () => 'pass'
    await put('b')
    await follower?.has(key('b'))
    expect(follower?.words).toEqual([`+${key('a')}`, `+${key('b')}`])
  })

  test('a restart of the API server goes unnoticed but for a word about it', async () => {
    await put('before')
    await begin()
    await cluster.terminate()
    const { error, missing } = await down()
    expect(error).toMatchObject({ code: 'KubeUnreachable', retryable: true })
    expect(missing).toBe(false)
    await cluster.restart()
    await put('after')
    await follower?.has(key('after'), 20_000)
    expect(follower?.words).toEqual([`+${key('before')}`, `+${key('after')}`])
    expect(follower?.states.map(({ up }) => up)).toEqual([true, false, true])
  })

  test('of what was known before a start only the difference is told', async () => {
    await put('same')
    await put('changed')
    const { metadata } = await cluster.request<{ metadata: { resourceVersion: string } }>('GET', path('same'))
    const known = new Map([
      [key('same'), metadata.resourceVersion],
      [key('changed'), '1'],
      [key('gone'), '2'],
    ])
    await begin({ known, keep: ({ metadata: { name } }: { metadata: { name: string } }) => ({ metadata: { name } }) })
    expect(follower?.words.toSorted()).toEqual([`+${key('changed')}`, `-${key('gone')}`])
    expect(follower?.objects.get(key('changed'))).toEqual({ metadata: { name: 'changed' } })
  })

  test('a missing permission is named with its rule, and noticed when it is given', async () => {
    const kubeconfig = await cluster.serviceAccount(namespace, 'follower', [])
    const connection = openConnection({ kubeconfig }, {})
    closing.push(() => connection.close())
    follower = new KubeFollower(new KubeClient(connection), { resource: CONFIG_MAPS })
    const { error } = await down()
    expect(error.code).toBe('KubeForbidden')
    const user = `system:serviceaccount:${namespace}:follower`
    expect(error.message).toBe(
      `Cannot list configmaps: user "${user}" may not list configmaps in all namespaces; that permission is wanted`,
    )
    expect(error.hint).toBe(
      `Add to a ClusterRole that is bound to "${user}": { apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }`,
    )
    await cluster.serviceAccount(namespace, 'follower', [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch'] },
    ])
    await follower.up()
  })

  test('a resource that is not installed is named, and followed as soon as it is', async () => {
    follower = new KubeFollower(client, { resource: INSTANCES })
    const { error, missing } = await down()
    expect(missing).toBe(true)
    expect(error.code).toBe('KubeResourceMissing')
    expect(error.message).toContain('does not know virtualmachineinstances.kubevirt.io in version v1')
    expect(error.hint).toContain('Install the CustomResourceDefinition "virtualmachineinstances.kubevirt.io"')
    await cluster.applyCrds('kubevirt')
    await follower.up()
    expect(follower.lists.at(-1)?.info).toMatchObject({ count: 0, listed: true })
  })

  test('a cluster restored from an older backup is noticed, and all of it is told', async () => {
    const data = join(cluster.etcd.directory, 'member0')
    const backup = join(cluster.directory, 'backup')
    await put('old')
    await cluster.etcd.kill(0)
    cpSync(data, backup, { recursive: true })
    await cluster.etcd.restart(0)
    await cluster.etcd.healthy()
    await begin()
    await until('written', () =>
      put('young').then(
        () => true,
        () => undefined,
      ),
    )
    await follower?.has(key('young'))
    proxy.refusing = true
    await Promise.all([cluster.kill(), cluster.etcd.kill(0)])
    rmSync(data, { recursive: true })
    cpSync(backup, data, { recursive: true })
    await cluster.etcd.restart(0)
    await cluster.restart()
    proxy.refusing = false
    await follower?.lacks(key('young'), 20_000)
    const last = follower?.lists.at(-1)
    expect(last?.info).toMatchObject({ listed: true, rewound: true, count: 1 })
    expect(last?.changes.map((one) => [one.key, one.object !== undefined])).toEqual([
      [key('old'), true],
      [key('young'), false],
    ])
  }, 40_000)

  async function down(): Promise<Extract<FollowState, { up: false }>> {
    return until('not following', () => follower?.states.find((state) => !state.up), 15_000)
  }
})

function gone() {
  const body = JSON.stringify({ kind: 'Status', code: 410, reason: 'Expired', message: 'too old' })
  return { status: 410, headers: { 'content-type': 'application/json' }, body }
}

async function compact(cluster: KubeCluster): Promise<void> {
  const answer = await cluster.etcd.etcdctl('get', '/', '--limit=1', '-w', 'json')
  const { header } = JSON.parse(answer) as { header: { revision: number } }
  await cluster.etcd.etcdctl('compact', String(header.revision))
}
