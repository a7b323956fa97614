// What deploy/kubernetes renders to, held to a real API server, and to the sources that run with it.

import { globSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { leaseName } from '../../src/cli/publish-flags.ts'
import { resourceName } from '../../src/kube/resource.ts'
import { endpointSources } from '../../src/names/kubernetes/endpoint-sources.ts'
import { DEFAULT_SETTINGS } from '../../src/names/kubernetes/source-settings.ts'
import { parseCorefile } from '../../src/server/corefile/parse-corefile.ts'
import { describeWithKubernetes } from '../support/describe-with-kubernetes.ts'
import { dig, Sandbox } from '../support/holdfast-process.ts'
import { KubeCluster, type PolicyRule } from '../support/kube-cluster.ts'
import { loopbackNetwork } from '../support/loopback.ts'
import { freePort } from '../support/ports.ts'
import { until } from '../support/until.ts'

const root = join(import.meta.dirname, '../..')
const deploy = join(root, 'deploy/kubernetes')
const manifests = globSync(['{kubevirt,publish}/kustomization.yaml', 'examples/*/kustomization.yaml'], { cwd: deploy })
  .map(dirname)
  .toSorted()
const HOST = `${loopbackNetwork()}.0.1`
const LEASE = leaseName('publish kubernetes', 'default')
const INGRESS = `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: web, namespace: default }
spec: { rules: [{ host: web.example.org }] }
`
const VMI = `
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: { name: vmi-sec, namespace: default }
spec: { networks: [{ name: nic1, multus: { networkName: ptp-conf } }] }
`
const components = globSync('components/source-*', { cwd: deploy }).toSorted()

interface Container {
  readonly name: string
  readonly args: readonly string[]
  readonly resources: object
  readonly securityContext: object
  readonly readinessProbe?: object
  readonly livenessProbe?: object
  readonly volumeMounts?: readonly { readonly mountPath: string; readonly name: string }[]
  readonly env?: readonly { readonly name: string; readonly value?: string }[]
}

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly data?: Readonly<Record<string, string>>
  readonly rules?: readonly PolicyRule[]
  readonly subjects?: readonly object[]
  readonly spec?: {
    readonly replicas?: number
    readonly ports?: readonly { readonly port: number; readonly protocol: string }[]
    readonly template?: { readonly metadata: object; readonly spec: PodSpec }
  }
}

interface PodSpec {
  readonly containers: readonly Container[]
  readonly serviceAccountName: string
  readonly securityContext: object
}

