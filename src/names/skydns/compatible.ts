// The records of a name as CoreDNS's etcd plugin answers: everything below a name answers for it, and what is below
// hides the name's own value. The zone's name servers stand at dns/ns below its origin, its addresses at dns/apex.

import { equalNames, isSubdomain } from '../../dns/name.ts'
import { TYPE } from '../../dns/types.ts'
import type { SourceRecord } from '../part.ts'
import { groupOf } from './group.ts'
import { below, bytesOf, nameOf } from './path.ts'
import { RecordSets } from './record-sets.ts'
import { addAddresses, addMail, addNameServers, addSrv, addText, withHost } from './service-records.ts'
import type { Service } from './parse-service.ts'
import type { ServiceList } from './service-list.ts'

/** A name answers with the first so many services below it. */
export const MAX_SERVICES = 1024

export interface NameRecords {
  readonly records: SourceRecord[]
  /** The last service that was looked at when there may be more: what stands behind it makes no difference. */
  readonly cut: Service | undefined
}

export function compatibleRecords(services: ServiceList, path: string, isApex: boolean): NameRecords {
  const inside = services.below(path, MAX_SERVICES)
  const own = services.at(path, MAX_SERVICES)
  const found = inside.length > 0 ? inside : own
  const sets = new RecordSets()
  const apex = isApex ? gather(services, `${below(path)}dns/apex`) : []
  addServices(sets, path, found, apex.length > 0 ? apex : found)
  // Questions for CNAME and PTR are about the name's own value alone, hidden or not.
  for (const service of own) {
    if (service.kind !== TYPE.CNAME) continue
    sets.add(TYPE.PTR, '', service.host, service)
    if (!sets.has(TYPE.CNAME) && service.text === '' && !pointsAt(service, path))
      sets.add(TYPE.CNAME, '', service.host, service)
  }
  if (isApex) addNameServers(sets, groupOf(withHost(gather(services, `${below(path)}dns/ns`))))
  return { records: sets.records(), cut: inside.length === MAX_SERVICES ? inside.at(-1) : undefined }
}

function gather(services: ServiceList, path: string): Service[] {
  const inside = services.below(path, MAX_SERVICES)
  return inside.length > 0 ? inside : services.at(path, MAX_SERVICES)
}

/** The records of the name at `path` if `found` is what answers for it; addresses may come from elsewhere. */
export function addServices(
  sets: RecordSets,
  path: string,
  found: readonly Service[],
  addressesFrom: readonly Service[] = found,
): void {
  const hosts = groupOf(withHost(found))
  const addresses = addressesFrom === found ? hosts : groupOf(withHost(addressesFrom))
  addAddresses(sets, addresses)
  // One alias at most (RFC 2181 section 10.1), and none beside addresses. One that leads to the name or below it is a loop,
  // as what is below answers for the name.
  if (!sets.has(TYPE.A) && !sets.has(TYPE.AAAA)) {
    const owner = nameOf(path)
    const alias = addresses.find((service) => isAlias(service) && !isSubdomain(bytesOf(service.host), owner))
    if (alias !== undefined) sets.add(TYPE.CNAME, '', alias.host, alias)
  }
  addSrv(sets, hosts, (service) => service.port !== -1 && !isText(service))
  addMail(sets, hosts, (service) => service.mail && !isText(service))
  for (const service of groupOf(found)) if (isText(service)) addText(sets, service)
}

/** A text hides a name beside it, and is hidden by an address. */
function isText({ kind, text }: Service): boolean {
  return text !== '' && (kind === 0 || kind === TYPE.CNAME)
}

function isAlias({ kind, text }: Service): boolean {
  return kind === TYPE.CNAME && text === ''
}

/** Whether the service is an alias of the name for itself. */
export function pointsAt({ host }: Service, path: string): boolean {
  return equalNames(bytesOf(host), nameOf(path))
}
