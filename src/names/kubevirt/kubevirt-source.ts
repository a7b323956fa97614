// Names of KubeVirt's virtual machines, as KubeSecondaryDNS gives them. Every VirtualMachineInstance stands for itself:
// it is the only object its names depend on.

import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../../kube/resource.ts'
import type { EndpointSource } from '../kubernetes/endpoint-source.ts'
import { keepVmi, VIRTUAL_MACHINE_INSTANCES } from './virtual-machine-instance.ts'
import { vmiEndpoints, type VmiNaming } from './vmi-endpoints.ts'

export interface KubevirtSettings extends VmiNaming {
  /** Empty: every namespace. */
  readonly namespaces: readonly string[]
  readonly labelSelector?: string
}

/** As KubeSecondaryDNS has it, but for its single address of an interface. */
export const KUBEVIRT_DEFAULTS = { ttlSeconds: 3600, addresses: 'all', namespaces: [] } as const

export function kubevirtSource(settings: KubevirtSettings): EndpointSource {
  const { namespaces, labelSelector } = settings
  const resource = VIRTUAL_MACHINE_INSTANCES
  const objects = new Map<string, KubeObject>()
  const all = { resource, keep: keepVmi, ...(labelSelector !== undefined && { labelSelector }) }
  return {
    name: 'kubevirt',
    follows: namespaces.length === 0 ? [all] : Array.from(new Set(namespaces), (namespace) => ({ ...all, namespace })),

    apply({ resource: { group, plural }, key, object }) {
      if (group !== resource.group || plural !== resource.plural) return []
      const root = `virtualmachineinstance/${key}`
      // The status of a machine changes all the time, its addresses hardly ever.
      if (isDeepStrictEqual(objects.get(root), object)) return []
      if (object === undefined) objects.delete(root)
      else objects.set(root, object)
      return [root]
    },

    endpoints(root) {
      const vmi = objects.get(root)
      return vmi === undefined ? { endpoints: [], problems: [] } : vmiEndpoints(vmi, root, settings)
    },
  }
}
