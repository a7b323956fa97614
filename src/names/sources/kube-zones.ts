// Zones whose names come from Kubernetes objects, put into service name by name.

import type { Steps } from '../../dns/steps.ts'
import { formatName, isSubdomain, parseName } from '../../dns/name.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { endpointRecords, ownerOf } from '../endpoints/endpoint-records.ts'
import { SettledNames } from '../kubernetes/settled-names.ts'
import type { ApexRecords } from '../kubevirt/zone-apex.ts'
import type { SourceRecord, ZonePart } from '../part.ts'

export interface KubeZone {
  readonly origin: string
  readonly part: ZonePart
  /** SOA and NS, with names below the apex that belong to them. */
  readonly apex: readonly ApexRecords[]
}

export interface KubeZonesOptions {
  readonly zones: readonly KubeZone[]
  /** Of names whose objects say nothing of it. */
  readonly ttlSeconds: number
  readonly candidates: (name: string) => readonly Endpoint[]
  readonly onProblem: (message: string) => void
}

interface Zone extends KubeZone {
  readonly wire: Uint8Array
  /** What the zone has of itself, by name. */
  readonly own: ReadonlyMap<string, readonly SourceRecord[]>
}

export class KubeZones {
  readonly #ttlSeconds: number
  readonly #names: SettledNames
  /** The longest names first. */
  readonly #zones: readonly Zone[]

  constructor({ zones, ttlSeconds, candidates, onProblem }: KubeZonesOptions) {
    this.#ttlSeconds = ttlSeconds
    this.#names = new SettledNames(candidates, onProblem)
    this.#zones = zones
      .map((zone) => ({
        ...zone,
        wire: parseName(zone.origin),
        own: new Map(zone.apex.map(({ owner, records }) => [formatName(owner), records])),
      }))
      .toSorted((a, b) => b.wire.length - a.wire.length)
    for (const { part, apex } of this.#zones) for (const { owner, records } of apex) part.set(owner, records)
  }

  /** Puts what is wanted of these names into service. */
  *update(names: Iterable<string>, serial: number): Steps<void> {
    for (const name of names) {
      yield
      const owner = ownerOf(name)
      const zone = owner && this.#zones.find(({ wire }) => isSubdomain(owner, wire))
      if (owner !== undefined && zone !== undefined) this.#set(zone, owner, name)
    }
    for (const { part } of this.#zones) part.commit(serial)
  }

  /** What cannot be served is left out: whoever asks for it must not keep others from having their records there. */
  #set({ part, own, wire }: Zone, owner: Uint8Array, name: string): void {
    const ownRecords = own.get(formatName(owner)) ?? []
    const place = { isApex: owner.length === wire.length, isTaken: ownRecords.length > 0, isFirst: part.isFirst() }
    const problems: string[] = []
    try {
      const records = this.#names.settle(name).flatMap((endpoint) => {
        try {
          const fault = faultInZone(endpoint, place)
          if (fault === undefined) return endpointRecords(endpoint, this.#ttlSeconds)
          problems.push(`Cannot serve "${name}" as ${endpoint.recordType}: ${fault}`)
        } catch (thrown) {
          problems.push(`Cannot serve "${name}" as ${endpoint.recordType}: ${messageOf(thrown)}; it is left out`)
        }
        return []
      })
      part.set(owner, [...ownRecords, ...records])
    } catch (thrown) {
      problems.push(`Cannot serve "${name}": ${messageOf(thrown)}; it stays as it is`)
    }
    this.#names.tell(name, problems)
  }
}

function faultInZone(
  { recordType, targets }: Endpoint,
  { isApex, isTaken, isFirst }: { readonly isApex: boolean; readonly isTaken: boolean; readonly isFirst: boolean },
): string | undefined {
  if (recordType === 'CNAME' && isTaken) return 'the zone itself has records there; expected another name'
  if (recordType === 'CNAME' && targets.length > 1) return `it has ${targets.length} targets; expected one`
  if (recordType === 'NS' && !isFirst)
    return 'a source before this one has the zone, and a delegation would hide its names; expected a zone without others'
  // Whoever may create an object would otherwise have a say in who serves the zone.
  if (recordType === 'NS' && isApex) return 'it is the zone itself; its name servers are to be set with the zone'
  return undefined
}
