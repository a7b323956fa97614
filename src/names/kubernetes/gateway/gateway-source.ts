// Names of routes of the Gateway API. A route's names lead to the addresses of the Gateways that have accepted it, so a route
// is looked at again when it changes, when such a Gateway changes, and when its namespace does: listeners select by labels.
// What is followed: routes, Gateways, and Namespaces (of one namespace, that one alone).

import type { KubeObject } from '../../../kube/resource.ts'
import { parseSelector } from '../../../kube/selector.ts'
import {
  type Annotations,
  annotatedList,
  endpointDetails,
  isForAnotherController,
  readAnnotations,
} from '../annotations.ts'
import { objectFilter, selectedBy } from '../annotations-filter.ts'
import type { EndpointSource, FollowedObjects, RootEndpoints } from '../endpoint-source.ts'
import { usableHostnames, usableTargets } from '../hostname-check.ts'
import { endpointsForHostname, type TargetSet } from '../hostname-endpoints.ts'
import { keeper } from '../kept-object.ts'
import { KeyGroups } from '../key-groups.ts'
import { ObjectProblems } from '../object-problems.ts'
import type { SourceSettings } from '../source-settings.ts'
import type { NameTemplates } from '../template/name-templates.ts'
import { TemplatedEndpoints } from '../templated-endpoints.ts'
import {
  GATEWAYS,
  keptGateway,
  keptNamespace,
  keptRoute,
  NAMESPACES,
  ROUTES,
  type Route,
  type RouteKind,
} from './gateway-objects.ts'
import { listenerHostname } from './listener-hostname.ts'
import {
  type AttachableGateway,
  gatewaysOf,
  readGateway,
  type RouteSurroundings,
  routeGateways,
} from './route-listeners.ts'

export function gatewaySource(kind: RouteKind, settings: SourceSettings, templates: NameTemplates): EndpointSource {
  return new GatewaySource(kind, settings, templates)
}

class GatewaySource implements EndpointSource {
  readonly name: string
  readonly follows: readonly FollowedObjects[]
  readonly #settings: SourceSettings
  readonly #templated: TemplatedEndpoints
  readonly #isOurs: (object: KubeObject) => boolean
  readonly #surroundings: RouteSurroundings
  /** `httproute`, as the label `resource` begins. */
  readonly #word: string
  readonly #routes = new Map<string, Route>()
  readonly #gateways = new Map<string, AttachableGateway>()
  readonly #namespaces = new Map<string, Readonly<Record<string, string>>>()
  readonly #routesOfGateway = new KeyGroups()
  readonly #routesOfNamespace = new KeyGroups()

