// ExternalDNS and ours as they are run for good, one after the other and at the same time, on what the other has written.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeWithExternalDns, describeWithKubernetes } from '../../support/describe-with-kubernetes.ts'
import type { ExternalDns } from '../../support/external-dns.ts'
import type { HoldfastProcess } from '../../support/holdfast-process.ts'
import { KubeCluster } from '../../support/kube-cluster.ts'
import { until } from '../../support/until.ts'
import { applyObjects, createNamespace, ingress, removeObjects, type TestObject } from './objects.ts'
import { hosts, namesOf, Programs, type Settings, touched } from './programs.ts'

const LIMIT_MS = 60_000
/** ExternalDNS does nothing between two rounds. */
const FLAGS = ['--source=ingress', '--interval=1s']
const WEB = ingress('web', { hosts: ['a.example.org', 'b.example.org', '*.apps.example.org'], at: ['192.0.2.1'] })
const other = (at: string) => ingress('other', { hosts: ['other.example.org'], at: [at] })
const address = (at: string) => `org/example/other/* {"host":"${at}","targetstrip":1}`

/** Besides the name that changes, with its mark: ExternalDNS writes a new one each time. */
const othersIn = (keys: readonly string[]) => namesOf(keys).filter((name) => !name.includes('other/'))

describeWithKubernetes('with a cluster', () => {
  describeWithExternalDns('ExternalDNS and Holdfast, running', () => {
    let cluster: KubeCluster
    let programs: Programs
    let namespace: string
    let prefix: string
    let count = 0
    const theirs: ExternalDns[] = []
    const ours: HoldfastProcess[] = []

    beforeAll(async () => {
      cluster = await KubeCluster.start()
      programs = new Programs(cluster)
    }, LIMIT_MS)
    afterAll(async () => {
      await programs?.close()
      await cluster?.stop()
    })
    beforeEach(async () => {
      namespace = `takeover-${count++}`
      prefix = `/${namespace}/`
      await createNamespace(cluster, namespace)
    })
    afterEach(async () => {
      await Promise.all([...theirs.splice(0).map((each) => each.stop()), ...ours.splice(0).map((each) => each.end())])
    })

    const apply = (...objects: readonly TestObject[]) => applyObjects(cluster, objects, namespace)
    const stored = () => programs.stored(prefix)
    const settings = (...flags: string[]): Settings => ({ flags: [`--namespace=${namespace}`, ...FLAGS, ...flags] })
    const sync = () => settings('--policy=sync', '--txt-owner-id=side')

    async function startTheirs(with_: Settings): Promise<ExternalDns> {
      const started = await programs.startExternalDns(with_, prefix)
      theirs.push(started)
      return started
    }

    async function startOurs(with_: Settings): Promise<HoldfastProcess> {
      const started = await programs.startHoldfast(with_, prefix)
      ours.push(started)
      return started
    }

    async function stopOurs(program: HoldfastProcess): Promise<void> {
      program.kill('SIGTERM')
      expect(await program.ended()).toBe(0)
    }

    const untilHost = (line: string) =>
      until(line, async () => hosts(await stored()).includes(line), LIMIT_MS).catch(async () =>
        expect(hosts(await stored())).toContain(line),
      )
    const untilGone = (text: string) =>
      until(`no ${text}`, async () => !hosts(await stored()).some((line) => line.includes(text)), LIMIT_MS)

    test('Holdfast goes on where ExternalDNS stopped, and ExternalDNS where Holdfast did', async () => {
      await apply(WEB, other('192.0.2.9'))
      const first = await startTheirs(sync())
      await until('all keys', async () => (await stored()).size === 8)
      await first.stop()
      const written = await stored()

      const second = await startOurs(sync())
      await apply(other('192.0.2.10'))
      await untilHost(address('192.0.2.10'))
      await stopOurs(second)
      const continued = await stored()
      expect(namesOf(touched(written, continued))).toEqual(['org/example/other/*'])

      await startTheirs(sync())
      await apply(other('192.0.2.11'))
      await untilHost(address('192.0.2.11'))
      const handedBack = await stored()
      expect(othersIn(touched(continued, handedBack))).toEqual([])
      await removeObjects(cluster, [WEB], namespace)
      await untilGone('192.0.2.1"')
      expect(hosts(await stored())).toEqual([address('192.0.2.11')])
    })

    test('ExternalDNS goes on where Holdfast stopped, and Holdfast where ExternalDNS did', async () => {
      await apply(WEB, other('192.0.2.9'))
      const first = await startOurs(sync())
      await until('all keys', async () => (await stored()).size === 8)
      await stopOurs(first)
      const written = await stored()

      const second = await startTheirs(sync())
      await apply(other('192.0.2.10'))
      await untilHost(address('192.0.2.10'))
      await second.stop()
      const continued = await stored()
      expect(othersIn(touched(written, continued))).toEqual([])

      await startOurs(sync())
      await apply(other('192.0.2.11'))
      await untilHost(address('192.0.2.11'))
      expect(othersIn(touched(continued, await stored()))).toEqual([])
      await removeObjects(cluster, [WEB, other('')], namespace)
      await until('nothing', async () => (await stored()).size === 0)
    })

    test('both at the same time, with the same owner, do not disturb each other', async () => {
      await apply(WEB, other('192.0.2.9'))
      await startOurs(sync())
      await until('all keys', async () => (await stored()).size === 8)
      const written = await stored()
      const program = await startTheirs(sync())
      await until('some rounds', () => program.output.split('All records are already up to date').length > 3)
      expect(touched(written, await stored())).toEqual([])
    })

    test('with upsert-only Holdfast deletes nothing that ExternalDNS wrote, and updates it', async () => {
      const upsert = settings('--policy=upsert-only', '--txt-owner-id=side')
      await apply(WEB, other('192.0.2.9'))
      const first = await startTheirs(upsert)
      await until('all keys', async () => (await stored()).size === 8)
      await first.stop()
      const written = await stored()
      await startOurs(upsert)
      await removeObjects(cluster, [WEB], namespace)
      await apply(other('192.0.2.10'))
      await untilHost(address('192.0.2.10'))
      expect(namesOf(touched(written, await stored()))).toEqual(['org/example/other/*'])
    })

    test('with other owners nobody touches what the other has', async () => {
      await apply(WEB)
      await startTheirs(settings('--policy=sync', '--txt-owner-id=theirs', '--label-filter=mine!=yes'))
      await until('all keys', async () => (await stored()).size === 6)
      const written = await stored()
      const rival = ingress('rival', {
        hosts: ['a.example.org', 'ours.example.org'],
        at: ['192.0.2.77'],
        labels: { mine: 'yes' },
      })
      await apply(rival)
      const program = await startOurs(settings('--policy=sync', '--txt-owner-id=ours', '--label-filter=mine=yes'))
      await untilHost('org/example/ours/* {"host":"192.0.2.77","targetstrip":1}')
      await program.logged(/"a\.example\.org".*belongs to owner "theirs"/u)
      const both = await stored()
      expect(namesOf(touched(written, both))).toEqual(['org/example/a-ours/*', 'org/example/ours/*'])
      // Theirs goes: the name is free, and ours takes it.
      await removeObjects(cluster, [WEB], namespace)
      await untilHost('org/example/a/* {"host":"192.0.2.77","targetstrip":1}')
      const ended = await stored()
      const kept = (key: string) => ended.get(key)?.modRevision === both.get(key)?.modRevision
      expect([...both.keys()].filter((key) => key.includes('ours')).every(kept)).toBe(true)
    })
  })
})
