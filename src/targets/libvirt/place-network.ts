// The interfaces of a machine in their networks: what the stack file leaves open is what libvirt says of the network.

import { isIP } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { closest } from '../../lib/closest.ts'
import { HoldfastError } from '../../lib/errors.ts'
import type { NetworkInterface } from '../../machine/hardware.ts'
import type { Machine } from '../../machine/machine.ts'
import { type RecordedInterface, recordedInterfaces } from './hardware-changes.ts'
import type { Network } from './hypervisor.ts'
import { macOf } from './identity.ts'
import type { MachineRecord } from './machine-record.ts'
import type { PlaceFacts } from './place-facts.ts'
import type { PlacedInterface } from './placement.ts'
import { contains, formatSubnet, isInRange, isReserved, isSameAddress, longestPrefix, type Subnet } from './subnet.ts'

/** Takes what is in the way, so that all of it is told at once. */
export type Report = (problem: HoldfastError) => void

/** `before`: what the machine was made of, if it is there. What the stack file leaves open stays as it is then, whatever libvirt says now. */
export function placeInterfaces(
  machine: Machine,
  facts: PlaceFacts,
  before: MachineRecord['hardware'] | undefined,
  report: Report,
): readonly PlacedInterface[] {
  const { networks } = machine.hardware
  if (networks.length === 0) {
    report(
      new HoldfastError('NetworkMissing', `Cannot place "${machine.name}": it has no network`, {
        hint: 'give it "libvirt_network" with "network_name" and "ip", or "macvtap_interfaces"',
      }),
    )
  }
  const recorded = recordedInterfaces(before ?? {})
  const placed: PlacedInterface[] = []
  for (const [index, wanted] of networks.entries()) {
    const ip = wanted.ip ?? (index === 0 ? machine.address : undefined)
    const mac = wanted.mac?.toLowerCase() ?? macOf(facts.stack, machine.name, index)
    const known = reachOf(machine.name, wanted, facts, report)
    if (known === undefined) continue
    if (ip === undefined) {
      report(
        new HoldfastError('AddressMissing', `Cannot place "${machine.name}" ${known.on}: it has no address there`, {
          hint: 'give the interface an "ip"',
        }),
      )
      continue
    }
    // What the stack file says is the way out; where it says nothing, that of the network that is named first.
    const isWayOut = [...placed, ...networks].every(({ gateway = '' }) => isIP(gateway) !== isIP(ip))
    const made = recorded.find(({ attach, ...each }) => isDeepStrictEqual(attach, known.attach) && each.ip === ip)
    const address = addressIn(
      machine.name,
      ip,
      withRecorded(wanted, made, isWayOut),
      known,
      { isWayOut, isMade: made !== undefined },
      report,
    )
    if (address !== undefined) placed.push({ attach: known.attach, mac, ip, ...address })
  }
  return placed
}

function withRecorded(
  wanted: NetworkInterface,
  made: RecordedInterface | undefined,
  isWayOut: boolean,
): NetworkInterface {
  if (made === undefined) return wanted
  return {
    ...wanted,
    prefixLength: wanted.prefixLength ?? made.prefixLength,
    gateway: wanted.gateway ?? (isWayOut ? made.gateway : undefined),
    dnsServers: wanted.dnsServers.length > 0 ? wanted.dnsServers : made.dnsServers,
  }
}

/** What is told of a machine and is not in its way. */
export function networkNotes(
  machine: Machine,
  interfaces: readonly PlacedInterface[],
  facts: PlaceFacts,
): readonly string[] {
  return interfaces.flatMap(({ attach, ip }) => {
    if (!('network' in attach)) return []
    const network = facts.networks.find(({ name }) => name === attach.network)
    const range = network?.ranges.find(({ first, last }) => isInRange(ip, first, last))
    if (range === undefined) return []
    return [
      `${ip} of "${machine.name}" is one of those that DHCP gives away on network "${attach.network}" (${range.first} to ${range.last}); another guest may get it`,
    ]
  })
}

interface Reach {
  readonly attach: PlacedInterface['attach']
  /** For messages: `on network "lan"`. */
  readonly on: string
  /** Undefined for an interface of the host: nobody knows what is behind it. */
  readonly network: Network | undefined
}

