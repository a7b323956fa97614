// Who a member is to Patroni: its cluster's scope and namespace, and its own name. Patroni reads them once, at its start, and
// keeps everything about the cluster below them in etcd; a member that came back under others would be a second cluster on the same data.

import { HoldfastError } from '../../lib/errors.ts'
import { PATHS } from './paths.ts'

export interface PatroniIdentity {
  readonly scope: string
  readonly namespace: string
  readonly name: string
}

/** From the files of a machine that exists; undefined when they do not say. */
export function readIdentity(files: ReadonlyMap<string, { readonly text: string }>): PatroniIdentity | undefined {
  try {
    const { scope, namespace, name } = JSON.parse(files.get(PATHS.patroni)?.text ?? '') as Partial<PatroniIdentity>
    return scope === undefined || namespace === undefined || name === undefined ? undefined : { scope, namespace, name }
  } catch {
    return undefined
  }
}

export function checkSameIdentity(machine: string, now: PatroniIdentity, wanted: PatroniIdentity): void {
  const keys = ['scope', 'namespace', 'name'] as const
  const key = keys.find((each) => now[each] !== wanted[each])
  if (key === undefined) return
  throw new HoldfastError(
    'PatroniIdentity',
    `Cannot change patroni.${key} of "${machine}" from "${now[key]}" to "${wanted[key]}": its cluster is known by it; it has to stay`,
    { hint: 'a new cluster needs new machines: take this one out with "down --purge", or copy its data over' },
  )
}
