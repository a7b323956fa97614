import { describe, expect, it } from 'vitest'
import { nodeSource } from './node-source.ts'
import { DEFAULT_SETTINGS, type SourceSettings } from './source-settings.ts'
import { nameTemplates } from './template/name-templates.ts'
import { apply, endpointText } from './testing.ts'

const make = (settings: Partial<SourceSettings> = {}) => {
  const all = { ...DEFAULT_SETTINGS, ...settings }
  return nodeSource(all, nameTemplates(all))
}
const ADDRESSES = { '203.0.113.1': 'ExternalIP', '10.9.0.1': 'InternalIP', '2001:db8::1': 'InternalIP', w1: 'Hostname' }
const node = (parts: { addresses?: Record<string, string>; annotations?: Record<string, string>; spec?: object }) => ({
  metadata: { name: 'w1', annotations: parts.annotations ?? {} },
  spec: parts.spec ?? {},
  status: { addresses: Object.entries(parts.addresses ?? ADDRESSES).map(([address, type]) => ({ type, address })) },
})
const published = (settings: Partial<SourceSettings>, parts: Parameters<typeof node>[0] = {}) => {
  const source = make(settings)
  expect(apply(source, 'Node', 'w1', node(parts))).toEqual(['node/w1'])
  return source.endpoints('node/w1').endpoints.map(endpointText)
}

describe('nodeSource', () => {
  it('gives a node its own name, to its external addresses', () => {
    expect(published({})).toEqual(['w1 A 203.0.113.1'])
    expect(published({ exposeInternalIpv6: true })).toEqual(['w1 A 203.0.113.1', 'w1 AAAA 2001:db8::1'])
    const source = make()
    apply(source, 'Node', 'w1', node({}))
    expect(source.endpoints('node/w1').endpoints[0].labels).toEqual({ resource: 'node/w1' })
  })

  it('takes internal addresses of a node that has no others', () => {
    const addresses = { '10.9.0.1': 'InternalIP', '2001:db8::1': 'InternalIP' }
    expect(published({}, { addresses })).toEqual(['w1 A 10.9.0.1', 'w1 AAAA 2001:db8::1'])
  })

  it('takes annotated targets and the TTL, but no properties of providers; aliases stay apart', () => {
    const annotations = {
      'external-dns.kubernetes.io/target': 'a.org,b.org',
      'external-dns.kubernetes.io/ttl': '60',
      'external-dns.kubernetes.io/aws-weight': '1',
      'external-dns.kubernetes.io/set-identifier': 'blue',
    }
    expect(published({}, { annotations })).toEqual(['w1 CNAME a.org ttl=60', 'w1 CNAME b.org ttl=60'])
  })

  it('has names of templates instead of its own, or beside it', () => {
    const fqdnTemplates = ['{{.Name}}.example.org']
    expect(published({ fqdnTemplates })).toEqual(['w1.example.org A 203.0.113.1'])
    expect(published({ fqdnTemplates, combineFqdnAnnotation: true })).toEqual([
      ...['w1 A 203.0.113.1', 'w1.example.org A 203.0.113.1'],
    ])
    const fqdnTargetTemplates = ['{{.Name}}.pair.org:192.0.2.9']
    expect(published({ fqdnTargetTemplates })).toEqual(['w1.pair.org A 192.0.2.9'])
  })

  it('leaves out nodes that take no work, unless they are wanted', () => {
    const spec = { unschedulable: true }
    expect(published({}, { spec })).toEqual([])
    expect(published({ excludeUnschedulable: false }, { spec })).toEqual(['w1 A 203.0.113.1'])
  })

  it('tells of a node without an address', () => {
    const source = make()
    apply(source, 'Node', 'w1', node({ addresses: { w1: 'Hostname' } }))
    expect(source.endpoints('node/w1')).toEqual({
      endpoints: [],
      problems: ['Cannot find an address of node w1: it has no names until it has one'],
    })
  })

  it('follows nodes by label, in no namespace', () => {
    const [followed] = make({ namespace: 'apps', labelFilter: 'pool=edge' }).follows
    expect(followed).toMatchObject({ resource: { plural: 'nodes' }, labelSelector: 'pool=edge' })
    expect(followed.namespace).toBeUndefined()
  })
})
