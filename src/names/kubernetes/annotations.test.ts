import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../kube/resource.ts'
import { annotatedList, annotationsByFirstPrefix, endpointDetails, readAnnotations } from './annotations.ts'
import { objectFilter, selectedBy } from './annotations-filter.ts'
import { parseTtl } from './annotations-ttl.ts'
import { ObjectProblems } from './object-problems.ts'
import { DEFAULT_SETTINGS } from './source-settings.ts'

const PREFIXES = DEFAULT_SETTINGS.annotationPrefixes
const annotated = (annotations: Record<string, string>): KubeObject => ({ metadata: { name: 'web', annotations } })
const read = (annotations: Record<string, string>) => readAnnotations(annotated(annotations), PREFIXES)

describe('readAnnotations', () => {
  it('reads both prefixes, and of two with one name the one under the first', () => {
    const annotations = read({
      'external-dns.alpha.kubernetes.io/hostname': 'old.example.org',
      'external-dns.alpha.kubernetes.io/ttl': '60',
      'external-dns.kubernetes.io/hostname': 'new.example.org',
      'example.org/hostname': 'other.example.org',
    })
    expect(Object.fromEntries(annotations)).toEqual({ hostname: 'new.example.org', ttl: '60' })
  })

  it('takes lists apart, without spaces, final dots and empty items', () => {
    expect(
      annotatedList(read({ 'external-dns.kubernetes.io/hostname': ' a.org., b.org,\n c.org,,' }), 'hostname'),
    ).toEqual(['a.org', 'b.org', 'c.org'])
    expect(annotatedList(read({ 'external-dns.kubernetes.io/hostname': '' }), 'hostname')).toEqual([])
  })

  it('offers what stands under the later prefix under the first, for selectors and templates', () => {
    const object = annotated({ 'external-dns.alpha.kubernetes.io/access': 'public', 'example.org/x': '1' })
    expect(annotationsByFirstPrefix(object, PREFIXES)).toEqual({
      'external-dns.alpha.kubernetes.io/access': 'public',
      'external-dns.kubernetes.io/access': 'public',
      'example.org/x': '1',
    })
  })
})

describe('endpointDetails', () => {
  const details = (annotations: Record<string, string>, problems = new ObjectProblems('ingress', 'default/web')) =>
    endpointDetails(read(annotations), 'ingress/default/web', problems)

  it('has what the annotations say', () => {
    expect(
      details({
        'external-dns.kubernetes.io/ttl': '1m',
        'external-dns.kubernetes.io/set-identifier': 'blue',
        'external-dns.kubernetes.io/alias': 'true',
        'external-dns.kubernetes.io/record-type': 'ptr',
        'external-dns.kubernetes.io/aws-weight': '10',
        'external-dns.alpha.kubernetes.io/coredns-group': 'g1',
        'external-dns.kubernetes.io/webhook-some-thing': 'x',
        'external-dns.kubernetes.io/scw-one': '1',
        'external-dns.kubernetes.io/azure-tags': 'a=b',
        'external-dns.kubernetes.io/cloudflare-proxied': 'true',
        'external-dns.kubernetes.io/cloudflare-unknown': 'true',
      }),
    ).toEqual({
      resource: 'ingress/default/web',
      recordTTL: 60,
      setIdentifier: 'blue',
      providerSpecific: [
        { name: 'alias', value: 'true' },
        { name: 'aws/weight', value: '10' },
        { name: 'azure/tags', value: 'a=b' },
        { name: 'cloudflare/proxied', value: 'true' },
        { name: 'coredns/group', value: 'g1' },
        { name: 'record-type', value: 'ptr' },
        { name: 'scw/one', value: '1' },
        { name: 'webhook/some-thing', value: 'x' },
      ],
    })
  })

  it('takes an alias only when it is true', () => {
    expect(details({ 'external-dns.kubernetes.io/alias': 'A' }).providerSpecific).toEqual([])
  })

  it('tells of a TTL that is none, and goes on without it', () => {
    const problems = new ObjectProblems('ingress', 'default/web')
    expect(details({ 'external-dns.kubernetes.io/ttl': 'abc' }, problems).recordTTL).toBeUndefined()
    expect(problems.sentences).toEqual([
      'Cannot use ttl "abc" of ingress default/web: neither seconds (1 to 2147483647) nor a duration such as 10m; the default TTL is used',
    ])
  })

  it('keeps what it quotes on one line, and short', () => {
    const problems = new ObjectProblems('ingress', 'default/web')
    details({ 'external-dns.kubernetes.io/ttl': `1\n${'9'.repeat(300)}` }, problems)
    expect(problems.sentences[0]).toMatch(/^Cannot use ttl "1\\n9{98}…" of /)
  })
})

describe('parseTtl', () => {
  const valid: Readonly<Record<string, number>> = {
    ...{ '1': 1, '+60': 60, '0600': 600, '2147483647': 2_147_483_647 },
    ...{ '10m': 600, '1h30m': 5400, '20.5s': 20, '.5m': 30, '1.s': 1, '1m500ms': 60, '+3s': 3 },
    ...{ '0.05m': 3, '1000000µs': 1, '1000000μs': 1, '1000000000ns': 1, '0.1s0.2s0.7s': 1 },
  }
  for (const [text, seconds] of Object.entries(valid)) it(`reads ${text}`, () => expect(parseTtl(text)).toBe(seconds))

  const invalid = [
    '',
    '0',
    '-1',
    '-5s',
    '999ms',
    '2147483648',
    '600000h',
    '1d',
    '5 s',
    '1e3',
    's',
    '.s',
    '0x10',
    '1,5s',
  ]
  for (const text of invalid) it(`refuses "${text}"`, () => expect(parseTtl(text)).toBeUndefined())

  it('is quick to refuse a long text', () => {
    expect(parseTtl('1'.repeat(250_000).concat('x'))).toBeUndefined()
  })
})

describe('objectFilter', () => {
  it('leaves out what is for another controller, under either prefix', () => {
    const isOurs = objectFilter(DEFAULT_SETTINGS)
    expect(isOurs(annotated({ 'external-dns.alpha.kubernetes.io/controller': 'other' }))).toBe(false)
    expect(isOurs(annotated({ 'external-dns.kubernetes.io/controller': 'dns-controller' }))).toBe(true)
    expect(isOurs({ metadata: { name: 'web' } })).toBe(true)
  })

  it('selects by annotations; a filter for the first prefix finds the other, too', () => {
    const isOurs = objectFilter({ ...DEFAULT_SETTINGS, annotationFilter: 'external-dns.kubernetes.io/access=public' })
    expect(isOurs(annotated({ 'external-dns.alpha.kubernetes.io/access': 'public' }))).toBe(true)
    expect(isOurs(annotated({ 'external-dns.alpha.kubernetes.io/access': 'private' }))).toBe(false)
    expect(isOurs({ metadata: { name: 'web' } })).toBe(false)
  })

  it('refuses filters that cannot be read', () => {
    expect(() => objectFilter({ ...DEFAULT_SETTINGS, annotationFilter: 'a in (b' })).toThrow('Cannot read selector')
    expect(() => selectedBy({ ...DEFAULT_SETTINGS, labelFilter: 'a in (b' })).toThrow('Cannot read selector')
  })

  it('leaves namespace and labels to the API server', () => {
    expect(selectedBy({ ...DEFAULT_SETTINGS, namespace: 'apps', labelFilter: 'app=web' })).toEqual({
      namespace: 'apps',
      labelSelector: 'app=web',
    })
    expect(selectedBy(DEFAULT_SETTINGS)).toEqual({})
  })
})
