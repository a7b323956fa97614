// Names of Kubernetes objects served directly: the manifest of KubeSecondaryDNS's document and ingresses, through a real
// API server, asked for with DNS.

import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { TYPE } from '../../src/dns/types.ts'
import { describeWithKubernetes } from '../support/describe-with-kubernetes.ts'
import { type HoldfastProcess, Sandbox } from '../support/holdfast-process.ts'
import { KubeCluster } from '../support/kube-cluster.ts'
import { brief, untilAnswer } from '../support/lookup.ts'
import { freePort } from '../support/ports.ts'

const VMI = readFileSync(`${import.meta.dirname}/../support/manifests/vmi-sec.yaml`, 'utf8')
const VMIS = 'virtualmachineinstances.kubevirt.io'

describeWithKubernetes('names of Kubernetes objects', () => {
  let cluster: KubeCluster
  let sandbox: Sandbox
  let port: number

  beforeAll(async () => {
    cluster = await KubeCluster.start()
    await cluster.applyCrds('kubevirt', 'dnsendpoint')
  })
  afterAll(() => cluster?.stop())
  beforeEach(async () => {
    sandbox = new Sandbox()
    port = await freePort()
  })
  afterEach(() => sandbox.close())

  async function serve(sources: string, kubeconfig = cluster.kubeconfig): Promise<HoldfastProcess> {
    const text = `sources:\n${sources.replaceAll('KUBECONFIG', kubeconfig)}\nserve: { listen: ["127.0.0.1:${port}"] }\n`
    return sandbox.serve('--config', sandbox.write('names.yaml', text), '--state', sandbox.path('state'))
  }

  async function ingress(name: string, host: string, ip: string, annotations: object = {}): Promise<void> {
    await cluster.apply(
      JSON.stringify({
        apiVersion: 'networking.k8s.io/v1',
        kind: 'Ingress',
        metadata: { name, namespace: 'default', annotations },
        spec: { rules: [{ host }] },
      }),
    )
    const address = { resource: 'ingresses', name, namespace: 'default' }
    await cluster.setStatus(address, { loadBalancer: { ingress: [{ ip }] } })
  }

  const KUBEVIRT = '  - { type: kubevirt, kubeconfig: KUBECONFIG, name_server_ip: [192.0.2.53] }'
  const INGRESSES =
    '  - { type: kubernetes, kubeconfig: KUBECONFIG, from: [ingress, crd], zones: [example.org], ttl: 5s }'

  test('a virtual machine has its names while it is there, and the zone is there from the start', async () => {
    await serve(KUBEVIRT)
    await untilAnswer(port, 'ns.vm.', '192.0.2.53')
    expect(await brief(port, 'vm.', TYPE.NS)).toContain('ns.vm.')
    expect(await brief(port, 'nic1.vmi-sec.secondary-test.vm.')).toBe('NXDOMAIN')
    await cluster.apply(VMI)
    const vmi = { resource: VMIS, name: 'vmi-sec', namespace: 'secondary-test' }
    await cluster.setStatus(vmi, { interfaces: [{ name: 'nic1', ipAddress: '10.10.0.5', ipAddresses: ['10.10.0.5'] }] })
    await untilAnswer(port, 'nic1.vmi-sec.secondary-test.vm.', '10.10.0.5')
    await untilAnswer(port, 'vmi-sec.secondary-test.vm.', '10.10.0.5')
    await cluster.kubectl(['delete', VMIS, 'vmi-sec', '-n', 'secondary-test'])
    await untilAnswer(port, 'nic1.vmi-sec.secondary-test.vm.', 'NXDOMAIN')
  })

  test('an ingress has its names while it is there, through an outage and a restart in the middle of it', async () => {
    const server = await serve(INGRESSES)
    await ingress('web', 'web.example.org', '192.0.2.1')
    await ingress('wild', '*.apps.example.org', '192.0.2.2')
    await untilAnswer(port, 'web.example.org.', '192.0.2.1')
    await untilAnswer(port, 'any.apps.example.org.', '192.0.2.2')
    await cluster.kill()
    expect(await brief(port, 'web.example.org.')).toBe('192.0.2.1')
    server.kill('SIGKILL')
    await server.ended()
    await sandbox.serve('--config', sandbox.path('names.yaml'), '--state', sandbox.path('state'))
    expect(await brief(port, 'web.example.org.')).toBe('192.0.2.1')
    await cluster.restart()
    await cluster.kubectl(['delete', 'ingress', 'web'])
    await untilAnswer(port, 'web.example.org.', 'NXDOMAIN')
    expect(await brief(port, 'any.apps.example.org.')).toBe('192.0.2.2')
    await cluster.kubectl(['delete', 'ingress', 'wild'])
  })

  test('objects that cannot be used are told, one by one, and the others are served', async () => {
    const server = await serve(INGRESSES)
    await ingress('bad-host', 'good.example.org', '192.0.2.3', {
      'external-dns.alpha.kubernetes.io/hostname': 'bad..example.org,fine.example.org',
      'external-dns.kubernetes.io/ttl': 'soon',
    })
    await ingress('one', 'shared.example.org', '192.0.2.4')
    await untilAnswer(port, 'shared.example.org.', '192.0.2.4')
    await ingress('two', 'shared.example.org', '192.0.2.5')
    await untilAnswer(port, 'fine.example.org.', '192.0.2.3')
    await server.logged(/"shared\.example\.org" is wanted by .*default\/one.*default\/two/u)
    await server.logged(/bad\.\.example\.org.*default\/bad-host/u)
    await server.logged(/ttl "soon" of ingress.*default\/bad-host/iu)
    await cluster.kubectl(['delete', 'ingress', '--all'])
  })

  test('without a permission it says which one, and goes on when it gets it', async () => {
    const kubeconfig = await cluster.serviceAccount('default', 'weak', [
      { apiGroups: ['networking.k8s.io'], resources: ['ingresses'], verbs: ['list', 'watch'] },
    ])
    const server = await serve(INGRESSES, kubeconfig)
    await server.logged(/list .*dnsendpoints\.externaldns\.k8s\.io/u)
    await ingress('web', 'web.example.org', '192.0.2.1')
    await untilAnswer(port, 'web.example.org.', '192.0.2.1')
    await cluster.kubectl(['delete', 'ingress', 'web'])
  })

  test('a kind that is not installed is told, and the others are served', async () => {
    const server = await serve(INGRESSES.replace('crd', 'gateway-httproute'))
    await server.logged(/does not know httproutes\.gateway\.networking\.k8s\.io/u)
    await ingress('web', 'web.example.org', '192.0.2.1')
    await untilAnswer(port, 'web.example.org.', '192.0.2.1')
    await cluster.kubectl(['delete', 'ingress', 'web'])
  })
})
