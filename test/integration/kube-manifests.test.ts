// What deploy/kubernetes renders to, held to a real API server, and to the sources that run with it.

import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { resourceName } from '../../src/kube/resource.ts'
import { endpointSources } from '../../src/names/kubernetes/endpoint-sources.ts'
import { DEFAULT_SETTINGS } from '../../src/names/kubernetes/source-settings.ts'
import { describeWithKubernetes } from '../support/describe-with-kubernetes.ts'
import { KubeCluster, type PolicyRule } from '../support/kube-cluster.ts'

const root = join(import.meta.dirname, '../..')
const deploy = join(root, 'deploy/kubernetes')
const manifests = globSync(['{kubevirt,publish}/kustomization.yaml', 'examples/*/kustomization.yaml'], { cwd: deploy })
  .map(dirname)
  .toSorted()
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
    cluster = await KubeCluster.start({ host: '127.112.0.5' })
    await cluster.apply(`
apiVersion: v1
kind: Namespace
metadata: { name: strict, labels: { pod-security.kubernetes.io/enforce: restricted } }
`)
  }, 90_000)
  afterAll(() => cluster?.stop())

  const render = async (folder: string): Promise<{ text: string; objects: Manifest[] }> => {
    const text = await cluster.kubectl(['kustomize', join(deploy, folder)])
    return { text, objects: parseAllDocuments(text).map((document) => document.toJS() as Manifest) }
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
  const leader = [`create ${lease}`, `get ${lease} holdfast-publish`, `update ${lease} holdfast-publish`]
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
