// Which listeners a route hangs on, and so where its names lead: a parent that the route asks for, that exists, that has
// accepted it, and of which a listener fits by section, port, protocol, namespace, kind and name.

import { objectKey } from '../../../kube/resource.ts'
import { type LabelSelector, matchesSelector, selectorOf } from '../../../kube/selector.ts'
import { HoldfastError } from '../../../lib/errors.ts'
import { annotatedList, readAnnotations } from '../annotations.ts'
import { GATEWAY_GROUP, type Gateway, type Listener, type ParentReference, type Route } from './gateway-objects.ts'
import { listenerHostname, overlap } from './listener-hostname.ts'

/** A Gateway, read once for all of its routes. */
export interface AttachableGateway {
  readonly namespace: string
  readonly listeners: readonly AttachableListener[]
  readonly targets: readonly string[]
}

interface AttachableListener extends Pick<Listener, 'name' | 'port' | 'protocol'> {
  /** Empty: every name. Undefined: none, because it is not valid. */
  readonly hostname: string | undefined
  /** Namespaces by their labels, all of them, or the Gateway's own. */
  readonly from: LabelSelector | 'All' | 'Same'
  /** Empty: every kind. */
  readonly kinds: readonly string[]
}

/** A target annotation of the Gateway counts instead of its addresses. */
export function readGateway(gateway: Gateway, annotationPrefixes: readonly string[]): AttachableGateway {
  const annotated = annotatedList(readAnnotations(gateway, annotationPrefixes), 'target')
  const addresses = (gateway.status?.addresses ?? []).map(({ value = '' }) => value).filter((value) => value !== '')
  return {
    namespace: gateway.metadata.namespace ?? '',
    listeners: (gateway.spec?.listeners ?? []).map(readListener),
    targets: annotated.length > 0 ? annotated : addresses,
  }
}

function readListener({ name, port, protocol, hostname = '', allowedRoutes = {} }: Listener): AttachableListener {
  return {
    ...{ name, port, protocol, from: readNamespaces(allowedRoutes.namespaces) },
    hostname: hostname === '' ? '' : listenerHostname(hostname),
    // A kind of another group is one that no route of ours has.
    kinds: (allowedRoutes.kinds ?? []).map(({ group, kind }) =>
      (group || GATEWAY_GROUP) === GATEWAY_GROUP ? kind : '',
    ),
  }
}

type AllowedNamespaces = NonNullable<NonNullable<Listener['allowedRoutes']>['namespaces']>

function readNamespaces({ from = 'Same', selector }: AllowedNamespaces = {}): AttachableListener['from'] {
  if (from === 'All' || from === 'Same') return from
  try {
    return selectorOf(from === 'Selector' ? selector : undefined)
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError)) throw thrown
    return selectorOf(undefined)
  }
}

/** Keys of the Gateways that have a say in where the names of a route lead. */
export function gatewaysOf(route: Route): Set<string> {
  const parents = (route.status?.parents ?? []).filter(({ parentRef }) => isGateway(parentRef))
  return new Set(parents.map(({ parentRef }) => gatewayKey(parentRef, route)))
}

export interface RouteSurroundings {
  readonly kind: string
  readonly protocol: string
  /** Only a Gateway of this name. */
  readonly gatewayName: string | undefined
  readonly gatewayAt: (key: string) => AttachableGateway | undefined
  readonly namespaceLabels: (name: string) => Readonly<Record<string, string>> | undefined
}

/** The names with the Gateways they lead to; of `hostnames`, an empty one stands for whatever name a listener has. */
export function routeGateways(
  route: Route,
  hostnames: readonly string[],
  surroundings: RouteSurroundings,
): ReadonlyMap<string, ReadonlySet<AttachableGateway>> {
  const found = new Map<string, Set<AttachableGateway>>()
  for (const { parentRef, gateway } of acceptedParents(route, surroundings))
    for (const listener of gateway.listeners) {
      if (!fits(listener, parentRef, gateway, route, surroundings)) continue
      for (const hostname of hostnames) {
        const name = listener.hostname === undefined ? undefined : overlap(listener.hostname, hostname)
        if (name === undefined || name === '') continue
        const known = found.get(name)
        if (known === undefined) found.set(name, new Set([gateway]))
        else known.add(gateway)
      }
    }
  return found
}

function acceptedParents(
  route: Route,
  { gatewayAt, gatewayName }: RouteSurroundings,
): { parentRef: ParentReference; gateway: AttachableGateway }[] {
  const asked = new Set((route.spec?.parentRefs ?? []).filter(isGateway).map((ref) => gatewayKey(ref, route)))
  return (route.status?.parents ?? []).flatMap(({ parentRef, conditions = [] }) => {
    if (!isGateway(parentRef) || (gatewayName !== undefined && parentRef.name !== gatewayName)) return []
    const key = gatewayKey(parentRef, route)
    const accepted = conditions.find(({ type }) => type === 'Accepted')?.status === 'True'
    const gateway = accepted && asked.has(key) ? gatewayAt(key) : undefined
    return gateway === undefined ? [] : [{ parentRef, gateway }]
  })
}

function fits(
  listener: AttachableListener,
  { sectionName = '', port }: ParentReference,
  gateway: AttachableGateway,
  route: Route,
  { kind, protocol, namespaceLabels }: RouteSurroundings,
): boolean {
  if (sectionName !== '' && sectionName !== listener.name) return false
  if (port !== undefined && port !== listener.port) return false
  if (!takesProtocol(listener.protocol, protocol)) return false
  if (listener.kinds.length > 0 && !listener.kinds.includes(kind)) return false
  const { namespace = '' } = route.metadata
  if (listener.from === 'All') return true
  if (listener.from === 'Same') return gateway.namespace === namespace
  const labels = namespaceLabels(namespace)
  return labels !== undefined && matchesSelector(listener.from, labels)
}

/** A listener of HTTPS takes what one of HTTP takes; one of TLS takes TCP, too. */
function takesProtocol(listener: string, route: string): boolean {
  const plain = (protocol: string) => (protocol === 'HTTPS' ? 'HTTP' : protocol)
  return plain(listener) === plain(route) || (listener === 'TLS' && route === 'TCP')
}

function isGateway({ group, kind }: ParentReference): boolean {
  return (group || GATEWAY_GROUP) === GATEWAY_GROUP && (kind || 'Gateway') === 'Gateway'
}

function gatewayKey({ namespace, name }: ParentReference, route: Route): string {
  return objectKey({ namespace: namespace || (route.metadata.namespace ?? ''), name })
}
