// The annotations that ExternalDNS reads, by their name without the prefix: `hostname`, `ttl`. Which prefixes there are
// is a setting; of two with the same name, the one under the earlier prefix counts.

import type { KubeObject } from '../../kube/resource.ts'
import type { ProviderProperty } from '../endpoints/endpoint.ts'
import { parseTtl } from './annotations-ttl.ts'
import type { EndpointDetails } from './hostname-endpoints.ts'
import { MOST_LISTED } from './object-limits.ts'
import type { ObjectProblems } from './object-problems.ts'

export type Annotations = ReadonlyMap<string, string>

export function readAnnotations({ metadata }: KubeObject, prefixes: readonly string[]): Annotations {
  const found = new Map<string, string>()
  const entries = Object.entries(metadata.annotations ?? {})
  for (const prefix of prefixes)
    for (const [key, value] of entries) {
      const name = key.slice(prefix.length)
      if (key.startsWith(prefix) && !found.has(name)) found.set(name, value)
    }
  return found
}

/** Every annotation, those of later prefixes under the first one as well: for selectors and templates. */
export function annotationsByFirstPrefix(
  object: KubeObject,
  prefixes: readonly string[],
): Readonly<Record<string, string>> {
  const [first = ''] = prefixes
  const all: Record<string, string> = { ...object.metadata.annotations }
  for (const [name, value] of readAnnotations(object, prefixes)) all[first + name] = value
  return all
}

/** An object can name the program that is to take care of it; `dns-controller` means ours. */
export function isForAnotherController(annotations: Annotations): boolean {
  return (annotations.get('controller') ?? 'dns-controller') !== 'dns-controller'
}

/** Names or targets by commas, without final dots; of an endless list the beginning. */
export function annotatedList(annotations: Annotations, name: 'hostname' | 'internal-hostname' | 'target'): string[] {
  return (annotations.get(name) ?? '')
    .split(',', MOST_LISTED + 1)
    .map((item) => item.replace(/\s/gu, '').replace(/\.$/u, ''))
    .filter((item) => item !== '')
}

/** Seconds; undefined when nobody said. */
export function annotatedTtl(annotations: Annotations, problems: ObjectProblems): number | undefined {
  const text = annotations.get('ttl')
  if (text === undefined) return undefined
  const ttl = parseTtl(text)
  if (ttl === undefined)
    problems.unusable(
      'ttl',
      text,
      'neither seconds (1 to 2147483647) nor a duration such as 10m',
      'the default TTL is used',
    )
  return ttl
}

/** What every endpoint of an object has from its annotations. */
export function endpointDetails(annotations: Annotations, resource: string, problems: ObjectProblems): EndpointDetails {
  const recordTTL = annotatedTtl(annotations, problems)
  const setIdentifier = annotations.get('set-identifier') ?? ''
  return {
    resource,
    providerSpecific: providerProperties(annotations),
    ...(recordTTL !== undefined && { recordTTL }),
    ...(setIdentifier !== '' && { setIdentifier }),
  }
}

/** `<prefix>aws-weight` becomes the property `aws/weight`. */
const PROVIDERS: readonly string[] = ['aws', 'scw', 'webhook', 'coredns']
const SINGLE_PROPERTIES: Readonly<Record<string, string>> = {
  'record-type': 'record-type',
  'azure-tags': 'azure/tags',
  'cloudflare-proxied': 'cloudflare/proxied',
  'cloudflare-custom-hostname': 'cloudflare/custom-hostname',
  'cloudflare-region-key': 'cloudflare/region-key',
  'cloudflare-record-comment': 'cloudflare/record-comment',
  'cloudflare-tags': 'cloudflare/tags',
}

function providerProperties(annotations: Annotations): ProviderProperty[] {
  const properties: ProviderProperty[] = []
  for (const [annotation, value] of annotations) {
    const name = propertyName(annotation, value)
    if (name !== undefined) properties.push({ name, value })
  }
  return properties.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function propertyName(annotation: string, value: string): string | undefined {
  if (annotation === 'alias') return value === 'true' ? 'alias' : undefined
  const provider = PROVIDERS.find((each) => annotation.startsWith(`${each}-`))
  if (provider === undefined) return SINGLE_PROPERTIES[annotation]
  return `${provider}/${annotation.slice(provider.length + 1)}`
}