describeWithKubernetes('deploy/kubernetes', () => {
  let cluster: KubeCluster

  beforeAll(async () => {
    cluster = await KubeCluster.start({ host: HOST })
    await cluster.apply(`
apiVersion: v1
kind: Namespace
metadata: { name: strict, labels: { pod-security.kubernetes.io/enforce: restricted } }
`)
  })
  afterAll(() => cluster?.stop())

  const render = async (folder: string): Promise<{ text: string; objects: Manifest[] }> => {
    const text = await cluster.kubectl(['kustomize', join(deploy, folder)])
    return { text, objects: parseAllDocuments(text).map((document) => document.toJS() as Manifest) }
  }

  /** Whatever a manifest has of access control is in force; returns all of its objects. */
  const permit = async (folder: string): Promise<Manifest[]> => {
    const { objects } = await render(folder)
    const items = objects.filter(({ kind }) => /^Namespace$|^ServiceAccount$|Role/u.test(kind))
    await cluster.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
    return objects
  }

  test('has something to look at', () => {
    expect(manifests).toEqual(['examples/k2s', 'examples/kubevirt-coredns', 'kubevirt', 'publish'])
  })

  describe.each(manifests)('%s', (folder) => {
    let text: string
    let objects: readonly Manifest[]
    const pods = () => objects.flatMap(({ spec }) => spec?.template ?? [])
    const containers = () => pods().flatMap(({ spec }) => spec.containers)

    beforeAll(async () => {
      ;({ text, objects } = await render(folder))
      const namespaces = objects.filter(({ kind }) => kind === 'Namespace')
      await Promise.all(namespaces.map((namespace) => cluster.apply(JSON.stringify(namespace))))
    })

    test('is accepted by the API server, every field of it', async () => {
      const dryRun = ['apply', '--server-side', '--dry-run=server', '--validate=strict', '-o', 'name', '-f', '-']
      expect((await cluster.kubectl(dryRun, text)).trim().split('\n')).toHaveLength(objects.length)
    })

    test('has pods that a namespace with the restricted security standard takes', async () => {
      expect(pods()).toHaveLength(1)
      const pod = { apiVersion: 'v1', kind: 'Pod', ...pods()[0], metadata: { name: 'one' } }
      await cluster.request('POST', '/api/v1/namespaces/strict/pods?dryRun=All&fieldValidation=Strict', pod)
      const careless = { ...pod, spec: { ...pod.spec, securityContext: {} } }
      await expect(cluster.request('POST', '/api/v1/namespaces/strict/pods?dryRun=All', careless)).rejects.toThrow(
        /violates PodSecurity/u,
      )
    })

    test('has containers that write nothing of their own, with limits and probes', () => {
      for (const container of containers()) {
        expect(container).toMatchObject({
          securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
          resources: { requests: { cpu: expect.any(String) }, limits: { memory: expect.any(String) } },
          readinessProbe: expect.any(Object),
          livenessProbe: expect.any(Object),
        })
      }
    })

    test('survives the loss of a node, and limits who talks to whom', () => {
      expect(the('Deployment', objects).spec).toMatchObject({
        replicas: 2,
        template: { spec: { topologySpreadConstraints: [{ topologyKey: 'kubernetes.io/hostname' }] } },
      })
      const [{ metadata }] = pods()
      const selected = (metadata as { labels: object }).labels
      expect(the('PodDisruptionBudget', objects).spec).toMatchObject({
        maxUnavailable: 1,
        selector: { matchLabels: selected },
      })
      expect(the('NetworkPolicy', objects).spec).toMatchObject({
        podSelector: { matchLabels: selected },
        policyTypes: ['Ingress', 'Egress'],
      })
    })

    test('permits what its sources follow, the Lease by its name, and nothing else', () => {
      const rules = objects.flatMap((object) => object.rules ?? [])
      expect(permissions(rules)).toEqual(needs(containers()[0].args).toSorted())
      const [{ spec }] = pods()
      const { metadata } = the('ServiceAccount', objects)
      expect(spec.serviceAccountName).toBe(metadata.name)
      for (const { subjects } of objects.filter(({ kind }) => kind.endsWith('RoleBinding'))) {
        expect(subjects).toEqual([{ kind: 'ServiceAccount', name: metadata.name, namespace: metadata.namespace }])
      }
    })
  })

  test('each component permits what its sources follow', async () => {
    for (const component of components) {
      const [patch] = parseAllDocuments(readFileSync(join(deploy, component, 'kustomization.yaml'), 'utf8'))
      const flags = [...String(patch).matchAll(/--source=\S+\w/gu)].map(([flag]) => flag)
      expect(flags, component).not.toEqual([])
      const access = parseAllDocuments(readFileSync(join(deploy, component, 'access.yaml'), 'utf8'))
      const rules = access.flatMap((document) => (document.toJS() as Manifest).rules ?? [])
      expect(permissions(rules), component).toEqual(follows(flags).toSorted())
    }
  })

  test('the rights of the manifest are enough to publish, and to lead', async () => {
    const objects = await permit('publish')
    await cluster.apply(INGRESS)
    const ingress = { resource: 'ingresses', name: 'web', namespace: 'default' }
    await cluster.setStatus(ingress, { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } })

    const [{ args }] = the('Deployment', objects).spec?.template?.spec.containers ?? []
    const here = `--metrics-address=${HOST}:${await freePort()}`
    const flags = args.map((arg) => (arg.startsWith('--metrics-address') ? here : arg))
    const account = await cluster.serviceAccount('holdfast', 'holdfast-publish')
    await using sandbox = disposable(new Sandbox())
    const env = { ETCD_URLS: cluster.etcd.endpoints.join(',') }
    const publisher = sandbox.spawn([...flags, '--kubeconfig', account], 'pipe', env)
    const stored = () => cluster.etcd.etcdctl('get', '--prefix', '/skydns/org/example/web/')
    await Promise.race([until('record', async () => (await stored()).includes('192.0.2.1')), publisher.failure()])
    const holder = ['get', 'lease', LEASE, '-n', 'holdfast', '-o', 'jsonpath={.spec.holderIdentity}']
    expect(await cluster.kubectl(holder)).toContain(hostname())
    expect(publisher.output).not.toMatch(/forbidden|cannot/iu)
  })

  test('the rights of the manifest are enough to serve virtual machines', async () => {
    const objects = await permit('kubevirt')
    await cluster.applyCrds('kubevirt')
    await cluster.apply(VMI)
    const vmi = { resource: 'vmi', name: 'vmi-sec', namespace: 'default' }
    await cluster.setStatus(vmi, { interfaces: [{ name: 'nic1', ipAddress: '10.10.0.5', ipAddresses: ['10.10.0.5'] }] })

    const names = the('ConfigMap', objects).data?.['names.yaml'] ?? ''
    const ports = await Promise.all(['dns', 'health', 'ready', 'metrics'].map(() => freePort()))
    const [port] = ports
    await using sandbox = disposable(new Sandbox())
    const file = sandbox.write(
      'names.yaml',
      names.replaceAll(/:(?:5353|8080|8181|9153)\b/gu, () => `${HOST}:${ports.shift()}`),
    )
    const KUBECONFIG = await cluster.serviceAccount('holdfast', 'holdfast-kubevirt')
    const server = sandbox.spawn(['dns', '--config', file], 'pipe', { KUBECONFIG })
    const answer = () => dig(port, `@${HOST}`, '+short', 'nic1.vmi-sec.default.vm').catch(() => '')
    await Promise.race([until('answer', async () => (await answer()) === '10.10.0.5'), server.failure()])
    expect(server.output).not.toMatch(/forbidden|cannot/iu)
  })

  test('the Corefile for a CoreDNS beside it is one that we take, too', () => {
    const file = join(deploy, 'examples/kubevirt-coredns/Corefile')
    const surroundings = { file, env: {}, readFile: () => '', hostname: 'localhost' }
    expect(() => parseCorefile(readFileSync(file, 'utf8'), surroundings)).not.toThrow()
  })

  test('names of virtual machines are served on 53 and 5353, UDP and TCP', async () => {
    const { objects } = await render('kubevirt')
    const ports = the('Service', objects).spec?.ports?.map(({ port, protocol }) => `${port} ${protocol}`)
    expect(ports?.toSorted()).toEqual(['53 TCP', '53 UDP', '5353 TCP', '5353 UDP'])
  })

  test('K2s has its environment and its certificates, but not the key of the authority', async () => {
    const { objects } = await render('examples/k2s')
    const deployment = the('Deployment', objects)
    expect(deployment.metadata.namespace).toBe('kube-system')
    const spec = deployment.spec?.template?.spec
    expect(spec?.containers[0].env).toEqual([
      { name: 'ETCD_URLS', value: 'https://172.19.1.100:2379' },
      { name: 'ETCD_CERT_FILE', value: '/etc/kubernetes/pki/etcd-client/tls.crt' },
      { name: 'ETCD_KEY_FILE', value: '/etc/kubernetes/pki/etcd-client/tls.key' },
      { name: 'ETCD_CA_FILE', value: '/etc/kubernetes/pki/etcd-ca/tls.crt' },
    ])
    expect(spec).toMatchObject({
      volumes: [
        { name: 'etcd-ca-cert', secret: { secretName: 'etcd-ca', items: [{ key: 'tls.crt', path: 'tls.crt' }] } },
        { name: 'etcd-client-cert', secret: { secretName: 'etcd-client-for-core-dns' } },
      ],
    })
  })
})

