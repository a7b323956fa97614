// What is asked of the Kubernetes API, as data: kinds of objects, and which of them.

/** A kind of object, as the API names it. */
export interface Resource {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  /** Versions to ask for, newest first, where the server does not have this one; objects look the same in them. */
  readonly olderVersions?: readonly string[]
  readonly plural: string
  readonly kind: string
  readonly namespaced: boolean
}

export interface ObjectMeta {
  readonly name: string
  /** Undefined for objects of the cluster. */
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

/** Any object; whoever reads one knows its kind, and that fields may be missing. */
export interface KubeObject {
  readonly metadata: ObjectMeta
}

/** Which objects of a resource are meant. */
export interface Selection {
  readonly resource: Resource
  /** Every namespace unless given. */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

/** `namespace/name`, or `name` for objects of the cluster. */
export function objectKey({ namespace, name }: Pick<ObjectMeta, 'namespace' | 'name'>): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

/** As RBAC and kubectl write it: `ingresses.networking.k8s.io`, `services`. */
export function resourceName({ plural, group }: Pick<Resource, 'plural' | 'group'>): string {
  return group === '' ? plural : `${plural}.${group}`
}

/** One object that came, changed, or went. */
export interface ObjectChange {
  readonly resource: Resource
  readonly key: string
  /** Undefined: deleted. */
  readonly object: KubeObject | undefined
  /** Of the object, which may not have kept it. */
  readonly version?: string
}