function reachOf(
  machine: string,
  { attach }: NetworkInterface,
  { networks, hostInterfaces, uri }: PlaceFacts,
  report: Report,
): Reach | undefined {
  if ('macvtap' in attach) {
    const name = attach.macvtap
    if (!hostInterfaces.includes(name)) {
      const hint = suggestion(name, hostInterfaces)
      const message = `Cannot place "${machine}" on interface "${name}": ${uri} has none of that name; it has ${listOf(hostInterfaces)}`
      report(new HoldfastError('InterfaceMissing', message, hint))
      return undefined
    }
    return { attach: { macvtap: name }, on: `on interface "${name}"`, network: undefined }
  }
  const network =
    'networkId' in attach
      ? networks.find(({ uuid }) => uuid.toLowerCase() === attach.networkId.toLowerCase())
      : networks.find(({ name }) => name === attach.networkName)
  if (network === undefined) {
    const [asked, has] =
      'networkId' in attach
        ? [attach.networkId, networks.map(({ name, uuid }) => `${name} (${uuid})`)]
        : [attach.networkName, networks.map(({ name }) => name)]
    const message = `Cannot place "${machine}" on network "${asked}": ${uri} has none of that ${'networkId' in attach ? 'id' : 'name'}; it has ${listOf(has)}`
    report(new HoldfastError('NetworkMissing', message, 'networkId' in attach ? {} : suggestion(asked, has)))
    return undefined
  }
  if (!network.isActive) {
    report(
      new HoldfastError('NetworkInactive', `Cannot place "${machine}" on network "${network.name}": it is not active`, {
        hint: `virsh -c ${uri} net-start ${network.name}`,
      }),
    )
    return undefined
  }
  return { attach: { network: network.name }, on: `on network "${network.name}"`, network }
}

type Address = Pick<PlacedInterface, 'prefixLength' | 'gateway' | 'dnsServers'>

function addressIn(
  machine: string,
  ip: string,
  wanted: NetworkInterface,
  { on, network }: Reach,
  { isWayOut, isMade }: { readonly isWayOut: boolean; readonly isMade: boolean },
  report: Report,
): Address | undefined {
  const subnets = network?.addresses ?? []
  const host = subnets.find((each) => contains(each, ip))
  const refuse = (problem: string): undefined => {
    report(new HoldfastError('AddressOutsideNetwork', `Cannot place "${machine}" ${on}: ${problem}`))
  }
  if (subnets.length > 0 && host === undefined) {
    return refuse(`its address ${ip} is outside of ${subnets.map(formatSubnet).join(' and ')}`)
  }
  const prefixLength = wanted.prefixLength ?? host?.prefixLength
  if (prefixLength === undefined) {
    const message = `Cannot place "${machine}" ${on}: how long its network prefix is, only the stack file can say`
    report(new HoldfastError('PrefixMissing', message, { hint: 'give the interface a "prefix_length", such as 24' }))
    return undefined
  }
  if (prefixLength > longestPrefix(ip)) {
    return refuse(`a prefix of ${prefixLength} is too long for ${ip}; at most ${longestPrefix(ip)}`)
  }
  const subnet: Subnet = { address: ip, prefixLength }
  if (isReserved(subnet)) return refuse(`${ip} stands for all of ${formatSubnet(subnet)}; expected one of its others`)
  if (host !== undefined && isSameAddress(host.address, ip)) return refuse(`${ip} is the host's own`)
  const isIsolated = network?.forward === undefined
  const known = host === undefined || isIsolated || isMade ? undefined : host.address
  const gateway = wanted.gateway ?? (isWayOut ? known : undefined)
  if (gateway !== undefined && !contains(subnet, gateway)) {
    return refuse(`its gateway ${gateway} is outside of ${formatSubnet(subnet)}`)
  }
  if (gateway !== undefined && (isSameAddress(gateway, ip) || isReserved({ address: gateway, prefixLength }))) {
    return refuse(`its gateway ${gateway} is the machine itself, or stands for all of ${formatSubnet(subnet)}`)
  }
  const dnsServers = wanted.dnsServers.length > 0 || known === undefined ? wanted.dnsServers : [known]
  return { prefixLength, gateway, dnsServers }
}

/** `"a", "b"` or `none`. */
export function listOf(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.map((name) => `"${name}"`).join(', ')
}

export function suggestion(word: string, candidates: readonly string[]): { readonly hint?: string } {
  const near = closest(word, candidates)
  return near === undefined ? {} : { hint: `did you mean "${near}"?` }
}