  constructor(routeKind: RouteKind, settings: SourceSettings, templates: NameTemplates) {
    const { resource, protocol } = ROUTES[routeKind]
    this.#settings = settings
    this.#word = resource.kind.toLowerCase()
    this.name = `gateway-${this.#word}`
    this.#templated = new TemplatedEndpoints(settings, templates, resource.kind)
    this.#isOurs = objectFilter(settings)
    this.#surroundings = {
      ...{ kind: resource.kind, protocol, gatewayName: settings.gatewayName || undefined },
      gatewayAt: (key) => this.#gateways.get(key),
      namespaceLabels: (name) => this.#namespaces.get(name),
    }
    this.follows = [
      { resource, ...selectedBy(settings), keep: keeper(settings, templates, keptRoute) },
      {
        resource: GATEWAYS,
        ...gatewaySelection(settings),
        keep: (object) => keptGateway(object, settings.annotationPrefixes),
      },
      { resource: NAMESPACES, ...namespaceSelection(settings), keep: keptNamespace },
    ]
  }

  apply({ resource, key, object }: Parameters<EndpointSource['apply']>[0]): readonly string[] {
    if (resource.kind === GATEWAYS.kind) return this.#applyGateway(key, object)
    if (resource.kind === NAMESPACES.kind) return this.#applyNamespace(key, object)
    return this.#applyRoute(key, object)
  }

  #applyRoute(key: string, object: Route | undefined): readonly string[] {
    const known = this.#routes.get(key)
    if (known !== undefined) {
      for (const gateway of gatewaysOf(known)) this.#routesOfGateway.delete(gateway, key)
      this.#routesOfNamespace.delete(known.metadata.namespace ?? '', key)
      this.#routes.delete(key)
    }
    if (object !== undefined && this.#isOurs(object)) {
      for (const gateway of gatewaysOf(object)) this.#routesOfGateway.add(gateway, key)
      this.#routesOfNamespace.add(object.metadata.namespace ?? '', key)
      this.#routes.set(key, object)
    }
    return [this.#root(key)]
  }

  #applyGateway(key: string, object: KubeObject | undefined): readonly string[] {
    const { annotationPrefixes } = this.#settings
    if (object !== undefined && !isForAnotherController(readAnnotations(object, annotationPrefixes)))
      this.#gateways.set(key, readGateway(object, annotationPrefixes))
    else this.#gateways.delete(key)
    return this.#roots(this.#routesOfGateway.of(key))
  }

  #applyNamespace(key: string, object: KubeObject | undefined): readonly string[] {
    if (object === undefined) this.#namespaces.delete(key)
    else this.#namespaces.set(key, object.metadata.labels ?? {})
    return this.#roots(this.#routesOfNamespace.of(key))
  }

  #root(key: string): string {
    return `${this.#word}/${key}`
  }

  #roots(keys: Iterable<string>): readonly string[] {
    return Array.from(keys, (key) => this.#root(key))
  }

  endpoints(root: string): RootEndpoints {
    const key = root.slice(this.#word.length + 1)
    const route = this.#routes.get(key)
    if (route === undefined) return { endpoints: [], problems: [] }
    const problems = new ObjectProblems(this.#word, key)
    const annotations = readAnnotations(route, this.#settings.annotationPrefixes)
    const found = routeGateways(route, this.#hostnames(route, annotations, problems), this.#surroundings)
    const details = endpointDetails(annotations, root, problems)
    const shared = new Map<string, TargetSet>()
    const numbers = new Map<AttachableGateway, number>()
    const numberOf = (gateway: AttachableGateway) => {
      numbers.set(gateway, numbers.get(gateway) ?? numbers.size)
      return numbers.get(gateway)
    }
    const endpoints = Array.from(found, ([hostname, gateways]) => {
      const all = [...gateways]
      const key = all.map(numberOf).join(' ')
      const targets = shared.get(key) ?? usableTargets([...new Set(all.flatMap((each) => each.targets))], problems)
      shared.set(key, targets)
      return endpointsForHostname(hostname, targets, details)
    })
    return { endpoints: endpoints.flat(), problems: problems.sentences }
  }

  /** Names in small letters; an empty one stands for the names of the listeners. */
  #hostnames(route: Route, annotations: Annotations, problems: ObjectProblems): readonly string[] {
    const defined = route.spec?.hostnames ?? []
    const annotated = this.#settings.ignoreHostnameAnnotation ? [] : annotatedList(annotations, 'hostname')
    const chosen = annotations.get('gateway-hostname-source')
    switch (chosen?.toLowerCase()) {
      case 'annotation-only':
        return this.#usable(annotated, problems)
      case 'defined-hosts-only':
        return this.#withTemplate(this.#usable(defined, problems), route, problems)
      case undefined:
        break
      default:
        problems.unusable(
          'gateway-hostname-source',
          chosen ?? '',
          'expected defined-hosts-only or annotation-only',
          'all of its names are used',
        )
    }
    const names = this.#withTemplate(this.#usable([...defined, ...annotated], problems), route, problems)
    return defined.length === 0 ? [...names, ''] : names
  }

  #withTemplate(names: readonly string[], route: Route, problems: ObjectProblems): readonly string[] {
    if (names.length > 0 && !this.#settings.combineFqdnAnnotation) return names
    return [...names, ...this.#usable(this.#templated.hostnames(route, problems), problems)]
  }

  #usable(names: readonly string[], problems: ObjectProblems): readonly string[] {
    return usableHostnames(names, problems).flatMap((name) => {
      const host = listenerHostname(name)
      if (host === undefined)
        problems.unusable('host name', name, 'a listener takes letters, digits and hyphens', 'it is left out')
      return host ?? []
    })
  }
}

function gatewaySelection({
  gatewayNamespace = '',
  gatewayLabelFilter = '',
}: SourceSettings): Partial<FollowedObjects> {
  parseSelector(gatewayLabelFilter)
  return {
    ...(gatewayNamespace !== '' && { namespace: gatewayNamespace }),
    ...(gatewayLabelFilter !== '' && { labelSelector: gatewayLabelFilter }),
  }
}

/** A role can then be for this one. */
function namespaceSelection({ namespace = '' }: SourceSettings): Partial<FollowedObjects> {
  return namespace === '' ? {} : { fieldSelector: `metadata.name=${namespace}` }
}
