// `cluster` of etcd members: who is there when the cluster is made. We know the members ourselves; what is written must not
// say otherwise.

import type { InitialClusterDocument } from '../../clusters/etcd/schema.ts'
import { formatPath } from '../../document/located.ts'
import { quote } from '../../document/values.ts'
import type { EtcdContext } from './etcd-part.ts'
import { agreed, type Layer } from './layers.ts'
import type { StackResolver } from './resolver.ts'

export function initialLayers({ part, entries }: EtcdContext): Layer<InitialClusterDocument>[] {
  return [
    { path: ['etcd', 'cluster'], values: part.cluster },
    ...entries.map(({ path, document }) => ({ path: [...path, 'cluster'], values: document?.cluster })),
  ]
}

export function checkInitialMembers(context: EtcdContext, resolver: StackResolver): void {
  const { part, entries, specs } = context
  const initial = agreed(initialLayers(context), 'initial_members', resolver)
  if (initial === undefined) return
  const ips = new Map(initial.value.map(({ name, ip }) => [name, ip]))
  for (const { name, path, document } of entries) {
    const ip = ips.get(name)
    const isInitial = document?.cluster?.is_initializing ?? part.cluster?.is_initializing ?? true
    if (ip === undefined && isInitial)
      resolver.problem(
        path,
        `${quote(name)} is missing from ${formatPath(initial.path)}; wanted: it there, too, or "is_initializing: false" for a member that joins later`,
      )
    const known = specs.get(name)?.hardware.networks.flatMap((network) => network.ip ?? []) ?? []
    if (ip !== undefined && known.length > 0 && !known.includes(ip))
      resolver.problem(path, `${formatPath(initial.path)} has ${ip} for ${quote(name)}; wanted: ${known.join(' or ')}`)
  }
}
