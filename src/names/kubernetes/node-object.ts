// Nodes as names need them: their addresses, and whether anything may be scheduled on them.

import type { KubeObject, Resource } from '../../kube/resource.ts'
import { targetType } from '../endpoints/targets.ts'

export interface Node extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean }
  readonly status?: { readonly addresses?: readonly { readonly type: string; readonly address: string }[] }
}

export const NODES: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false }

export interface NodeAddresses {
  readonly external: readonly string[]
  readonly internal: readonly string[]
  /** Those of `internal` that are IPv6, which often can be reached from everywhere. */
  readonly internalIpv6: readonly string[]
}

export function nodeAddresses(nodes: Iterable<Node>): NodeAddresses {
  const all = [...nodes].flatMap(({ status }) => status?.addresses ?? [])
  const ofType = (wanted: string) => all.filter(({ type }) => type === wanted).map(({ address }) => address)
  const internal = ofType('InternalIP')
  const internalIpv6 = internal.filter((address) => targetType(address) === 'AAAA')
  return { external: ofType('ExternalIP'), internal, internalIpv6 }
}

/** The addresses for everybody, with IPv6 ones that are only called internal where that is asked for. */
export function publicAddresses(
  { external, internalIpv6 }: NodeAddresses,
  { exposeInternalIpv6 }: { readonly exposeInternalIpv6: boolean },
): readonly string[] {
  return exposeInternalIpv6 ? [...external, ...internalIpv6] : external
}

export function keptNodeParts({ spec, status }: Node): Omit<Node, 'metadata'> {
  const addresses = (status?.addresses ?? []).filter(({ type }) => type === 'ExternalIP' || type === 'InternalIP')
  return { ...(spec?.unschedulable === true && { spec: { unschedulable: true } }), status: { addresses } }
}
