// Where objects are found in the API: `/api/v1/…` for the core group, `/apis/<group>/<version>/…` for the others.

import type { ObjectMeta, Resource } from './resource.ts'

export type Query = Readonly<Record<string, string | number | boolean | undefined>>

export function collectionPath(
  { group, version, plural, namespaced }: Resource,
  namespace: string | undefined,
): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  return namespaced && namespace !== undefined
    ? `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}`
    : `${root}/${plural}`
}

export function objectPath(resource: Resource, { namespace, name }: Pick<ObjectMeta, 'namespace' | 'name'>): string {
  return `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}`
}

export function withQuery(path: string, query: Query): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value))
  return parameters.size === 0 ? path : `${path}?${parameters.toString()}`
}

const PLACE = /^\/api(?:s\/(?<group>[^/]+))?\/(?<version>[^/]+)\/(?:namespaces\/[^/]+\/)?(?<plural>[^/?]+)/u

/** The kind of object that a path leads to. */
export function resourceAt(path: string): Pick<Resource, 'group' | 'version' | 'plural'> | undefined {
  const { group = '', version, plural } = PLACE.exec(path)?.groups ?? {}
  return version === undefined || plural === undefined ? undefined : { group, version, plural }
}
