// The cases of externaldns.json that are about objects and their endpoints. Objects go the way they go in service: what a
// source follows is selected as the API server does it, cut down to what the source keeps, and applied one by one.
// Where we differ on purpose the case is in DEVIATIONS, and docs/reference/deviations.md says why.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type KubeObject, objectKey, type Selection } from '../../src/kube/resource.ts'
import { matchesSelector, parseSelector } from '../../src/kube/selector.ts'
import { HoldfastError } from '../../src/lib/errors.ts'
import type { Endpoint } from '../../src/names/endpoints/endpoint.ts'
import { mergeEndpoints } from '../../src/names/endpoints/merge-endpoints.ts'
import { annotatedTtl, readAnnotations } from '../../src/names/kubernetes/annotations.ts'
import type { EndpointSource } from '../../src/names/kubernetes/endpoint-source.ts'
import { targetType } from '../../src/names/endpoints/targets.ts'
import { endpointsForHostname, targetSet } from '../../src/names/kubernetes/hostname-endpoints.ts'
import { ingressSource } from '../../src/names/kubernetes/ingress-source.ts'
import { ObjectProblems } from '../../src/names/kubernetes/object-problems.ts'
import { serviceSource } from '../../src/names/kubernetes/service-source.ts'
import { DEFAULT_SETTINGS, type SourceSettings } from '../../src/names/kubernetes/source-settings.ts'
import { nameTemplates } from '../../src/names/kubernetes/template/name-templates.ts'

interface Vector<Input, Expected> {
  readonly id: string
  readonly kind: string
  readonly note: string
  readonly input: Input
  readonly expect: Expected
}

interface VectorOptions {
  readonly namespace?: string
  readonly annotation_filter?: string
  readonly label_filter?: string | Readonly<Record<string, string>>
  readonly fqdn_template?: string
  readonly combine_fqdn_annotation?: boolean
  readonly ignore_hostname_annotation?: boolean
  readonly ignore_ingress_tls_spec?: boolean
  readonly ignore_ingress_rules_spec?: boolean
  readonly ingress_class_names?: readonly string[]
  readonly service_type_filter?: readonly string[]
  readonly publish_internal?: boolean
  /** Not one of our settings. */
  readonly compatibility?: string
}

type VectorObject = KubeObject & { readonly apiVersion: string; readonly kind: string }
type SourceVector = Vector<
  { readonly objects: readonly VectorObject[]; readonly options: VectorOptions },
  { readonly endpoints?: readonly Endpoint[]; readonly error?: boolean }
>

const { cases } = JSON.parse(readFileSync(new URL('externaldns.json', import.meta.url), 'utf8')) as {
  cases: readonly Vector<never, never>[]
}
const ofKind = <Input, Expected>(kind: string) =>
  cases.filter((vector) => vector.kind === kind) as unknown as readonly Vector<Input, Expected>[]

interface Deviation {
  readonly endpoints?: readonly Partial<Endpoint>[]
  readonly problem?: RegExp
  readonly refused?: RegExp
}

const DEVIATIONS: Readonly<Record<string, Deviation>> = {
  'ingress-023': { refused: /^Cannot read selector "kubernetes.io\/ingress.name in \(a b\)"/ },
  'service-027': { endpoints: [] },
  'service-030': { endpoints: [] },
  'service-033': { endpoints: [{ dnsName: 'foo.bar.example.com', recordType: 'A', targets: ['1.2.3.4'] }] },
  'service-034': {
    endpoints: [],
    problem: /^Cannot apply template "{{.Calibre}}.bar.example.com" to Service testing\/foo/,
  },
}

/** What is told of objects in the other cases. */
const PROBLEMS: Readonly<Record<string, RegExp>> = {
  'service-067':
    /^Cannot use host name "this-is-an-exceedingly-long-label-.*: expected labels of at most 63 bytes; it is left out$/,
}

const FACTORIES = { ingress: ingressSource, service: serviceSource } as const

for (const kind of ['ingress', 'service'] as const)
  describe(`vectors of source ${kind}`, () => {
    for (const vector of ofKind<SourceVector['input'], SourceVector['expect']>(kind)) {
      const deviation = DEVIATIONS[vector.id]
      it(`${vector.id}: ${vector.note}${deviation === undefined ? '' : ' (we differ)'}`, () => {
        const settings = settingsOf(vector.input.options)
        if (deviation?.refused !== undefined) {
          expect(() => FACTORIES[kind](settings, nameTemplates(settings))).toThrow(deviation.refused)
          return
        }
        const source = FACTORIES[kind](settings, nameTemplates(settings))
        const { endpoints, problems } = publish(source, vector.input.objects)
        const expected = deviation?.endpoints ?? vector.expect.endpoints ?? []
        const withLabels = expected.some(({ labels }) => labels !== undefined)
        expect(comparable(endpoints, withLabels)).toEqual(comparable(expected, withLabels))
        const problem = deviation?.problem ?? PROBLEMS[vector.id]
        expect(problems).toEqual(problem === undefined ? [] : [expect.stringMatching(problem)])
      })
    }
  })

describe('vectors of the settings of ingresses', () => {
  for (const vector of ofKind<{ readonly options: VectorOptions }, { readonly error: boolean }>('ingress-config'))
    it(`${vector.id}: ${vector.note}`, () => {
      const settings = settingsOf(vector.input.options)
      const make = () => ingressSource(settings, nameTemplates(settings)).name
      if (vector.expect.error) expect(make).toThrow(HoldfastError)
      else expect(make()).toBe('ingress')
    })
})

