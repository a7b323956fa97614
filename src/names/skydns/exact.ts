// The records of a name in exact mode: those of the services that belong to this very name, as a zone file would
// have them. Nothing hides or adds to anything else, but the protocol's own rule holds: a CNAME stands alone.

import { TYPE } from '../../dns/types.ts'
import { MAX_SERVICES, type NameRecords, pointsAt } from './compatible.ts'
import { below, isAtOrBelow } from './path.ts'
import { RecordSets } from './record-sets.ts'
import { addAddresses, addMail, addNameServers, addSrv, addText, withHost } from './service-records.ts'
import type { Service } from './parse-service.ts'
import type { ServiceList } from './service-list.ts'

const REVERSE: readonly string[] = ['arpa/in-addr', 'arpa/ip6']

/** `report` is told of each service that cannot be served beside the others: `<what is>; <what is wanted>`. */
export function exactRecords(
  list: ServiceList,
  path: string,
  isApex: boolean,
  report: (service: Service, problem: string) => void,
): NameRecords {
  const services = list.at(path, MAX_SERVICES)
  const cut = services.length === MAX_SERVICES ? services.at(-1) : undefined
  const sets = new RecordSets()
  const apex = isApex ? list.atOrBelow(`${below(path)}dns/apex`, MAX_SERVICES) : []
  const isReverse = REVERSE.some((origin) => isAtOrBelow(path, origin))
  addAddresses(sets, services)
  addAddresses(sets, apex)
  addSrv(sets, services.filter(isSrv), isSrv)
  addMail(sets, services, ({ kind, mail }) => mail && kind !== 0)
  if (isReverse) for (const service of services) if (isPlainName(service)) sets.add(TYPE.PTR, '', service.host, service)
  if (isApex) addNameServers(sets, withHost(list.atOrBelow(`${below(path)}dns/ns`, MAX_SERVICES)))
  const aliases = isReverse ? [] : [...services, ...apex].filter(isPlainName)
  const alias = chooseAlias(sets, path, aliases, isApex, report)
  for (const service of services) {
    if (service.text === '') continue
    if (alias === undefined) addText(sets, service)
    else if (service.kind === 0)
      report(service, `its text stands beside an alias, which must stand alone; expected a name of its own`)
  }
  return { records: sets.records(), cut }
}

function isSrv({ kind, port }: Service): boolean {
  return kind !== 0 && port > 0
}

/** A name that is not meant for an SRV or MX record. */
function isPlainName({ kind, port, mail }: Service): boolean {
  return kind === TYPE.CNAME && port <= 0 && !mail
}

/**
 * The one alias of the name, if it can have one. Text gives way to it: ExternalDNS keeps its notes in `text` beside the
 * host, and reads them from etcd, not by DNS. Everything else is worth more than an alias.
 */
function chooseAlias(
  sets: RecordSets,
  path: string,
  aliases: readonly Service[],
  isApex: boolean,
  report: (service: Service, problem: string) => void,
): Service | undefined {
  const stands = isApex ? 'the zone itself, which cannot be an alias' : sets.isEmpty ? undefined : 'other records'
  let chosen: Service | undefined
  for (const service of aliases) {
    if (stands !== undefined) report(service, `its alias stands beside ${stands}; expected addresses`)
    else if (pointsAt(service, path)) report(service, 'its name is an alias for itself; expected another host')
    else if (chosen === undefined) {
      chosen = service
      sets.add(TYPE.CNAME, '', service.host, service)
    } else if (service.host !== chosen.host)
      report(service, `its alias stands beside another, which comes first; expected one host for all`)
  }
  return chosen
}
