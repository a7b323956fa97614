// What machines reach and who reaches them: the way out, for packages, and the limits of macvtap.

import { type Finding, warning } from '../../finding.ts'
import type { PlaceFacts } from '../place-facts.ts'
import { namesOf, type PlacedMachine } from './placed-machine.ts'

/** Bridge mode connects guests with each other and with the network, and not with their own host. */
export function checkMacvtap(placed: readonly PlacedMachine[], { isLocal }: PlaceFacts): readonly Finding[] {
  const unreachable = placed.filter(({ placement }) => placement.interfaces.every(({ attach }) => 'macvtap' in attach))
  if (!isLocal || unreachable.length === 0) return []
  return [
    warning(
      'macvtap',
      `this host does not reach ${namesOf(machinesOf(unreachable))}: with macvtap, other machines do and their own host does not`,
      'run clients elsewhere in that network, or give them a "libvirt_network" as well',
    ),
  ]
}

export function checkOutgoing(placed: readonly PlacedMachine[]): readonly Finding[] {
  const installing = placed.filter(({ machine }) => machine.hardware.installDependencies)
  const enclosed = installing.filter(({ placement }) =>
    placement.interfaces.every(({ gateway }) => gateway === undefined),
  )
  const nameless = installing.filter(
    ({ placement }) =>
      !enclosed.some((other) => other.placement === placement) &&
      placement.interfaces.every(({ dnsServers }) => dnsServers.length === 0),
  )
  const fix = 'or "install_dependencies: false" with an image that has the packages'
  return [
    ...(enclosed.length === 0
      ? []
      : [
          warning(
            'outgoing',
            `${namesOf(machinesOf(enclosed))} should install packages at the first boot, and no network of theirs has a gateway`,
            `give an interface a "gateway", ${fix}`,
          ),
        ]),
    ...(nameless.length === 0
      ? []
      : [
          warning(
            'outgoing',
            `${namesOf(machinesOf(nameless))} should install packages at the first boot, and have no name servers`,
            `give an interface "dns_servers", ${fix}`,
          ),
        ]),
  ]
}

function machinesOf(placed: readonly PlacedMachine[]) {
  return placed.map(({ machine }) => machine)
}
