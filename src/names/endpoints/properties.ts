// Properties of endpoints that are for whoever stores them.

import type { Endpoint, ProviderProperty } from './endpoint.ts'

/** What an endpoint has that is as it should be, but whose marks of ownership are not. As ExternalDNS calls it. */
export const FORCE_UPDATE: ProviderProperty = { name: 'txt/force-update', value: 'true' }

/** Of properties that are not stored nothing can be said: comparing them would find a difference for ever. */
export function propertiesDiffer(desired: Endpoint, current: Endpoint, isStored: (name: string) => boolean): boolean {
  const isCompared = ({ name }: ProviderProperty) => name === FORCE_UPDATE.name || isStored(name)
  const wanted = new Map(desired.providerSpecific.filter(isCompared).map(({ name, value }) => [name, value]))
  const present = new Map(current.providerSpecific.filter(isCompared).map(({ name, value }) => [name, value]))
  return wanted.size !== present.size || [...wanted].some(([name, value]) => present.get(name) !== value)
}
