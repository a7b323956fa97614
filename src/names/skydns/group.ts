// SkyDNS groups: services of one answer that name different groups are not given together.

import { depthOf } from './path.ts'
import type { Service } from './parse-service.ts'

/**
 * The services that belong to the group set by the shortest key, and those without any group. If keys of that length
 * disagree, there is no group and all stay. The services are in key order; a shorter key without a group ends the search.
 */
export function groupOf(services: readonly Service[]): readonly Service[] {
  if (services.every(({ group }) => group === '')) return services
  let { group } = services[0]
  let depth = depthOf(services[0].path)
  let compared = services.length
  for (const [i, service] of services.entries()) {
    const own = depthOf(service.path)
    if (own >= depth) continue
    if (service.group === '') {
      compared = i
      break
    }
    depth = own
    group = service.group
  }
  if (group === '') return services
  const disagrees = (service: Service, i: number) =>
    i < compared && service.group !== '' && service.group !== group && depthOf(service.path) === depth
  if (services.some(disagrees)) return services
  return services.filter((service) => service.group === '' || service.group === group)
}
