// Which objects have to be followed for a set of sources: each kind once, however many sources read it.

import type { KubeObject, Selection } from '../../kube/resource.ts'
import { resourceName } from '../../kube/resource.ts'
import type { EndpointSource, FollowedObjects } from './endpoint-source.ts'

export interface FollowedGroup {
  /** For the state on disk and for messages. */
  readonly id: string
  readonly selection: Selection
  readonly readers: readonly GroupReader[]
  /** What is remembered of an object. */
  readonly keep: (object: KubeObject) => KubeObject
}

export interface GroupReader {
  readonly source: EndpointSource
  readonly keep: (object: KubeObject) => KubeObject
}

export function followedGroups(sources: readonly EndpointSource[]): FollowedGroup[] {
  const followed = sources.flatMap((source) => source.follows.map((objects) => ({ source, objects })))
  const groups = Map.groupBy(followed, ({ objects }) => groupId(objects))
  return Array.from(groups, ([id, members]) => {
    const { keep: _, ...selection } = members[0].objects
    const readers = members.map(({ source, objects }) => ({ source, keep: objects.keep }))
    return {
      id,
      selection,
      readers,
      keep: readers.length === 1 ? readers[0].keep : withoutManagedFields,
    }
  })
}

function groupId({ resource, namespace = '', labelSelector = '', fieldSelector = '' }: FollowedObjects): string {
  return [resourceName(resource), resource.version, namespace, labelSelector, fieldSelector].join(' ').trimEnd()
}

function withoutManagedFields(object: KubeObject): KubeObject {
  const metadata = { ...object.metadata, managedFields: undefined }
  return { ...object, metadata }
}
