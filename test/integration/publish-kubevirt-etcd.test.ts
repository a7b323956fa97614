// What `holdfast publish kubevirt --to etcd` keeps away from the keys of others, and from those that speak for the zone.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeWithKubernetes } from '../support/describe-with-kubernetes.ts'
import { type HoldfastProcess, Sandbox } from '../support/holdfast-process.ts'
import { KubeCluster } from '../support/kube-cluster.ts'
import { until } from '../support/until.ts'

const VMIS = 'virtualmachineinstances.kubevirt.io'
const SERVERS = '/skydns/vm/dns/ns 192.0.2.53'

describeWithKubernetes('holdfast publish kubevirt --to etcd', () => {
  let cluster: KubeCluster
  let sandbox: Sandbox

  beforeAll(async () => {
    cluster = await KubeCluster.start()
    await cluster.applyCrds('kubevirt')
    await cluster.kubectl(['create', 'namespace', 'dns'])
  })
  afterAll(() => cluster?.stop())
  beforeEach(() => {
    sandbox = new Sandbox()
  })
  afterEach(async () => {
    await sandbox.close()
    await cluster.etcd.etcdctl('del', '--prefix', '/skydns/')
    await cluster.kubectl(['delete', VMIS, '--all', '--all-namespaces'])
  })

  function publish(...args: readonly string[]): HoldfastProcess {
    const env = { ETCD_URLS: cluster.etcd.endpoints.join(',') }
    const common = ['publish', 'kubevirt', '--to=etcd', '--name-server-ip=192.0.2.53', '--domain=', '--namespace=']
    return sandbox.spawn([...common, `--kubeconfig=${cluster.kubeconfig}`, ...args], 'pipe', env)
  }

  async function machine(namespace: string, name: string, ip: string): Promise<void> {
    const metadata = { name, namespace }
    const spec = { networks: [{ name: 'nic1', multus: { networkName: 'ptp-conf' } }] }
    const kind = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance' }
    await cluster.apply(JSON.stringify({ ...kind, metadata, spec }))
    const status = { interfaces: [{ name: 'nic1', ipAddress: ip, ipAddresses: [ip] }] }
    await cluster.setStatus({ resource: VMIS, ...metadata }, status)
  }

  /** Keys without their last label, and hosts. */
  async function stored(): Promise<string[]> {
    const lines = (await cluster.etcd.etcdctl('get', '--prefix', '/skydns/')).trim().split('\n')
    const pairs = lines.flatMap((line, i) => (i % 2 === 0 && line !== '' ? [[line, lines[i + 1]]] : []))
    return pairs
      .map(([key, value]) => `${key.replace(/\/[\da-f]{8}$/u, '')} ${(JSON.parse(value) as { host: string }).host}`)
      .toSorted()
  }

  async function untilStored(...wanted: readonly string[]): Promise<void> {
    let seen: string[] = []
    const isStored = async () => {
      seen = await stored()
      return JSON.stringify(seen) === JSON.stringify(wanted)
    }
    await until('keys', isStored).catch(() => expect(seen).toEqual(wanted))
  }

  test('names are stored while the machine is there, and no machine becomes the name server of the zone', async () => {
    await machine('default', 'web', '192.0.2.1')
    await machine('dns', 'ns', '192.0.2.66')
    const publisher = publish('--leader-election')
    await untilStored('/skydns/vm/default/web 192.0.2.1', '/skydns/vm/default/web/nic1 192.0.2.1', SERVERS)
    await publisher.logged(/Cannot publish "ns\.dns\.vm" of virtualmachineinstance\/dns\/ns/u)
    await publisher.logged(/holds lease holdfast-publish-kubevirt-kubevirt/u)
    await cluster.kubectl(['delete', VMIS, 'web'])
    await untilStored(SERVERS)
  })

  test('the greater part of the names goes only when that is allowed', async () => {
    for (let i = 10; i < 40; i++) {
      const value = '{"host":"192.0.2.1","targetstrip":1,"owner":"kubevirt"}'
      await cluster.etcd.etcdctl('put', `/skydns/vm/default/h${i}/aaaaaaaa`, value)
    }
    const publisher = publish()
    await publisher.logged(/Cannot delete 30 names in one run: .*--max-deletions=30/u)
    expect(await stored()).toHaveLength(31)
    publisher.kill('SIGTERM')
    expect(await publisher.ended()).toBe(0)
    publish('--max-deletions=30')
    await untilStored(SERVERS)
  })
})
