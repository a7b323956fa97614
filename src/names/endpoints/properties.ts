// Properties of endpoints that are for whoever stores them.

import type { Endpoint, ProviderProperty } from './endpoint.ts'

/** What an endpoint has that is as it should be, but whose marks of ownership are not. As ExternalDNS calls it. */
export const FORCE_UPDATE: ProviderProperty = { name: 'txt/force-update', value: 'true' }

export function propertiesDiffer(desired: Endpoint, current: Endpoint): boolean {
  const wanted = valuesOf(desired)
  const present = valuesOf(current)
  return wanted.size !== present.size || [...wanted].some(([name, value]) => present.get(name) !== value)
}

function valuesOf({ providerSpecific }: Endpoint): ReadonlyMap<string, string> {
  return new Map(providerSpecific.map(({ name, value }) => [name, value]))
}