describe('vectors of types of targets', () => {
  for (const vector of ofKind<{ readonly target: string }, { readonly record_type: string }>('target-type'))
    it(`${vector.id}: ${vector.note}`, () => {
      expect(targetType(vector.input.target)).toBe(vector.expect.record_type)
    })
})

describe('vectors of endpoints of a host name', () => {
  interface Input {
    readonly hostname: string
    readonly targets: readonly string[]
    readonly ttl: number
    readonly set_identifier: string
    readonly resource: string
  }
  for (const vector of ofKind<Input, { readonly endpoints: readonly Endpoint[] }>('hostname-endpoints'))
    it(`${vector.id}: ${vector.note}`, () => {
      const { hostname, targets, ttl, set_identifier: setIdentifier, resource } = vector.input
      const providerSpecific = [{ name: 'provider', value: 'value' }]
      const details = { recordTTL: ttl, setIdentifier, resource, providerSpecific }
      expect(endpointsForHostname(hostname, targetSet(targets), details)).toEqual(vector.expect.endpoints)
    })
})

describe('vectors of annotated TTLs', () => {
  for (const vector of ofKind<{ readonly ttl_annotation: string | null }, { readonly ttl: number }>('ttl-annotation'))
    it(`${vector.id}: ${vector.input.ttl_annotation}`, () => {
      const { ttl_annotation: text } = vector.input
      const problems = new ObjectProblems('ingress', 'default/web')
      const annotations = text === null ? {} : { 'external-dns.kubernetes.io/ttl': text }
      const read = readAnnotations({ metadata: { name: 'web', annotations } }, DEFAULT_SETTINGS.annotationPrefixes)
      expect(annotatedTtl(read, problems) ?? 0).toBe(vector.expect.ttl)
      expect(problems.sentences).toHaveLength(text !== null && vector.expect.ttl === 0 ? 1 : 0)
    })
})

it('every deviation is a case', () => {
  const ids = new Set(cases.map(({ id }) => id))
  expect(Object.keys(DEVIATIONS).filter((id) => !ids.has(id))).toEqual([])
})

function settingsOf(options: VectorOptions): SourceSettings {
  const { namespace, annotation_filter: annotationFilter, label_filter: labels = '', fqdn_template: template } = options
  const labelFilter =
    typeof labels === 'string'
      ? labels
      : Object.entries(labels)
          .map(([key, value]) => `${key}=${value}`)
          .join(',')
  return {
    ...DEFAULT_SETTINGS,
    ...(namespace !== undefined && { namespace }),
    ...(annotationFilter !== undefined && { annotationFilter }),
    ...(labelFilter !== '' && { labelFilter }),
    fqdnTemplates: template === undefined ? [] : [template],
    combineFqdnAnnotation: options.combine_fqdn_annotation ?? false,
    ignoreHostnameAnnotation: options.ignore_hostname_annotation ?? false,
    ignoreIngressTlsSpec: options.ignore_ingress_tls_spec ?? false,
    ignoreIngressRulesSpec: options.ignore_ingress_rules_spec ?? false,
    ingressClassNames: options.ingress_class_names ?? [],
    serviceTypeFilter: options.service_type_filter ?? [],
    publishInternalServices: options.publish_internal ?? false,
  }
}

function publish(source: EndpointSource, objects: readonly VectorObject[]) {
  const roots = new Set<string>()
  for (const object of objects.map(withWholeKeys))
    for (const followed of source.follows)
      if (isSelected(object, followed)) {
        const change = { resource: followed.resource, key: objectKey(object.metadata), object: followed.keep(object) }
        for (const root of source.apply(change)) roots.add(root)
      }
  const results = [...roots].map((root) => source.endpoints(root))
  return {
    endpoints: mergeEndpoints(results.flatMap(({ endpoints }) => endpoints)),
    problems: results.flatMap(({ problems }) => problems),
  }
}

function isSelected({ apiVersion, kind, metadata }: VectorObject, selection: Selection): boolean {
  const { resource, namespace = metadata.namespace, labelSelector = '' } = selection
  const isOfKind =
    apiVersion === (resource.group === '' ? '' : `${resource.group}/`) + resource.version && kind === resource.kind
  return isOfKind && metadata.namespace === namespace && matchesSelector(parseSelector(labelSelector), metadata.labels)
}

/** The key of service-051 was extracted as an expression. */
function withWholeKeys(object: VectorObject): VectorObject {
  const annotations = Object.entries(object.metadata.annotations ?? {}).map(([key, value]) => [
    key.includes("'annotations.AWSPrefix'") ? 'external-dns.kubernetes.io/aws-weight' : key,
    value,
  ])
  return { ...object, metadata: { ...object.metadata, annotations: Object.fromEntries(annotations) } }
}

/** Order does not count; labels do only where the case has them. */
function comparable(endpoints: readonly Partial<Endpoint>[], withLabels: boolean): string[] {
  return endpoints
    .map(({ dnsName, recordType, targets = [], recordTTL = 0, setIdentifier = '', providerSpecific = [], labels }) =>
      JSON.stringify({
        ...{ dnsName, recordType, targets: targets.map((target) => target.toLowerCase()).toSorted() },
        ...{ recordTTL, setIdentifier, providerSpecific, ...(withLabels && { labels }) },
      }),
    )
    .toSorted()
}
