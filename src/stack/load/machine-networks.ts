// The networks of machines with `target: libvirt`: those that a machine names, else `machine_network`, where it gets an
// address that is free and keeps it.

import { isIP } from 'node:net'
import type { Path } from '../../document/located.ts'
import { type AddressRange, addressesIn, isInRange } from '../../machine/address-range.ts'
import type { NetworkInterface } from '../../machine/hardware.ts'
import type { MachineNetworkDocument } from '../../machine/schema-networks.ts'
import type { MachineEntry } from './hardware.ts'
import { type Given, nearest } from './layers.ts'
import type { StackResolver } from './resolver.ts'

/** `given`: the interfaces that machines name themselves, by machine. `kept`: addresses that machines have had. */
export function networksByMachine(
  entries: readonly MachineEntry[],
  given: ReadonlyMap<string, readonly NetworkInterface[]>,
  kept: Readonly<Record<string, string>>,
  resolver: StackResolver,
): ReadonlyMap<string, readonly NetworkInterface[]> {
  const taken = new Set([...given.values()].flat().flatMap(({ ip = [] }) => ip))
  const names = new Set(entries.map(({ name }) => name))
  // Machines that are about to go have theirs until they are gone.
  for (const [machine, address] of Object.entries(kept)) if (!names.has(machine)) taken.add(address)
  const shared = entries.flatMap((entry) => {
    const network = given.get(entry.name)?.length === 0 ? nearest(entry.settings, 'machine_network') : undefined
    return network === undefined ? [] : [{ entry, network }]
  })
  const found = new Map<string, readonly NetworkInterface[]>()
  const give = (name: string, network: MachineNetworkDocument, address: string) => {
    taken.add(address)
    found.set(name, [interfaceOf(network, address)])
  }
  for (const { entry, network } of shared) {
    const before = Object.hasOwn(kept, entry.name) ? kept[entry.name] : undefined
    if (before !== undefined && isInRange(before, network.value.addresses) && !taken.has(before))
      give(entry.name, network.value, before)
  }
  // Those of a range that nobody has looked at: whatever came before is taken.
  const unseen = new Map<AddressRange, Iterator<string>>()
  for (const { entry, network } of shared) {
    if (found.has(entry.name)) continue
    const { addresses } = network.value
    const rest = unseen.get(addresses) ?? addressesIn(addresses)
    unseen.set(addresses, rest)
    const free = nextOf(rest, taken)
    if (free !== undefined) give(entry.name, network.value, free)
    else tellFull(entry.name, network, resolver)
  }
  for (const entry of entries) {
    if (found.has(entry.name)) continue
    const own = given.get(entry.name) ?? []
    if (!shared.some((each) => each.entry === entry)) checkOwn(own, entry.path, resolver)
    found.set(entry.name, own)
  }
  return found
}

function nextOf(addresses: Iterator<string>, taken: ReadonlySet<string>): string | undefined {
  for (let next = addresses.next(); !next.done; next = addresses.next()) if (!taken.has(next.value)) return next.value
  return undefined
}

function interfaceOf(network: MachineNetworkDocument, ip: string): NetworkInterface {
  const { network_id, network_name = '', prefix_length, gateway, dns_servers = [] } = network
  return {
    attach: network_id === undefined ? { networkName: network_name } : { networkId: network_id },
    ...{ ip, mac: undefined, prefixLength: prefix_length, gateway, dnsServers: dns_servers },
  }
}

function checkOwn(own: readonly NetworkInterface[], path: Path, resolver: StackResolver): void {
  if (own.length === 0)
    resolver.problem(
      path,
      'it has no network; expected "libvirt_network" or "macvtap_interfaces" for it, or "machine_network" for all machines',
    )
  if (own.some(({ ip }) => ip === undefined))
    resolver.problem(path, 'an interface has no address; expected "ip" for each of its interfaces')
  tellUnused(own, path, resolver)
}

/** A machine has one way out for each family. */
function tellUnused(own: readonly NetworkInterface[], path: Path, resolver: StackResolver): void {
  for (const family of [4, 6]) {
    const [first, ...others] = own.flatMap(({ gateway = '' }) => (isIP(gateway) === family ? gateway : []))
    if (others.length > 0)
      resolver.notice(
        path,
        `it has several gateways: the default route uses ${first}; ${others.join(', ')} ${others.length === 1 ? 'is' : 'are'} ignored`,
      )
  }
}

function tellFull(machine: string, { path, value }: Given<MachineNetworkDocument>, resolver: StackResolver): void {
  const { first, last } = value.addresses
  resolver.problem([...path, 'addresses'], `${first}-${last} has none left for "${machine}"; expected more of them`)
}
