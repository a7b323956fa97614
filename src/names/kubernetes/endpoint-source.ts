// A kind of Kubernetes object that names come from. A source is told of every change of the objects it follows, and says
// for a single object which endpoints it stands for: whatever changes, only what depends on it is worked out again.

import type { KubeObject, ObjectChange, Selection } from '../../kube/resource.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'

export interface FollowedObjects extends Selection {
  /** The part of an object that the source reads. What it leaves out is not kept, neither in memory nor on disk. */
  readonly keep: (object: KubeObject) => KubeObject
}

export interface EndpointSource {
  /** As `--source` names it. */
  readonly name: string
  readonly follows: readonly FollowedObjects[]
  /**
   * Takes a change in. Returns the roots whose endpoints may be others now. A root is an object that endpoints come
   * from, written as ExternalDNS's label `resource` has it: `ingress/default/web`.
   */
  apply(change: ObjectChange): readonly string[]
  /** What a root stands for now; nothing when it is gone. */
  endpoints(root: string): RootEndpoints
}

export interface RootEndpoints {
  readonly endpoints: readonly Endpoint[]
  /** What is wrong with the object, one sentence each; the rest of it counts. */
  readonly problems: readonly string[]
}