function disposable(sandbox: Sandbox): Sandbox & AsyncDisposable {
  return Object.assign(sandbox, { [Symbol.asyncDispose]: () => sandbox.close() })
}

function the(wanted: string, objects: readonly Manifest[]): Manifest {
  const found = objects.filter(({ kind }) => kind === wanted)
  expect(found).toHaveLength(1)
  return found[0]
}

/** `list ingresses.networking.k8s.io`, each once and in order. */
function permissions(rules: readonly PolicyRule[]): string[] {
  const each = rules.flatMap(({ apiGroups, resources, verbs, resourceNames }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((plural) =>
        verbs.map((verb) => [verb, resourceName({ group, plural }), ...(resourceNames ?? [])].join(' ')),
      ),
    ),
  )
  return [...new Set(each)].toSorted()
}

/** What a command line needs to be permitted. */
function needs(args: readonly string[]): string[] {
  if (!args.includes('kubernetes')) return followed(['virtualmachineinstances.kubevirt.io'])
  const lease = 'leases.coordination.k8s.io'
  const leader = [`create ${lease}`, `get ${lease} ${LEASE}`, `update ${lease} ${LEASE}`]
  return [...follows(args), ...(args.includes('--leader-election') ? leader : [])]
}

function follows(args: readonly string[]): string[] {
  const names = args.flatMap((arg) => /^--source=(.*)/u.exec(arg)?.[1] ?? [])
  const sources = endpointSources(names, DEFAULT_SETTINGS)
  return followed(sources.flatMap((source) => source.follows.map(({ resource }) => resourceName(resource))))
}

function followed(resources: readonly string[]): string[] {
  return [...new Set(resources)].flatMap((resource) => [`list ${resource}`, `watch ${resource}`])
}
