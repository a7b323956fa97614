// Names of services: those annotated, or those of a template.

import type { ObjectChange } from '../../kube/resource.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { annotatedList, endpointDetails, readAnnotations } from './annotations.ts'
import { objectFilter, selectedBy } from './annotations-filter.ts'
import type { EndpointSource, FollowedObjects, RootEndpoints } from './endpoint-source.ts'
import { usableHostnames } from './hostname-check.ts'
import type { TargetSet } from './hostname-endpoints.ts'
import { keeper, keptMetadata } from './kept-object.ts'
import { MOST_RECORDS } from './object-limits.ts'
import { keptNodeParts, type Node, NODES } from './node-object.ts'
import { ObjectProblems } from './object-problems.ts'
import { serviceEndpoints } from './service-endpoints.ts'
import { type HeadlessTargets, headlessTargets } from './service-headless.ts'
import type { NamedService } from './service-named.ts'
import {
  ENDPOINT_SLICES,
  keepSlice,
  keptServiceParts,
  PODS,
  podKeeper,
  SERVICE_NAME,
  SERVICES,
  type Service,
} from './service-objects.ts'
import { ServiceRelations } from './service-relations.ts'
import { type ServiceTypes, serviceTypes } from './service-types.ts'
import type { SourceSettings } from './source-settings.ts'
import type { NameTemplates } from './template/name-templates.ts'
import { TemplatedEndpoints } from './templated-endpoints.ts'

export function serviceSource(settings: SourceSettings, templates: NameTemplates): EndpointSource {
  const types = serviceTypes(settings.serviceTypeFilter)
  const isOurs = objectFilter(settings)
  const templated = new TemplatedEndpoints(settings, templates, SERVICES.kind)
  const relations = new ServiceRelations(settings)

  const applyService = (key: string, service: Service | undefined): readonly string[] => {
    const counts = service !== undefined && isOurs(service) && types.includes(service.spec?.type)
    relations.setService(key, counts ? service : undefined)
    return [key]
  }
  const dependents = ({ resource, key, object }: ObjectChange): readonly string[] => {
    switch (resource.plural) {
      case SERVICES.plural:
        return applyService(key, object)
      case ENDPOINT_SLICES.plural:
        return relations.setSlice(key, object)
      case PODS.plural:
        return relations.setPod(key, object)
      default:
        return relations.setNode(key, object)
    }
  }

  return {
    name: 'service',
    follows: followed(settings, templates, types),
    apply: (change) => dependents(change).map((key) => `service/${key}`),
    endpoints(root) {
      const key = root.slice('service/'.length)
      const service = relations.service(key)
      if (service === undefined) return { endpoints: [], problems: [] }
      const problems = new ObjectProblems('service', key)
      const annotations = readAnnotations(service, settings.annotationPrefixes)
      const details = endpointDetails(annotations, root, problems)
      let known: HeadlessTargets | undefined
      const named: NamedService = {
        ...{ key, service, annotations, details, settings, relations, problems },
        annotated: annotatedList(annotations, 'target'),
        headless: () => (known ??= headlessTargets(named)),
        shared: new Map<string, TargetSet>(),
      }
      return namesOf(named, templated)
    },
  }
}

function namesOf(named: NamedService, templated: TemplatedEndpoints): RootEndpoints {
  const { service, annotations, settings, problems } = named
  const annotated = (name: 'hostname' | 'internal-hostname') =>
    settings.ignoreHostnameAnnotation ? [] : usableHostnames(annotatedList(annotations, name), problems)
  const endpointsOf = (hostnames: readonly string[], internal: boolean) => {
    const endpoints: Endpoint[] = []
    // A name may stand for many, one for each pod or port: what is too much for an object is not worked out.
    for (const hostname of hostnames)
      if (endpoints.length <= MOST_RECORDS) endpoints.push(...serviceEndpoints(named, hostname, internal))
    return endpoints
  }

  const own = [...endpointsOf(annotated('hostname'), false), ...endpointsOf(annotated('internal-hostname'), true)]
  const paired = templated.withPairs(own, service, problems)
  const endpoints = templated.withHostnames(paired, service, problems, (names) => endpointsOf(names, false))
  return { endpoints, problems: problems.sentences }
}

function followed(settings: SourceSettings, templates: NameTemplates, types: ServiceTypes): FollowedObjects[] {
  const { namespace, annotationPrefixes } = settings
  const within = namespace === undefined ? {} : { namespace }
  return [
    { resource: SERVICES, ...selectedBy(settings), keep: keeper(settings, templates, keptServiceParts) },
    ...(types.needSlices
      ? [{ resource: ENDPOINT_SLICES, ...within, labelSelector: SERVICE_NAME, keep: keepSlice }]
      : []),
    ...(types.needPods ? [{ resource: PODS, ...within, keep: podKeeper(annotationPrefixes) }] : []),
    ...(types.needNodes ? [{ resource: NODES, keep: keepNode }] : []),
  ]
}

function keepNode(node: Node): Node {
  return { metadata: keptMetadata(node.metadata, () => false), ...keptNodeParts(node) }
}
