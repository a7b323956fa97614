// What of an endpoint can be stored, and thus be read back. Whoever plans with endpoints as they are stored finds no
// difference that writing could not settle, and so writes nothing twice.

import type { Endpoint } from '../../endpoints/endpoint.ts'
import { hostType, MAX_TTL } from './service-value.ts'
import { normalTarget, withoutFinalDot } from './target.ts'

export const GROUP_PROPERTY = 'coredns/group'
/** ExternalDNS hands a webhook only the properties under this name. */
const WEBHOOK_GROUP_PROPERTY = 'webhook/coredns-group'

const TYPES: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME', 'PTR', 'TXT'])

/** With nothing in it that is not kept: several targets of a reverse name, properties of other providers. */
export function asStored(endpoint: Endpoint): Endpoint {
  const { setIdentifier: _, recordType, targets, providerSpecific } = endpoint
  const different = new Map(
    targets.map((each) => (recordType === 'TXT' ? [each, each] : [normalTarget(each), withoutFinalDot(each)])),
  )
  const stored = [...different.values()]
  const isGroup = ({ name }: { name: string }) => name === GROUP_PROPERTY || name === WEBHOOK_GROUP_PROPERTY
  const group = providerSpecific.find(isGroup)?.value ?? ''
  return {
    dnsName: endpoint.dnsName,
    recordType,
    // The PTR record of a name has one key, and a key one host.
    targets: recordType === 'PTR' ? stored.toSorted().slice(0, 1) : stored,
    ...(endpoint.recordTTL !== undefined && { recordTTL: endpoint.recordTTL }),
    labels: endpoint.labels,
    providerSpecific: group === '' || recordType === 'TXT' ? [] : [{ name: GROUP_PROPERTY, value: group }],
  }
}

/** Why an endpoint cannot be stored; undefined when it can. */
export function storageProblem({ dnsName, recordType, targets, recordTTL = 0 }: Endpoint): string | undefined {
  const name = withoutFinalDot(dnsName)
  const cannot = `Cannot store "${name}" ${recordType}`
  if (name === '' || name.includes('/') || name.split('.').includes(''))
    return `${cannot}: the name has an empty label or a slash; expected labels that a key can spell`
  if (!TYPES.has(recordType))
    return `${cannot}: values in etcd have no room for this type; expected one of ${[...TYPES].join(', ')}`
  if (recordTTL < 0 || recordTTL > MAX_TTL)
    return `${cannot}: its TTL is ${recordTTL}; expected one from 0 to ${MAX_TTL}`
  if (recordType === 'TXT') return undefined
  const readAs = (target: string) => hostType(name, withoutFinalDot(target))
  const other = targets.find((target) => readAs(target) !== recordType)
  if (other === undefined) return undefined
  return `${cannot} "${other}": such a value is read as ${readAs(other)}; expected a target for ${recordType}`
}
