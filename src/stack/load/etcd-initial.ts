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

type Entry = EtcdContext['entries'][number]

const isInitializing = ({ part }: EtcdContext, { document }: Entry): boolean =>
  document?.cluster?.is_initializing ?? part.cluster?.is_initializing ?? true

/** Nobody is said to be there from the beginning. */
export function isExisting(context: EtcdContext): boolean {
  return !context.entries.some((entry) => isInitializing(context, entry))
}

export function checkInitialMembers(context: EtcdContext, resolver: StackResolver): void {
  const { entries, specs } = context
  const initial = agreed(initialLayers(context), 'initial_members', resolver)
  if (initial === undefined) return
  const ips = new Map(initial.value.map(({ name, ip }) => [name, ip]))
  for (const entry of entries) {
    const { name, path } = entry
    const ip = ips.get(name)
    if (ip === undefined && isInitializing(context, entry))
      resolver.problem(
        path,
        `${quote(name)} is missing from ${formatPath(initial.path)}; expected it there, too, or "is_initializing: false" for a member that joins later`,
      )
    // Other members and clients reach it at its first interface only.
    const first = specs.get(name)?.hardware.networks[0]?.ip
    if (ip !== undefined && first !== undefined && ip !== first)
      resolver.problem(path, `${formatPath(initial.path)} has ${ip} for ${quote(name)}; expected ${first}`)
  }
  const names = new Set(entries.map(({ name }) => name))
  for (const [index, { name }] of initial.value.entries())
    if (!names.has(name))
      resolver.problem(
        [...initial.path, index],
        `${quote(name)} is no member in this file; expected all members of a cluster in one stack file, and only these`,
      )
}
