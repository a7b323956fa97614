// The owner is part of the stored value, as field `owner` of a SkyDNS service, and no record in DNS speaks of it. Reading
// a value, a provider puts the field into label `owner`; writing one, it takes it from there. A value without the field
// belongs to nobody, and nobody's values are not touched.

import { type Endpoint, LABEL } from '../endpoints/endpoint.ts'
import { FORCE_UPDATE } from '../endpoints/properties.ts'
import { checkOwner, ownChanges, ownedBy, type Registry } from './registry.ts'

export interface InValueOptions {
  readonly ownerId: string
  /** What belongs to this owner is taken over. */
  readonly oldOwnerId?: string
}

export function inValueRegistry({ ownerId, oldOwnerId = '' }: InValueOptions): Registry {
  checkOwner(ownerId)
  const takenOver = (endpoint: Endpoint): Endpoint => {
    // Without a former owner, values without one would be taken for his.
    if (oldOwnerId === '' || oldOwnerId === ownerId || endpoint.labels[LABEL.owner] !== oldOwnerId) return endpoint
    return { ...ownedBy(endpoint, ownerId), providerSpecific: [...endpoint.providerSpecific, FORCE_UPDATE] }
  }
  return {
    ownerId,
    records: (stored) => stored.map(takenOver),
    mark: (changes) => ({ ...ownChanges(changes, ownerId), conflicts: [] }),
    markNames: () => [],
    markedNames: () => [],
  }
}
