import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { KubeObject, ObjectChange } from '../../kube/resource.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { EndpointSource } from './endpoint-source.ts'
import { endpointSources } from './endpoint-sources.ts'
import { limitedEndpoints, MOST_NAMES, MOST_RECORDS, MOST_TARGETS } from './object-limits.ts'
import { DEFAULT_SETTINGS } from './source-settings.ts'

const PREFIX = 'external-dns.alpha.kubernetes.io/'
const NAMES = Array.from({ length: 9000 }, (_, i) => `n${i}.example.org`).join(',')
const TARGETS = Array.from({ length: 10_000 }, (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)

function metadata(annotations: Readonly<Record<string, string>>) {
  const prefixed = Object.entries(annotations).map(([name, value]) => [PREFIX + name, value])
  return { name: 'bomb', namespace: 'tenant', annotations: Object.fromEntries(prefixed) as Record<string, string> }
}

function apply(source: EndpointSource, plural: string, object: object): readonly string[] {
  const resource = source.follows.find((each) => each.resource.plural === plural)?.resource
  if (resource === undefined) throw new Error(`nobody follows ${plural}`)
  const { name, namespace } = (object as KubeObject).metadata
  const change: ObjectChange = {
    resource,
    key: namespace === undefined ? name : `${namespace}/${name}`,
    object: object as KubeObject,
  }
  return source.apply(change)
}

function measure(root: string, source: EndpointSource) {
  const { endpoints, problems } = limitedEndpoints(root, source.endpoints(root))
  const names = new Set(endpoints.map(({ dnsName }) => dnsName))
  const records = endpoints.reduce((sum, { targets }) => sum + targets.length, 0)
  const longest = Math.max(0, ...endpoints.map(({ targets }) => targets.length))
  return { endpoints, problems, names: names.size, records, longest }
}

describe('one object', () => {
  test.each(['ingress', 'service', 'node'])('of kind %s with thousands of names and targets has its share', (kind) => {
    const [source] = endpointSources([kind], { ...DEFAULT_SETTINGS, fqdnTemplates: [], combineFqdnAnnotation: false })
    const plural = { ingress: 'ingresses', service: 'services', node: 'nodes' }[kind] ?? ''
    const object = {
      metadata: metadata({ hostname: NAMES, target: TARGETS.join(',') }),
      spec: { type: 'LoadBalancer', rules: [] },
      status: {},
    }
    const [root] = apply(source, plural, object)
    const { endpoints, problems, names, records, longest } = measure(root, source)
    expect(longest).toBe(MOST_TARGETS)
    expect(records).toBeLessThanOrEqual(MOST_RECORDS)
    expect(names).toBe(kind === 'node' ? 1 : MOST_RECORDS / MOST_TARGETS)
    expect(problems.join(' ')).toContain(`more than ${MOST_TARGETS} targets of a name; the rest is left out`)
    // The list of targets is there once, whatever the number of names.
    expect(new Set(endpoints.map(({ targets }) => targets)).size).toBe(1)
  })

  test('a headless service of many names and pods has its share', () => {
    const [source] = endpointSources(['service'], DEFAULT_SETTINGS)
    const [root] = apply(source, 'services', {
      metadata: metadata({ hostname: NAMES }),
      spec: { type: 'ClusterIP', clusterIP: 'None', selector: { app: 'web' } },
    })
    const pods = Array.from({ length: 2000 }, (_, i) => `p${i}`)
    for (const [i, name] of pods.entries())
      apply(source, 'pods', {
        metadata: { name, namespace: 'tenant', labels: { app: 'web' } },
        spec: { hostname: name },
        status: { podIP: TARGETS[i] },
      })
    apply(source, 'endpointslices', {
      metadata: { name: 'slice', namespace: 'tenant', labels: { 'kubernetes.io/service-name': 'bomb' } },
      addressType: 'IPv4',
      endpoints: pods.map((name, i) => ({
        addresses: [TARGETS[i]],
        conditions: { ready: true },
        targetRef: { kind: 'Pod', name },
      })),
    })
    const { records, names, problems } = measure(root, source)
    expect(records).toBeLessThanOrEqual(MOST_RECORDS)
    expect(names).toBeGreaterThan(0)
    expect(names).toBeLessThanOrEqual(MOST_NAMES)
    expect(problems.length).toBeGreaterThan(0)
  })

  test('a route of many names, below a Gateway with many targets, has its share', () => {
    const [source] = endpointSources(['gateway-httproute'], DEFAULT_SETTINGS)
    apply(source, 'gateways', {
      metadata: { ...metadata({ target: TARGETS.join(',') }), name: 'gateway' },
      spec: {
        listeners: Array.from({ length: 64 }, (_, i) => ({
          name: `l${i}`,
          ...{ port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } },
        })),
      },
    })
    const parentRef = { name: 'gateway', namespace: 'tenant' }
    const [root] = apply(source, 'httproutes', {
      metadata: metadata({ hostname: NAMES }),
      spec: { parentRefs: [parentRef], hostnames: ['a.example.org'] },
      status: { parents: [{ parentRef, conditions: [{ type: 'Accepted', status: 'True' }] }] },
    })
    const { endpoints, records, longest } = measure(root, source)
    expect([records, longest]).toEqual([MOST_RECORDS, MOST_TARGETS])
    expect(new Set(endpoints.map(({ targets }) => targets)).size).toBe(1)
  })

  test('a DNSEndpoint has its share', () => {
    const [source] = endpointSources(['crd'], DEFAULT_SETTINGS)
    const [root] = apply(source, 'dnsendpoints', {
      metadata: metadata({}),
      spec: {
        endpoints: Array.from({ length: 20_000 }, (_, i) => ({
          dnsName: `n${i}.example.org`,
          recordType: 'A',
          targets: i === 0 ? TARGETS : ['192.0.2.1'],
        })),
      },
    })
    const { names, longest, problems } = measure(root, source)
    expect([names, longest]).toEqual([MOST_NAMES, MOST_TARGETS])
    expect(problems[0]).toBe(
      'Cannot use all of crd/tenant/bomb: it has more than 1000 targets of a name, 1000 names; the rest is left out',
    )
  })
})

