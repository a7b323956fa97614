// Which types of services count, and which other objects their names can depend on: nothing else is followed, so that
// nobody has to permit it.

import { HoldfastError } from '../../lib/errors.ts'
import type { ServiceType } from './service-objects.ts'

const KNOWN: readonly ServiceType[] = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']

export interface ServiceTypes {
  includes(type: ServiceType | undefined): boolean
  readonly needSlices: boolean
  readonly needPods: boolean
  readonly needNodes: boolean
}

/** No type, or an empty one: all of them. */
export function serviceTypes(filter: readonly string[]): ServiceTypes {
  const unknown = filter.find((type) => type !== '' && !KNOWN.some((known) => known === type))
  if (unknown !== undefined)
    throw new HoldfastError(
      'Usage',
      `Cannot use service type "${unknown}": there is no such type; expected ${KNOWN.slice(0, -1).join(', ')} or ${KNOWN.at(-1)}`,
    )
  const includes = (type: ServiceType | undefined) =>
    filter.length === 0 || filter.includes('') || (type !== undefined && filter.includes(type))
  return {
    includes,
    needSlices: includes('ClusterIP'),
    needPods: includes('ClusterIP') || includes('NodePort'),
    needNodes: includes('NodePort'),
  }
}
