// Following objects of a real API server: in pages, while connections are cut at the worst moments, and where permissions
// and definitions are missing.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { KubeObject, Resource } from '../../src/kube/resource.ts'
import { describeWithKubernetes } from '../support/describe-with-kubernetes.ts'
import { KubeCluster } from '../support/kube-cluster.ts'
import { CONFIG_MAPS, KubeFollowLab } from '../support/kube-follow-lab.ts'
import type { OwnAnswer } from '../support/kube-proxy.ts'
import { until } from '../support/until.ts'

const INSTANCES: Resource = {
  group: 'kubevirt.io',
  version: 'v1',
  plural: 'virtualmachineinstances',
  kind: 'VirtualMachineInstance',
  namespaced: true,
}

const EXPIRED: OwnAnswer = {
  status: 410,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ kind: 'Status', code: 410, reason: 'Expired', message: 'too old' }),
}

describeWithKubernetes('following objects of an API server', () => {
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

  test('2,500 objects come in pages and in one piece, and then every change as it happens', async () => {
    let made = 0
    const makeSome = async () => {
      while (made < 2500) await lab.put(`c${made++}`)
    }
    await Promise.all(Array.from({ length: 16 }, makeSome))
    const follower = await lab.follow()
    expect(follower.told).toHaveLength(1)
    expect(follower.told[0].changes).toHaveLength(2500)
    expect(follower.told[0].info).toMatchObject({ listed: true, count: 2500, rewound: false })
    expect(lab.proxy.lists).toHaveLength(5)
    const key = lab.key('new')
    await lab.put('new')
    await follower.has(key)
    await lab.change('new', { a: 'b' })
    await until('change', () => (follower.objects.get(key) as { data?: object }).data)
    await lab.remove('c7')
    await follower.lacks(lab.key('c7'))
    expect(follower.words.slice(2500)).toEqual([`+${key}`, `+${key}`, `-${lab.key('c7')}`])
    expect(follower.told.at(-1)?.info).toMatchObject({ listed: false, count: 2500 })
  })

  test('a watch that is cut again and again loses nothing, tells nothing twice, and lists only once', async () => {
    const follower = await lab.follow()
    const wanted: string[] = []
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 10; i++) {
        const name = `c${round * 10 + i}`
        await lab.put(name)
        wanted.push(`+${lab.key(name)}`)
        if (i === 5) lab.proxy.cut()
      }
      await follower.has(lab.key(`c${round * 10 + 9}`))
    }
    expect(follower.words).toEqual(wanted)
    expect(follower.lists).toHaveLength(1)
    expect(lab.proxy.watches.length).toBeGreaterThan(5)
    expect(follower.states).toEqual([{ up: true }])
  })

  test('what a watch has missed without anybody noticing is found when a list is asked for', async () => {
    const calls = new EventTarget()
    const follower = await lab.follow({ calls })
    lab.proxy.swallowing = true
    await lab.put('missed')
    // Comes after it, and is told to somebody else.
    const other = lab.begin({ resource: CONFIG_MAPS, namespace: lab.namespace }, {}, cluster.kubeconfig)
    await other.has(lab.key('missed'))
    lab.proxy.swallowing = false
    expect(follower.objects.size).toBe(0)
    const askedAt = performance.now()
    calls.dispatchEvent(new Event('relist'))
    await follower.has(lab.key('missed'))
    expect(follower.lists.at(-1)?.info.asOf).toBeGreaterThanOrEqual(askedAt)
    expect(follower.states.every(({ up }) => up)).toBe(true)
    await lab.put('later')
    await follower.has(lab.key('later'))
  })

  test('a list of which a page is missing deletes nothing', async () => {
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => lab.put(name)))
    const follower = await lab.follow({ pageSize: 2 })
    let cuts = 0
    lab.proxy.onRequest = ({ searchParams }) => {
      if (searchParams.get('watch') === 'true') return cuts < 3 ? EXPIRED : 'pass'
      if (!searchParams.has('continue') || cuts >= 3) return 'pass'
      return cuts++ === 1 ? 'cut' : 'half'
    }
    lab.proxy.cut()
    await until('lists cut short', () => cuts === 3)
    expect(follower.told).toHaveLength(1)
    await lab.put('f')
    await follower.has(lab.key('f'))
    expect(follower.words.slice(5)).toEqual([`+${lab.key('f')}`])
  })

  test('an expired continue token begins the list anew', async () => {
    await Promise.all(['a', 'b', 'c'].map((name) => lab.put(name)))
    let pages = 0
    lab.proxy.onRequest = ({ searchParams }) => (searchParams.has('continue') && pages++ === 0 ? EXPIRED : 'pass')
    const follower = await lab.follow({ pageSize: 2 })
    expect(pages).toBe(2)
    expect(follower.words.toSorted()).toEqual(['a', 'b', 'c'].map((name) => `+${lab.key(name)}`))
    expect(follower.states).toEqual([{ up: true }])
  })

  test('what answers in place of the API server is no empty list', async () => {
    await lab.put('a')
    const follower = await lab.follow()
    lab.proxy.onRequest = () => ({ status: 200, body: '<html>Please log in</html>' })
    lab.proxy.cut()
    const { error } = await lab.down()
    expect(error.message).toBe('Cannot list configmaps: the answer is no list')
    lab.proxy.onRequest = () => 'pass'
    await lab.put('b')
    await follower.has(lab.key('b'))
    expect(follower.words).toEqual([`+${lab.key('a')}`, `+${lab.key('b')}`])
  })

  test('of what was known before a start only the difference is told, and only what is wanted of it is kept', async () => {
    await lab.put('same')
    await lab.put('changed')
    const { metadata } = await lab.get<KubeObject>('same')
    const known = new Map([
      [lab.key('same'), metadata.resourceVersion ?? ''],
      [lab.key('changed'), '1'],
      [lab.key('gone'), '2'],
    ])
    const follower = await lab.follow({ known, keep: ({ metadata: { name } }) => ({ metadata: { name } }) })
    expect(follower.words.toSorted()).toEqual([`+${lab.key('changed')}`, `-${lab.key('gone')}`])
    expect(follower.objects.get(lab.key('changed'))).toEqual({ metadata: { name: 'changed' } })
  })

  test('a missing permission is named with its rule, and noticed when it is given', async () => {
    const kubeconfig = await cluster.serviceAccount(lab.namespace, 'follower', [])
    const follower = lab.begin({ resource: CONFIG_MAPS }, {}, kubeconfig)
    const { error } = await lab.down()
    const user = `system:serviceaccount:${lab.namespace}:follower`
    expect(error.code).toBe('KubeForbidden')
    expect(error.message).toBe(
      `Cannot list configmaps: user "${user}" may not list configmaps in all namespaces; expected that permission`,
    )
    expect(error.hint).toBe(
      `Add to a ClusterRole that is bound to "${user}": { apiGroups: [""], resources: ["configmaps"], verbs: ["list", "watch"] }`,
    )
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }]
    await cluster.serviceAccount(lab.namespace, 'follower', rules)
    const more = await until('the next one', () =>
      follower.states.find((state) => !state.up && state.error.message.includes('watch')),
    )
    expect(more).toMatchObject({ error: { code: 'KubeForbidden' } })
    await cluster.serviceAccount(lab.namespace, 'follower', [{ ...rules[0], verbs: ['list', 'watch'] }])
    await follower.up()
  })

  test('a resource that is not installed is named, and followed as soon as it is', async () => {
    const follower = lab.begin({ resource: INSTANCES })
    const { error, missing } = await lab.down()
    expect(missing).toBe(true)
    expect(error.code).toBe('KubeResourceMissing')
    expect(error.message).toContain('does not know virtualmachineinstances.kubevirt.io in version v1')
    expect(error.hint).toContain('Install the CustomResourceDefinition "virtualmachineinstances.kubevirt.io"')
    await cluster.applyCrds('kubevirt')
    await follower.up()
    expect(follower.lists.at(-1)?.info).toMatchObject({ count: 0, listed: true })
  })
})
