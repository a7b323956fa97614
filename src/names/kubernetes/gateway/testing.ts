// For tests of gateway sources: objects as the API has them, with what most cases have in common filled in.

import { DEFAULT_SETTINGS, type SourceSettings } from '../source-settings.ts'
import { nameTemplates } from '../template/name-templates.ts'
import { applyAll, endpointText, type TestObject } from '../testing.ts'
import type { Listener, ParentReference, RouteKind } from './gateway-objects.ts'
import { gatewaySource } from './gateway-source.ts'

export function makeGatewaySource(settings: Partial<SourceSettings> = {}, kind: RouteKind = 'http') {
  const all = { ...DEFAULT_SETTINGS, ...settings }
  return gatewaySource(kind, all, nameTemplates(all))
}

interface Named {
  readonly name?: string
  readonly namespace?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

const API = 'gateway.networking.k8s.io/v1'

export function gateway({
  addresses = ['1.2.3.4'],
  listeners = [{}],
  ...named
}: Named & {
  readonly addresses?: readonly string[]
  readonly listeners?: readonly Partial<Listener>[]
} = {}): TestObject {
  const object = {
    ...{ apiVersion: API, kind: 'Gateway', metadata: metadataOf('gw', named) },
    spec: {
      gatewayClassName: 'test',
      listeners: listeners.map((listener) => ({ name: 'web', port: 80, protocol: 'HTTP', ...listener })),
    },
    status: { addresses: addresses.map((value) => ({ type: 'IPAddress', value })), conditions: [] },
  }
  return object
}

export function route({
  hostnames,
  parents = [{ name: 'gw' }],
  accepted = parents,
  status = 'True',
  kind = 'HTTPRoute',
  ...named
}: Named & {
  readonly hostnames?: readonly string[]
  readonly parents?: readonly ParentReference[]
  /** Parents in the status. */
  readonly accepted?: readonly ParentReference[]
  readonly status?: string
  readonly kind?: string
} = {}): TestObject {
  const object = {
    ...{ apiVersion: API, kind, metadata: metadataOf('web', named) },
    spec: { parentRefs: parents, ...(hostnames && { hostnames }), rules: [{}] },
    status: {
      parents: accepted.map((parentRef) => ({
        ...{ parentRef, controllerName: 'example.org/test' },
        conditions: [
          { type: 'ResolvedRefs', status: 'True' },
          { type: 'Accepted', status, reason: 'Test' },
        ],
      })),
    },
  }
  return object
}

export function namespace(name: string, labels: Readonly<Record<string, string>> = {}): TestObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
}

function metadataOf(defaultName: string, { name = defaultName, namespace: of = 'default', ...rest }: Named) {
  return { name, namespace: of, ...rest }
}

/** What all of the objects stand for, as texts. */
export function namesOf(
  objects: readonly TestObject[],
  settings: Partial<SourceSettings> = {},
  kind: RouteKind = 'http',
) {
  const source = makeGatewaySource(settings, kind)
  const roots = applyAll(source, objects)
  return roots.flatMap((root) => source.endpoints(root).endpoints.map(endpointText)).toSorted()
}
