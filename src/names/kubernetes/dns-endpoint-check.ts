// Whether an endpoint that somebody wrote by hand can be: what ExternalDNS refuses is refused here, too, and the endpoint
// is left out as a whole.

import { isIP, isIPv4, isIPv6 } from 'node:net'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { parseLabels } from '../endpoints/labels.ts'
import { MAX_TTL } from './annotations-ttl.ts'
import { aliasTargetFault } from './hostname-check.ts'

/** What is wrong, and with what; undefined for nothing. */
export function endpointFault(endpoint: Endpoint): { what: string; value: string; reason: string } | undefined {
  const { dnsName, recordType, targets, providerSpecific, recordTTL = 0 } = endpoint
  if (recordType === '') return { what: 'endpoint', value: dnsName, reason: 'it has no recordType' }
  if (recordTTL > MAX_TTL)
    return { what: 'recordTTL', value: String(recordTTL), reason: `expected at most ${MAX_TTL} seconds` }
  const alias = providerSpecific.find(({ name }) => name === 'alias')?.value
  const isAddress = recordType === 'A' || recordType === 'AAAA'
  if (alias !== undefined && !isAddress && recordType !== 'CNAME')
    return { what: 'endpoint', value: dnsName, reason: `${recordType} has no alias` }
  if (recordType === 'PTR' && !/^[^.].*\.(?:in-addr|ip6)\.arpa$/iu.test(dnsName))
    return { what: 'endpoint', value: dnsName, reason: 'PTR wants a name below in-addr.arpa or ip6.arpa' }
  if (recordType === 'PTR' && targets.length === 0)
    return { what: 'endpoint', value: dnsName, reason: 'PTR wants a target' }
  if (isAddress && alias === 'true') return undefined
  for (const target of targets) {
    const reason = targetFault(recordType, target)
    if (reason !== undefined) return { what: 'target', value: target, reason }
  }
  return undefined
}

function targetFault(recordType: string, target: string): string | undefined {
  switch (recordType) {
    case 'CNAME':
    case 'DNAME':
      return aliasTargetFault(target)
    case 'TXT':
      return parseLabels(target) === undefined ? undefined : 'it would be taken for a mark of ownership'
    case 'A':
      return isIPv4(target) ? undefined : 'A wants an IPv4 address'
    case 'AAAA':
      return isIPv6(target) ? undefined : 'AAAA wants an IPv6 address'
    case 'MX':
      return isFields(target, 1) ? undefined : 'MX wants a preference and a name such as 10 mail.example.org'
    case 'SRV':
      return isFields(target, 3) && target.trim().endsWith('.')
        ? undefined
        : 'SRV wants priority, weight, port and a name with a final dot such as 0 5 5060 sip.example.org.'
    case 'NAPTR':
      return target.endsWith('.') ? undefined : 'NAPTR wants a final dot'
    case 'PTR':
      return target.trim() !== '' && isIP(target) === 0 && !target.endsWith('.')
        ? undefined
        : 'PTR wants a name without a final dot'
    default:
      return target.endsWith('.') ? `${recordType} wants no final dot` : undefined
  }
}

/** So many numbers of 16 bits, and a name. */
function isFields(target: string, numbers: number): boolean {
  const fields = target.trim().split(/\s+/u)
  return fields.length === numbers + 1 && fields.slice(0, numbers).every(isUint16)
}

function isUint16(text: string): boolean {
  return /^\d{1,5}$/u.test(text) && Number(text) < 2 ** 16
}