test('whatever an object asks for, it has no more than its share, in its order, and all of it when that is less', () => {
  const endpoint = fc.record({ name: fc.nat(1500), targets: fc.constantFrom(0, 1, 7, 900, 1000, 1001, 3000) })
  fc.assert(
    fc.property(fc.array(endpoint, { maxLength: 60 }), fc.nat(1500), (wanted, plain) => {
      const all = [...wanted, ...Array.from({ length: plain }, (_, name) => ({ name, targets: 1 }))]
      const endpoints: Endpoint[] = all.map(({ name, targets }) => ({
        ...{ dnsName: `n${name}`, recordType: 'A', targets: TARGETS.slice(0, targets) },
        ...{ labels: {}, providerSpecific: [] },
      }))
      const limited = limitedEndpoints('ingress/a/b', { endpoints, problems: ['other'] })
      const records = limited.endpoints.reduce((sum, { targets }) => sum + targets.length, 0)
      expect(records).toBeLessThanOrEqual(MOST_RECORDS)
      expect(new Set(limited.endpoints.map(({ dnsName }) => dnsName)).size).toBeLessThanOrEqual(MOST_NAMES)
      expect(limited.endpoints.every(({ targets }) => targets.length <= MOST_TARGETS)).toBe(true)
      const isLess =
        all.reduce((sum, { targets }) => sum + targets, 0) <= MOST_RECORDS &&
        new Set(all.map(({ name }) => name)).size <= MOST_NAMES &&
        all.every(({ targets }) => targets <= MOST_TARGETS)
      if (isLess) expect(limited).toEqual({ endpoints, problems: ['other'] })
      else expect(limited.problems).toHaveLength(2)
    }),
  )
})
