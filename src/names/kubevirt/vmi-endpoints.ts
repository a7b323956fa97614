// The names of a VirtualMachineInstance: `<interface>.<machine>.<namespace>.<zone>` for each interface that counts, and
// `<machine>.<namespace>.<zone>` for one of them, the default. Everything is about the interfaces as KubeSecondaryDNS
// sorts them: by the text of their record, so `nic10` is before `nic2`.

import { MAX_LABEL_LENGTH, MAX_NAME_LENGTH } from '../../dns/name.ts'
import { type Endpoint, LABEL } from '../endpoints/endpoint.ts'
import type { RootEndpoints } from '../kubernetes/endpoint-source.ts'
import { quoted } from '../kubernetes/object-problems.ts'
import { type Address, isOfUse, parseAddress } from './published-address.ts'
import { secondaryInterfaces, type VirtualMachineInstance } from './virtual-machine-instance.ts'

export interface VmiNaming {
  /** Names are below it; without the final dot. */
  readonly zone: string
  readonly ttlSeconds: number
  /** Of an interface: all of its addresses, or the first IPv4 and the first IPv6 address. */
  readonly addresses: 'all' | 'first'
}

interface NamedInterface {
  readonly dnsName: string
  /** What KubeSecondaryDNS sorts by. */
  readonly order: string
  readonly addresses: readonly Address[]
}

export function vmiEndpoints(vmi: VirtualMachineInstance, root: string, naming: VmiNaming): RootEndpoints {
  const { name, namespace = '' } = vmi.metadata
  const machine = `${name}.${namespace}`
  const subject = `VirtualMachineInstance "${namespace}/${name}"`
  const problems: string[] = []
  const named: NamedInterface[] = []
  for (const each of secondaryInterfaces(vmi)) {
    const where = `interface ${quoted(each.name)} of ${subject}`
    const addresses = usableAddresses(each.addresses, naming, (text) =>
      problems.push(`Cannot publish address ${quoted(text)} of ${where}: it is neither IPv4 nor IPv6; it is left out`),
    )
    if (addresses.length === 0) continue
    const owner = `${each.name}.${machine}`
    const problem = nameProblem(`${owner}.${naming.zone}`)
    if (problem !== undefined) problems.push(`Cannot name ${where}: ${problem}; it is left out`)
    else named.push({ dnsName: dnsName(owner, naming), order: `${owner} IN A ${addresses[0].text}`, addresses })
  }
  if (named.length === 0) return { endpoints: [], problems }
  named.sort((a, b) => Number(a.order > b.order) - Number(a.order < b.order))
  const names = Map.groupBy(named, (each) => each.dnsName)
  names.set(dnsName(machine, naming), [defaultInterface(named)])
  const endpoints = Array.from(names, ([each, interfaces]) => {
    const addresses = interfaces.flatMap((one) => one.addresses)
    return [...endpointOf(each, 'A', addresses, root, naming), ...endpointOf(each, 'AAAA', addresses, root, naming)]
  })
  return { endpoints: endpoints.flat(), problems }
}

/** The first with an IPv4 address; KubeSecondaryDNS knows no others. */
function defaultInterface(sorted: readonly NamedInterface[]): NamedInterface {
  return sorted.find(({ addresses }) => addresses.some(({ recordType }) => recordType === 'A')) ?? sorted[0]
}

/** IPv4 first. */
function usableAddresses(texts: readonly string[], { addresses }: VmiNaming, onBad: (text: string) => void): Address[] {
  const usable: Record<Address['recordType'], Address[]> = { A: [], AAAA: [] }
  for (const text of texts) {
    const address = parseAddress(text)
    if (address === undefined) onBad(text)
    else if (isOfUse(address)) usable[address.recordType].push(address)
  }
  const most = addresses === 'first' ? 1 : Infinity
  return [...usable.A.slice(0, most), ...usable.AAAA.slice(0, most)]
}

/** Targets are sorted, as the order in which a guest reports its addresses means nothing. */
function endpointOf(
  name: string,
  recordType: Address['recordType'],
  addresses: readonly Address[],
  root: string,
  { ttlSeconds }: VmiNaming,
): Endpoint[] {
  const texts = addresses.filter((address) => address.recordType === recordType).map(({ text }) => text)
  if (texts.length === 0) return []
  const targets = [...new Set(texts)].toSorted()
  const labels = { [LABEL.resource]: root }
  return [{ dnsName: name, recordType, targets, recordTTL: ttlSeconds, labels, providerSpecific: [] }]
}

function dnsName(relative: string, { zone }: VmiNaming): string {
  return `${relative}.${zone}`.toLowerCase()
}

function nameProblem(name: string): string | undefined {
  const labels = name.split('.')
  if (!labels.every((label) => /^[A-Za-z\d_-]+$/u.test(label)))
    return `${quoted(name)} is no domain name; expected letters, digits, "-" and "_"`
  if (labels.some(({ length }) => length > MAX_LABEL_LENGTH))
    return `a label of ${quoted(name)} has more than ${MAX_LABEL_LENGTH} octets`
  // On the wire it has one octet more in front, and one at the end.
  if (name.length + 2 > MAX_NAME_LENGTH) return `${quoted(name)} has more than ${MAX_NAME_LENGTH} octets`
  return undefined
}
