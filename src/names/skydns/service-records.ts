// What services become as records, whichever way they were gathered for a name.

import { TYPE } from '../../dns/types.ts'
import type { RecordSets } from './record-sets.ts'
import type { Service } from './parse-service.ts'

const LONGEST_STRING = 255
const DEFAULT_WEIGHT = 100

export function withHost(services: readonly Service[]): readonly Service[] {
  return services.every(hasHost) ? services : services.filter(hasHost)
}

function hasHost({ kind }: Service): boolean {
  return kind !== 0
}

export function addAddresses(sets: RecordSets, services: readonly Service[]): void {
  for (const service of services)
    if (service.kind === TYPE.A || service.kind === TYPE.AAAA) sets.add(service.kind, '', service.host, service)
}

/**
 * Weights become shares of 100 among the services of one priority; `isSrv` tells those that get a record. Several
 * addresses of one name at the same port are one server: the first counts.
 */
export function addSrv(sets: RecordSets, services: readonly Service[], isSrv: (service: Service) => boolean): void {
  const sums = new Map<number, number>()
  for (const service of services) sums.set(service.priority, (sums.get(service.priority) ?? 0) + weightOf(service))
  const byPort = new Map<number, Set<string>>()
  for (const service of services) {
    if (sets.isFull(TYPE.SRV)) return
    if (!isSrv(service)) continue
    const { kind, priority, port, target } = service
    if (kind !== TYPE.CNAME) {
      const targets = byPort.get(port)
      if (targets === undefined) byPort.set(port, new Set([target]))
      else if (targets.has(target)) continue
      else targets.add(target)
    }
    const share = Math.max(1, Math.floor((100 / (sums.get(priority) ?? 1)) * weightOf(service)))
    sets.add(TYPE.SRV, uint16s(priority, share, port), target, service)
  }
}

function weightOf({ weight }: Service): number {
  return weight === 0 ? DEFAULT_WEIGHT : weight
}

export function addMail(sets: RecordSets, services: readonly Service[], isMail: (service: Service) => boolean): void {
  for (const service of services)
    if (isMail(service)) sets.add(TYPE.MX, uint16s(service.priority), service.target, service)
}

/** NS records of a zone from the services at its dns/ns. */
export function addNameServers(sets: RecordSets, services: readonly Service[]): void {
  for (const service of services) sets.add(TYPE.NS, '', service.target, service)
}

export function addText(sets: RecordSets, service: Service): void {
  const { text } = service
  if (text.length <= LONGEST_STRING) return sets.add(TYPE.TXT, String.fromCharCode(text.length), text, service)
  let strings = ''
  for (let at = 0; at < text.length; at += LONGEST_STRING) {
    const string = text.slice(at, at + LONGEST_STRING)
    strings += String.fromCharCode(string.length) + string
  }
  sets.add(TYPE.TXT, '', strings, service)
}

function uint16s(...values: number[]): string {
  let text = ''
  for (const value of values) text += String.fromCharCode(value >> 8, value & 0xff)
  return text
}
