import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithExternalDns, describeWithKubernetes } from '../support/describe-with-kubernetes.ts'
import { ExternalDns } from '../support/external-dns.ts'
import { KubeCluster } from '../support/kube-cluster.ts'
import { findKubeSecondaryDns, KubeSecondaryDns } from '../support/kube-secondary-dns.ts'
import { until } from '../support/until.ts'

const INGRESS = `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: web, namespace: default }
spec:
  rules: [{ host: web.example.org }]
`
const VMI = `
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: { name: vmi-sec, namespace: default }
spec: { networks: [{ name: nic1, multus: { networkName: ptp-conf } }] }
`

describeWithKubernetes('a Kubernetes API for tests', () => {
  let cluster: KubeCluster

  beforeAll(async () => {
    cluster = await KubeCluster.start()
    await cluster.applyCrds('kubevirt')
  })
  afterAll(() => cluster?.stop())

  test('keeps objects, and a status that the test sets', async () => {
    await cluster.apply(INGRESS)
    const ingress = { resource: 'ingresses', name: 'web', namespace: 'default' }
    await cluster.setStatus(ingress, { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } })
    const jsonpath = 'jsonpath={.status.loadBalancer.ingress[0].ip}'
    expect(await cluster.kubectl(['get', 'ingress', 'web', '-o', jsonpath])).toBe('192.0.2.1')

    await cluster.apply(VMI)
    const interfaces = [{ name: 'nic1', ipAddress: '10.10.0.5', ipAddresses: ['10.10.0.5'] }]
    await cluster.setStatus({ resource: 'vmi', name: 'vmi-sec', namespace: 'default' }, { interfaces })
    const path = '/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/vmi-sec'
    expect(await cluster.request('GET', path)).toMatchObject({ status: { interfaces } })
  })

  test('has the kinds of Gateway API and ExternalDNS once they are applied', async () => {
    await cluster.applyCrds('gateway', 'dnsendpoint')
    const kinds = await cluster.kubectl(['api-resources', '--namespaced', '-o', 'name'])
    for (const kind of ['gateways', 'httproutes', 'grpcroutes', 'tlsroutes', 'tcproutes', 'udproutes']) {
      expect(kinds).toContain(`${kind}.gateway.networking.k8s.io`)
    }
    expect(kinds).toContain('dnsendpoints.externaldns.k8s.io')
  })

  test('lets users and service accounts do what their role says, and no more', async () => {
    const rules = [{ apiGroups: ['networking.k8s.io'], resources: ['ingresses'], verbs: ['list'] }]
    const account = await cluster.serviceAccount('default', 'reader', rules)
    expect(await cluster.kubectl(['get', 'ingresses', '-A', '--kubeconfig', account])).toContain('web.example.org')
    await expect(cluster.kubectl(['get', 'services', '--kubeconfig', account])).rejects.toThrow(/forbidden/u)
    const user = await cluster.user('jane')
    await expect(cluster.kubectl(['get', 'ingresses', '--kubeconfig', user])).rejects.toThrow(/"jane" cannot list/u)
  })

  test('fails a request with what the API says', async () => {
    const missing = cluster.request('GET', '/api/v1/namespaces/default/services/none')
    await expect(missing).rejects.toThrow(/404 .*services \\"none\\" not found/u)
  })

  test('has its data when the API server was killed and started again', async () => {
    await cluster.kill()
    await expect(cluster.request('GET', '/readyz')).rejects.toThrow(/ECONNREFUSED|ECONNRESET|socket/u)
    await cluster.restart()
    expect(await cluster.kubectl(['get', 'ingresses', '-o', 'name'])).toContain('ingress.networking.k8s.io/web')
  })

  describeWithExternalDns('with ExternalDNS beside it', () => {
    test('gets the names of an ingress written into its etcd', async () => {
      const flags = ['--source=ingress', '--registry=noop', '--policy=sync']
      const output = await ExternalDns.once({ cluster, flags })
      const stored = await cluster.etcd.etcdctl('get', '--prefix', '/skydns/')
      expect(stored, output).toMatch(/^\/skydns\/org\/example\/web\/[0-9a-f]{8}\n.*"host":"192\.0\.2\.1"/u)
    })
  })

  test.skipIf(findKubeSecondaryDns() === undefined)('gets the zone of KubeSecondaryDNS written', async () => {
    const theirs = KubeSecondaryDns.start(cluster, { domain: 'example.org' })
    try {
      const zone = await until('zone file', () => theirs.zoneText)
      expect(zone).toContain('$ORIGIN vm.example.org.')
      expect(zone).toContain('nic1.vmi-sec.default IN A 10.10.0.5')
    } finally {
      await theirs.stop()
    }
  })

  test('leaves no process and no file behind', async () => {
    const { directory, etcd } = cluster
    await cluster.stop()
    const running = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    for (const place of [directory, etcd.directory]) {
      expect(running).not.toContain(place)
      expect(existsSync(place)).toBe(false)
    }
  })
})
