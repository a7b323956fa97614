// What services become as records, whichever way they were gathered for a name.

import { TYPE } from '../../dns/types.ts'
import { strip, wireOf } from './path.ts'
import type { RecordSets } from './record-sets.ts'
import type { Service } from './service.ts'

const LONGEST_STRING = 255
const DEFAULT_WEIGHT = 100

export function withHost(services: readonly Service[]): readonly Service[] {
  return services.every(hasHost) ? services : services.filter(hasHost)
}

function hasHost({ kind }: Service): boolean {
  return kind !== 0
}

/** The name that SRV, MX and NS records point at: the host, or for an address the name of the key. */
export function targetOf({ kind, host, path, targetStrip }: Service): string {
  return kind === TYPE.CNAME ? host : wireOf(strip(path, targetStrip))
}

export function addAddresses(sets: RecordSets, services: readonly Service[]): void {
  for (const service of services)
    if (service.kind === TYPE.A || service.kind === TYPE.AAAA) sets.add(service.kind, service.host, service)
}

/** Weights become shares of 100 among the services of one priority; `isSrv` tells those that get a record. */
export function addSrv(sets: RecordSets, services: readonly Service[], isSrv: (service: Service) => boolean): void {
  const sums = new Map<number, number>()
  for (const service of services) sums.set(service.priority, (sums.get(service.priority) ?? 0) + weightOf(service))
  for (const service of services) {
    if (sets.isFull(TYPE.SRV)) return
    if (!isSrv(service)) continue
    const { priority, port } = service
    const share = Math.max(1, Math.floor((100 / (sums.get(priority) ?? 1)) * weightOf(service)))
    sets.add(TYPE.SRV, uint16(priority) + uint16(share) + uint16(port) + targetOf(service), service)
  }
}

function weightOf({ weight }: Service): number {
  return weight === 0 ? DEFAULT_WEIGHT : weight
}

export function addMail(sets: RecordSets, services: readonly Service[], isMail: (service: Service) => boolean): void {
  for (const service of services)
    if (isMail(service)) sets.add(TYPE.MX, uint16(service.priority) + targetOf(service), service)
}

export function addText(sets: RecordSets, service: Service): void {
  let rdata = ''
  for (let at = 0; at < service.text.length; at += LONGEST_STRING) {
    const string = service.text.slice(at, at + LONGEST_STRING)
    rdata += String.fromCharCode(string.length) + string
  }
  sets.add(TYPE.TXT, rdata, service)
}

function uint16(value: number): string {
  return String.fromCharCode(value >> 8, value & 0xff)
}
