import { describe, expect, it } from 'vitest'
import { ingressSource } from './ingress-source.ts'
import { DEFAULT_SETTINGS, type SourceSettings } from './source-settings.ts'
import { nameTemplates } from './template/name-templates.ts'
import { apply, endpointText } from './testing.ts'

const make = (settings: Partial<SourceSettings> = {}) => {
  const all = { ...DEFAULT_SETTINGS, ...settings }
  return ingressSource(all, nameTemplates(all))
}
const ingress = (parts: { annotations?: Record<string, string>; spec?: object; ips?: readonly string[] }) => ({
  metadata: { name: 'web', namespace: 'default', annotations: parts.annotations ?? {} },
  spec: parts.spec ?? { rules: [{ host: 'web.example.org' }] },
  status: { loadBalancer: { ingress: (parts.ips ?? ['192.0.2.1']).map((ip) => ({ ip, ports: [{ port: 80 }] })) } },
})
const texts = (source = make(), root = 'ingress/default/web') => source.endpoints(root).endpoints.map(endpointText)

describe('ingressSource', () => {
  it('follows an ingress from its first address to its end', () => {
    const source = make()
    expect(apply(source, 'Ingress', 'default/web', ingress({ ips: [] }))).toEqual(['ingress/default/web'])
    expect(texts(source)).toEqual([])
    apply(source, 'Ingress', 'default/web', ingress({ ips: ['192.0.2.7'] }))
    expect(texts(source)).toEqual(['web.example.org A 192.0.2.7'])
    expect(source.endpoints('ingress/default/web').endpoints[0].labels).toEqual({ resource: 'ingress/default/web' })
    expect(apply(source, 'Ingress', 'default/web', undefined)).toEqual(['ingress/default/web'])
    expect(texts(source)).toEqual([])
  })

  it('asks for a host once, though a rule, a certificate and an annotation name it', () => {
    const source = make()
    const spec = { rules: [{ host: 'web.example.org' }, {}], tls: [{ hosts: ['web.example.org', 'b.org'] }, {}] }
    const annotations = { 'external-dns.alpha.kubernetes.io/hostname': 'WEB.example.org,c.org' }
    apply(source, 'Ingress', 'default/web', ingress({ annotations, spec }))
    expect(texts(source)).toEqual(['web.example.org A 192.0.2.1', 'b.org A 192.0.2.1', 'c.org A 192.0.2.1'])
  })

  it('forgets an ingress that gets another class, controller or annotation', () => {
    const source = make({ ingressClassNames: ['public'], annotationFilter: 'team=a' })
    const wanted = { 'kubernetes.io/ingress.class': 'public', team: 'a' }
    const others = [{ ...wanted, team: 'b' }, { ...wanted, 'kubernetes.io/ingress.class': 'x' }, { team: 'a' }]
    for (const annotations of [...others, { ...wanted, 'external-dns.kubernetes.io/controller': 'x' }]) {
      apply(source, 'Ingress', 'default/web', ingress({ annotations: wanted }))
      expect(texts(source)).toEqual(['web.example.org A 192.0.2.1'])
      apply(source, 'Ingress', 'default/web', ingress({ annotations }))
      expect(texts(source)).toEqual([])
    }
  })

  it('goes by the class in the spec, where there is one', () => {
    const source = make({ ingressClassNames: ['public'] })
    const annotations = { 'kubernetes.io/ingress.class': 'public' }
    const rules = [{ host: 'web.example.org' }]
    apply(source, 'Ingress', 'default/web', ingress({ annotations, spec: { ingressClassName: 'internal', rules } }))
    expect(texts(source)).toEqual([])
    apply(source, 'Ingress', 'default/web', ingress({ spec: { ingressClassName: 'public', rules } }))
    expect(texts(source)).toEqual(['web.example.org A 192.0.2.1'])
  })

  it('refuses the class as a setting and in the annotation filter at once', () => {
    const settings = { ingressClassNames: ['nginx'], annotationFilter: 'kubernetes.io/ingress.class=nginx' }
    expect(() => make(settings)).toThrow(
      'Cannot use annotation filter "kubernetes.io/ingress.class=nginx": it selects by kubernetes.io/ingress.class beside --ingress-class; expected one of the two',
    )
  })

  it('tells of a bad TTL, a bad host and a bad choice of hosts, and goes on with the rest', () => {
    const source = make()
    const annotations = {
      'external-dns.kubernetes.io/ttl': 'soon',
      'external-dns.kubernetes.io/hostname': 'good.example.org,not a/host',
    }
    apply(source, 'Ingress', 'default/web', ingress({ annotations }))
    expect(texts(source)).toEqual(['web.example.org A 192.0.2.1', 'good.example.org A 192.0.2.1'])
    expect(source.endpoints('ingress/default/web').problems).toEqual([
      expect.stringMatching(/^Cannot use ttl "soon" of ingress default\/web: /),
      expect.stringMatching(/^Cannot use host name "nota\/host" of ingress default\/web: /),
    ])
    const chosen = { 'external-dns.kubernetes.io/ingress-hostname-source': 'rules' }
    apply(source, 'Ingress', 'default/web', ingress({ annotations: chosen }))
    expect(source.endpoints('ingress/default/web')).toEqual({
      endpoints: [],
      problems: [
        'Cannot use ingress-hostname-source "rules" of ingress default/web: expected defined-hosts-only or annotation-only; none of its hosts is used',
      ],
    })
  })

  it('tells of a template that does not fit an object, and goes on with its hosts', () => {
    const source = make({ fqdnTemplates: ['{{.Nothing}}.example.org'], combineFqdnAnnotation: true })
    apply(source, 'Ingress', 'default/web', ingress({}))
    expect(texts(source)).toEqual(['web.example.org A 192.0.2.1'])
    expect(source.endpoints('ingress/default/web').problems).toEqual([
      expect.stringMatching(/^Cannot apply template "\{\{\.Nothing\}\}\.example\.org" to Ingress default\/web: /),
    ])
  })

  it('keeps what it reads, and with templates everything but noise', () => {
    const raw = {
      ...ingress({ annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', 'example.org/x': '1' } }),
      kind: 'Ingress',
    }
    const metadata = { ...raw.metadata, labels: { app: 'web' }, managedFields: [{ manager: 'kubectl' }] }
    const spec = { rules: [{ host: 'web.example.org', http: { paths: [] } }], defaultBackend: {} }
    const object = { ...raw, metadata, spec }
    expect(make().follows[0].keep(object)).toEqual({
      metadata: { name: 'web', namespace: 'default' },
      spec: { rules: [{ host: 'web.example.org' }], tls: [] },
      status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
    })
    const { managedFields: _, ...clean } = metadata
    expect(make({ fqdnTemplates: ['{{.Name}}.example.org'] }).follows[0].keep(object)).toEqual({
      ...object,
      metadata: { ...clean, annotations: { 'example.org/x': '1' } },
    })
    expect(make({ annotationFilter: 'example.org/x' }).follows[0].keep(object).metadata.annotations).toEqual({
      'example.org/x': '1',
    })
  })
})
