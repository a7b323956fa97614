// What happens to endpoints between their object and the index, after the wrappers that ExternalDNS puts around its
// sources: default targets, networks that targets may be in, a TTL where nobody said one, and PTR records. Letter case
// of names is our own concern.

import { BlockList, isIP, isIPv4 } from 'node:net'
import { HoldfastError } from '../../lib/errors.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { endpointsForHostname, targetSet } from './hostname-endpoints.ts'

export interface ShapeSettings {
  /** Targets of endpoints that have none, or of all of them. */
  readonly defaultTargets: readonly string[]
  readonly forceDefaultTargets: boolean
  /** CIDR; a target must be an address in one of them. Empty: anywhere, and names too. */
  readonly targetNets: readonly string[]
  readonly excludeTargetNets: readonly string[]
  /** For endpoints without a TTL; 0: none. */
  readonly minTtlSeconds: number
  /** PTR records for addresses, unless an object says otherwise. */
  readonly createPtr: boolean
  /** Names in lower case: CoreDNS asks etcd for no others. */
  readonly lowerCase: boolean
}

export const DEFAULT_SHAPE: ShapeSettings = {
  defaultTargets: [],
  forceDefaultTargets: false,
  targetNets: [],
  excludeTargetNets: [],
  minTtlSeconds: 0,
  createPtr: false,
  lowerCase: false,
}

export type Shape = (endpoints: readonly Endpoint[]) => readonly Endpoint[]

/** Properties of other providers say nothing here. */
const OURS = /^(?:coredns\/|[^/]*$)/u
/** What an object's annotation of the same name says, which is for us alone. */
const RECORD_TYPE = 'record-type'

export function endpointShape(settings: ShapeSettings): Shape {
  const { defaultTargets, forceDefaultTargets, minTtlSeconds, createPtr, lowerCase } = settings
  const allowed = networks(settings.targetNets)
  const excluded = networks(settings.excludeTargetNets)
  const isAllowed = (target: string) =>
    (allowed === undefined || contains(allowed, target)) && !(excluded && contains(excluded, target))

  const spelled = (endpoint: Endpoint): Endpoint => {
    const dnsName = lowerCase ? endpoint.dnsName.toLowerCase() : endpoint.dnsName
    return dnsName === endpoint.dnsName ? endpoint : { ...endpoint, dnsName }
  }

  const withTargets = (endpoint: Endpoint): readonly Endpoint[] => {
    if (defaultTargets.length === 0 || (endpoint.targets.length > 0 && !forceDefaultTargets)) return [endpoint]
    const { dnsName, labels, ...rest } = endpoint
    return endpointsForHostname(dnsName, targetSet(defaultTargets), rest).map((each) => ({ ...each, labels }))
  }

  const withAllowedTargets = (endpoint: Endpoint): readonly Endpoint[] => {
    const targets = endpoint.targets.filter(isAllowed)
    if (targets.length === 0) return []
    return [targets.length === endpoint.targets.length ? endpoint : { ...endpoint, targets }]
  }

  const finished = (endpoint: Endpoint): Endpoint => {
    const providerSpecific = endpoint.providerSpecific.filter(({ name }) => OURS.test(name) && name !== RECORD_TYPE)
    const { recordTTL = 0 } = endpoint
    return {
      ...endpoint,
      ...(recordTTL === 0 && minTtlSeconds > 0 && { recordTTL: minTtlSeconds }),
      providerSpecific:
        providerSpecific.length === endpoint.providerSpecific.length ? endpoint.providerSpecific : providerSpecific,
    }
  }

  return (endpoints) =>
    endpoints
      .map(spelled)
      .flatMap(withTargets)
      .flatMap(withAllowedTargets)
      .flatMap((endpoint) => [finished(endpoint), ...pointers(endpoint, createPtr).map(finished)])
}

/**
 * A PTR endpoint for each address; wildcards have none. Several objects can share an address, so it bears the name of
 * none of them, as with ExternalDNS.
 */
function pointers(endpoint: Endpoint, byDefault: boolean): Endpoint[] {
  const { dnsName, recordType, targets, providerSpecific, recordTTL } = endpoint
  if ((recordType !== 'A' && recordType !== 'AAAA') || dnsName.startsWith('*.')) return []
  const asked = providerSpecific.find(({ name }) => name === RECORD_TYPE)?.value
  if (asked === undefined ? !byDefault : asked.toUpperCase() !== 'PTR') return []
  return targets.map((target) => ({
    ...{ dnsName: reverseName(target), recordType: 'PTR', targets: [dnsName], labels: {}, providerSpecific: [] },
    ...(recordTTL !== undefined && { recordTTL }),
  }))
}

/** `192.0.2.1` → `1.2.0.192.in-addr.arpa`. */
export function reverseName(address: string): string {
  if (isIPv4(address)) return `${address.split('.').toReversed().join('.')}.in-addr.arpa`
  return `${hexDigits(address).toReversed().join('.')}.ip6.arpa`
}

function hexDigits(address: string): string[] {
  const [head, tail] = address.split('::')
  const groups = (text: string | undefined) =>
    (text ?? '')
      .split(':')
      .filter((group) => group !== '')
      .flatMap((group) => (isIPv4(group) ? groupsOfIpv4(group) : [group]))
  const before = groups(head)
  const after = groups(tail)
  const middle = Array.from({ length: 8 - before.length - after.length }, () => '0')
  return [...before, ...middle, ...after].flatMap((group) => [...group.padStart(4, '0').toLowerCase()])
}

function groupsOfIpv4(address: string): string[] {
  const [a, b, c, d] = address.split('.').map(Number)
  return [(a << 8) | b, (c << 8) | d].map((group) => group.toString(16))
}

function networks(texts: readonly string[]): BlockList | undefined {
  if (texts.length === 0) return undefined
  const list = new BlockList()
  for (const text of texts) {
    const [, address = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/u.exec(text) ?? []
    const family = isIP(address)
    if (family === 0 || Number(bits) > (family === 4 ? 32 : 128))
      throw new HoldfastError('Usage', `Cannot use "${text}" as a network: expected one such as 10.0.0.0/8`)
    list.addSubnet(address, Number(bits), family === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}

/** A name is in no network. */
function contains(list: BlockList, target: string): boolean {
  const family = isIP(target)
  return family !== 0 && list.check(target, family === 4 ? 'ipv4' : 'ipv6')
}
