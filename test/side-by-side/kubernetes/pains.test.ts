// What users of ExternalDNS complain of, shown with ExternalDNS itself, and that ours does not have it. Where a test says
// what ExternalDNS does, it is a fact of v0.23.0; should a later release mend it, the test says so by failing.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeWithExternalDns, describeWithKubernetes } from '../../support/describe-with-kubernetes.ts'
import { KubeCluster } from '../../support/kube-cluster.ts'
import { applyObjects, createNamespace, dnsEndpoint, ingress, removeObjects, type TestObject } from './objects.ts'
import { hosts, Programs, type Settings, type StoredKeys, touched } from './programs.ts'

const LIMIT_MS = 60_000

describeWithKubernetes('with a cluster', () => {
  describeWithExternalDns('unlike ExternalDNS, Holdfast', () => {
    let cluster: KubeCluster
    let programs: Programs
    let namespace: string
    let theirs: string
    let ours: string
    let count = 0

    beforeAll(async () => {
      cluster = await KubeCluster.start()
      programs = new Programs(cluster)
      await cluster.applyCrds('dnsendpoint')
    }, LIMIT_MS)
    afterAll(async () => {
      await programs?.close()
      await cluster?.stop()
    })
    beforeEach(async () => {
      namespace = `pain-${count++}`
      theirs = `/${namespace}/theirs/`
      ours = `/${namespace}/ours/`
      await createNamespace(cluster, namespace)
    })

    const apply = (...objects: readonly TestObject[]) => applyObjects(cluster, objects, namespace)
    const remove = (...objects: readonly TestObject[]) => removeObjects(cluster, objects, namespace)
    const settings = (...flags: string[]): Settings => ({
      flags: [`--namespace=${namespace}`, '--policy=sync', '--txt-owner-id=side', ...flags],
    })
    const INGRESS = () => settings('--source=ingress')
    const look = () => Promise.all([programs.stored(theirs), programs.stored(ours)])

    /** A round of each, with what is there afterwards. */
    async function round(with_: Settings): Promise<[theirs: StoredKeys, ours: StoredKeys]> {
      await Promise.all([programs.externalDns(with_, theirs), programs.holdfast(with_, ours)])
      return look()
    }

    test('leaves no second address behind when a name goes (#669)', async () => {
      const web = ingress('web', { hosts: ['web.example.org'], at: ['192.0.2.1', '192.0.2.2'] })
      await apply(web)
      await round(INGRESS())
      await remove(web)
      const [left, nothing] = await round(INGRESS())
      expect(hosts(left)).toHaveLength(1)
      expect([...nothing.keys()]).toEqual([])
    })

    test('leaves no TXT records behind', async () => {
      const web = ingress('web', { hosts: ['web.example.org'], at: ['192.0.2.1'] })
      await apply(web)
      await round(INGRESS())
      await remove(web)
      const [left, nothing] = await round(INGRESS())
      expect([...left.values()].map(({ value }) => value)).toEqual([expect.stringContaining('heritage=external-dns')])
      expect([...nothing.keys()]).toEqual([])
    })

    test('does not add a TXT record with every change', async () => {
      for (const last of [1, 2, 3]) {
        await apply(ingress('web', { hosts: ['web.example.org'], at: [`192.0.2.${last}`] }))
        await round(INGRESS())
      }
      const marks = (keys: StoredKeys) => [...keys.values()].filter(({ value }) => value.includes('heritage='))
      const [many, one] = await look()
      expect(marks(many)).toHaveLength(3)
      expect(marks(one)).toHaveLength(1)
    })

    test('does not add and delete for ever (#5340)', async () => {
      await apply(ingress('dual', { hosts: ['dual.example.org'], at: ['192.0.2.1', '2001:db8::1'] }))
      await round(INGRESS())
      let before = await look()
      for (let again = 0; again < 3; again++) {
        const after = await round(INGRESS())
        expect(touched(before[0], after[0])).not.toEqual([])
        expect(touched(before[1], after[1])).toEqual([])
        before = after
      }
    })

    test('has one answer for an address of several names, and keeps to it', async () => {
      const types = ['A', 'PTR'].map((type) => `--managed-record-types=${type}`)
      const pointers = settings('--source=ingress', '--create-ptr', ...types)
      await apply(ingress('web', { hosts: ['a.example.org', 'b.example.org'], at: ['192.0.2.1'] }))
      const before = await round(pointers)
      const after = await round(pointers)
      expect(touched(before[0], after[0])).toContain('arpa/in-addr/192/0/2/1')
      expect(touched(before[1], after[1])).toEqual([])
    })

    test('does not remove the address beside a text', async () => {
      const both = settings('--source=crd', '--registry=noop', '--managed-record-types=A', '--managed-record-types=TXT')
      const address = { dnsName: 'both.example.org', recordType: 'A', targets: ['192.0.2.1'] }
      await apply(dnsEndpoint('records', address, { dnsName: 'both.example.org', recordType: 'TXT', targets: ['x'] }))
      await round(both)
      await apply(dnsEndpoint('records', address))
      const [none, one] = await round(both)
      expect(hosts(none)).toEqual([])
      expect(hosts(one)).toEqual(['org/example/both/* {"host":"192.0.2.1","targetstrip":1}'])
    })

    test('does not delete everything when it looks for objects in the wrong place (#2858, #3841)', async () => {
      const names = Array.from({ length: 30 }, (_, i) => `host-${i}.example.org`)
      await apply(ingress('many', { hosts: names, at: ['192.0.2.1'] }))
      const before = await round(INGRESS())
      expect(hosts(before[0])).toHaveLength(30)
      const mistyped = { flags: ['--namespace=nowhere', '--policy=sync', '--txt-owner-id=side', '--source=ingress'] }
      await programs.externalDns(mistyped, theirs)
      await expect(programs.holdfast(mistyped, ours)).rejects.toThrow(
        /Cannot delete 30 names in one run: .*--max-deletions=30/u,
      )
      const after = await look()
      expect(hosts(after[0])).toEqual([])
      expect(touched(before[1], after[1])).toEqual([])
    })

    test('goes on when somebody has put a value into etcd that is none', async () => {
      for (const prefix of [theirs, ours]) await programs.put(`${prefix}org/example/broken/x`, 'not JSON')
      await apply(ingress('web', { hosts: ['web.example.org'], at: ['192.0.2.1'] }))
      await expect(programs.externalDns(INGRESS(), theirs)).rejects.toThrow('failed to unmarshal')
      const told = await programs.holdfast(INGRESS(), ours)
      expect(told).toMatch(/Cannot use ".*org\/example\/broken\/x".*it stays as it is/u)
      expect([...(await look())[1].keys()]).toHaveLength(3)
    })

    test('deletes no names that only begin like the one to delete', async () => {
      const noop = settings('--source=ingress', '--registry=noop')
      const value = '{"host":"192.0.2.9"}'
      for (const prefix of [theirs, ours]) await programs.put(`${prefix}org/example/web`, value)
      await apply(ingress('web', { hosts: ['website.example.org'], at: ['192.0.2.1'] }))
      const [none, one] = await round(noop)
      expect(hosts(none)).toEqual([])
      expect(hosts(one)).toEqual(['org/example/website/* {"host":"192.0.2.1","targetstrip":1}'])
    })

    test('stores names in Unicode as they are asked for, and leaves those of ExternalDNS as they are', async () => {
      const annotations = { 'external-dns.kubernetes.io/hostname': 'bücher.example.org' }
      await apply(ingress('books', { at: ['192.0.2.1'], annotations }))
      const [unicode, ascii] = await round(INGRESS())
      expect(hosts(unicode)).toEqual(['org/example/bücher/* {"host":"192.0.2.1","targetstrip":1}'])
      expect(hosts(ascii)).toEqual(['org/example/xn--bcher-kva/* {"host":"192.0.2.1","targetstrip":1}'])
      await programs.holdfast(INGRESS(), theirs)
      expect(touched(unicode, await programs.stored(theirs))).toEqual([])
    })

    test.each([
      ['SRV', '0 50 5060 sip.example.org.'],
      ['NS', 'ns.example.net'],
      ['MX', '10 mail.example.org'],
    ])('stores no %s record where it would be read as an alias', async (type, target) => {
      const flags = settings('--source=crd', '--registry=noop', `--managed-record-types=${type}`)
      await apply(dnsEndpoint('records', { dnsName: 'x.example.org', recordType: type, targets: [target] }))
      await programs.externalDns(flags, theirs)
      const told = await programs.holdfast(flags, ours)
      const [alias, none] = await look()
      expect([...alias.values()].map(({ value }) => value)).toEqual([`{"host":"${target}","targetstrip":1}`])
      expect([...none.keys()]).toEqual([])
      expect(told).toMatch(new RegExp(`x\\.example\\.org.*${type}`, 'u'))
    })
  })
})
