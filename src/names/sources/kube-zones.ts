// Zones whose names come from Kubernetes objects, put into service name by name.

import { formatName, isSubdomain, parseName } from '../../dns/name.ts'
import { TYPE } from '../../dns/types.ts'
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
  update(names: Iterable<string>, serial: number): void {
    for (const name of names) {
      const owner = ownerOf(name)
      const zone = owner && this.#zones.find(({ wire }) => isSubdomain(owner, wire))
      if (owner !== undefined && zone !== undefined) this.#set(zone, owner, name)
    }
    for (const { part } of this.#zones) part.commit(serial)
  }

  #set({ part, own }: Zone, owner: Uint8Array, name: string): void {
    try {
      const endpoints = this.#names.settle(name)
      const records = endpoints.flatMap((endpoint) => endpointRecords(endpoint, this.#ttlSeconds))
      const ownRecords = own.get(formatName(owner)) ?? []
      if (ownRecords.length > 0 && records.some(({ type }) => type === TYPE.CNAME))
        this.#names.tell(name, [
          `Cannot serve "${name}" as a CNAME: the zone itself has records there; another name is wanted`,
        ])
      else part.set(owner, [...ownRecords, ...records])
    } catch (thrown) {
      this.#names.tell(name, [`Cannot serve "${name}": ${messageOf(thrown)}; it stays as it is`])
    }
  }
}
