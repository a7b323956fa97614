// ExternalDNS and ours on one cluster and one etcd. Alone, each for itself, they write the same keys and values. Then each
// takes over what the other wrote: nothing changes. Then the objects change: what ours makes of ExternalDNS's keys is
// what ExternalDNS would write into an empty etcd, and it touches no other name. Back and forth, to the last deletion.
// HOLDFAST_SIDE_BY_SIDE names a part of the titles of those to run.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWithExternalDns, describeWithKubernetes } from '../../support/describe-with-kubernetes.ts'
import { KubeCluster } from '../../support/kube-cluster.ts'
import { applyObjects, createNamespace, removeObjects } from './objects.ts'
import { changedNames, comparable, hosts, namesOf, Programs, touched } from './programs.ts'
import { AES_KEY, NODES, SCENARIOS, type Scenario } from './scenarios.ts'

const LIMIT_MS = 120_000
const wanted = process.env.HOLDFAST_SIDE_BY_SIDE ?? ''

describeWithKubernetes('with a cluster', () => {
  describeWithExternalDns('ExternalDNS and Holdfast', () => {
    let cluster: KubeCluster
    let programs: Programs
    beforeAll(async () => {
      cluster = await KubeCluster.start()
      programs = new Programs(cluster)
      await cluster.applyCrds('gateway', 'dnsendpoint')
      await applyObjects(cluster, NODES, 'default')
    }, LIMIT_MS)
    afterAll(async () => {
      await programs?.close()
      await cluster?.stop()
    })

    it.each(SCENARIOS.filter(({ title }) => title.includes(wanted)))(
      'agree on $title',
      (scenario) => live(programs, scenario),
      LIMIT_MS,
    )
  })
})

async function live(programs: Programs, scenario: Scenario): Promise<void> {
  const { before, after, pain, env = {} } = scenario
  const { cluster } = programs
  const namespace = `side-${SCENARIOS.indexOf(scenario)}`
  const settings = { flags: [`--namespace=${namespace}`, ...scenario.flags], env }
  const [theirs, ours, fresh] = ['theirs', 'ours', 'fresh'].map((each) => `/${namespace}/${each}/`)
  const aesKey = scenario.env === undefined ? undefined : AES_KEY
  const isSync = settings.flags.includes('--policy=sync') && before.length > 0
  const look = () => Promise.all([programs.stored(theirs), programs.stored(ours)])

  await createNamespace(cluster, namespace)
  await applyObjects(cluster, before, namespace)
  await Promise.all([programs.externalDns(settings, theirs), programs.holdfast(settings, ours)])
  const alone = await look()
  expect(alone[0].size).toBe(scenario.keys)
  expect(comparable(alone[1], { aesKey, pain })).toEqual(comparable(alone[0], { aesKey, pain }))

  await Promise.all([programs.holdfast(settings, theirs), programs.externalDns(settings, ours)])
  const takenOver = await look()
  expect(touched(alone[0], takenOver[0])).toEqual([])
  if (pain === 'restless') expect(touched(alone[1], takenOver[1])).not.toEqual([])
  else expect(touched(alone[1], takenOver[1])).toEqual([])

  await applyObjects(cluster, after, namespace)
  const names = new Set(after.map(({ kind, metadata }) => `${kind} ${metadata.name}`))
  const gone = before.filter(({ kind, metadata }) => !names.has(`${kind} ${metadata.name}`))
  await removeObjects(cluster, gone, namespace)
  await Promise.all([programs.holdfast(settings, theirs), programs.externalDns(settings, ours)])
  await programs.externalDns(settings, fresh)
  const changed = await look()
  const desired = await programs.stored(fresh)
  expect(namesOf(touched(takenOver[0], changed[0]))).toEqual(changedNames(takenOver[0], changed[0]))
  if (isSync) {
    expect(comparable(changed[0], { aesKey, pain })).toEqual(comparable(desired, { aesKey, pain }))
    if (pain === undefined) expect(hosts(changed[1])).toEqual(hosts(desired))
  } else expect(hosts(changed[0])).toEqual(hosts(changed[1]))

  await Promise.all([programs.externalDns(settings, theirs), programs.holdfast(settings, ours)])
  const handedBack = await look()
  if (pain !== 'restless') expect(touched(changed[0], handedBack[0])).toEqual([])
  if (pain === undefined || pain === 'chance') expect(touched(changed[1], handedBack[1])).toEqual([])
  if (isSync) expect(hosts(handedBack[1])).toEqual(hosts(desired))

  await removeObjects(cluster, after, namespace)
  await Promise.all([programs.holdfast(settings, theirs), programs.externalDns(settings, ours)])
  const ended = await look()
  if (isSync) {
    expect([...ended[0].keys()]).toEqual([])
    if (pain === undefined || pain === 'greedy' || pain === 'chance') expect(hosts(ended[1])).toEqual([])
  } else for (const at of [0, 1]) expect(touched(handedBack[at], ended[at])).toEqual([])
}
