// Names that are written down as such: objects DNSEndpoint have a list of endpoints.

import type { KubeObject, Resource } from '../../kube/resource.ts'
import { matchesSelector, parseSelector } from '../../kube/selector.ts'
import { HoldfastError } from '../../lib/errors.ts'
import { type Endpoint, LABEL, type ProviderProperty } from '../endpoints/endpoint.ts'
import { annotationsByFirstPrefix } from './annotations.ts'
import { selectedBy } from './annotations-filter.ts'
import { endpointFault } from './dns-endpoint-check.ts'
import type { EndpointSource, RootEndpoints } from './endpoint-source.ts'
import { usableHostnames } from './hostname-check.ts'
import { pick } from './kept-object.ts'
import { MOST_RECORDS } from './object-limits.ts'
import { ObjectProblems } from './object-problems.ts'
import type { SourceSettings } from './source-settings.ts'

interface DnsEndpoint extends KubeObject {
  readonly spec?: { readonly endpoints?: readonly (WrittenEndpoint | null)[] }
}

interface WrittenEndpoint {
  readonly dnsName?: string
  readonly recordType?: string
  readonly targets?: readonly string[]
  readonly recordTTL?: number
  readonly setIdentifier?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly providerSpecific?: readonly ProviderProperty[]
}

export function dnsEndpointSource(settings: SourceSettings): EndpointSource {
  const { annotationFilter = '', annotationPrefixes } = settings
  const selector = parseSelector(annotationFilter)
  const objects = new Map<string, DnsEndpoint>()

  return {
    name: 'crd',
    follows: [
      {
        resource: resourceOf(settings),
        ...selectedBy(settings),
        keep: (object) => kept(object, annotationFilter !== ''),
      },
    ],
    apply({ key, object }) {
      const root = `crd/${key}`
      if (object !== undefined && matchesSelector(selector, annotationsByFirstPrefix(object, annotationPrefixes)))
        objects.set(root, object)
      else objects.delete(root)
      return [root]
    },
    endpoints(root) {
      const object = objects.get(root)
      return object === undefined ? { endpoints: [], problems: [] } : writtenEndpoints(object, root)
    },
  }
}

function writtenEndpoints({ spec }: DnsEndpoint, root: string): RootEndpoints {
  const problems = new ObjectProblems('dnsendpoint', root.slice('crd/'.length))
  const endpoints = (spec?.endpoints ?? []).slice(0, MOST_RECORDS + 1).flatMap((written) =>
    usableHostnames([written?.dnsName ?? ''], problems).flatMap((dnsName) => {
      const endpoint = endpointOf(dnsName, written ?? {}, root)
      const fault = endpointFault(endpoint)
      if (fault === undefined) return [endpoint]
      problems.unusable(fault.what, fault.value, fault.reason, `endpoint ${dnsName} is left out`)
      return []
    }),
  )
  return { endpoints, problems: problems.sentences }
}

function endpointOf(dnsName: string, written: WrittenEndpoint, root: string): Endpoint {
  const { recordType = '', targets = [], recordTTL = 0, setIdentifier = '', labels, providerSpecific = [] } = written
  return {
    ...{ dnsName, recordType, targets: [...new Set(targets)].toSorted() },
    ...(recordTTL > 0 && { recordTTL }),
    ...(setIdentifier !== '' && { setIdentifier }),
    labels: { ...labels, [LABEL.resource]: root },
    providerSpecific,
  }
}

function resourceOf({ crdApiVersion, crdKind }: SourceSettings): Resource {
  const [, group, version] = /^([^/]+)\/([^/]+)$/u.exec(crdApiVersion) ?? []
  if (group === undefined || version === undefined)
    throw new HoldfastError(
      'Usage',
      `Cannot use API version "${crdApiVersion}": expected a group and a version such as externaldns.k8s.io/v1alpha1`,
    )
  return { group, version, plural: `${crdKind.toLowerCase()}s`, kind: crdKind, namespaced: true }
}

function kept(object: KubeObject, withAnnotations: boolean): KubeObject {
  const { metadata, spec } = object as DnsEndpoint
  const result: DnsEndpoint = {
    metadata: {
      name: metadata.name,
      ...pick(metadata, ['namespace']),
      ...(withAnnotations && pick(metadata, ['annotations'])),
    },
    spec: pick(spec, ['endpoints']),
  }
  return result
}
