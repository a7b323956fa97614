// The network of a machine for cloud-init, version 2: static addresses, interfaces known by their MAC. It is written so
// that all who have to read it agree: cloud-init of Debian 12 makes ::/64 of the route ::/0, so IPv6 has a gateway instead;
// netplan looks for MAC addresses that interfaces of containers do not have, and these have their names already.

import { isIP, isIPv6 } from 'node:net'
import { reveal } from '../../../machine/content.ts'
import type { PlacedInterface, Placement } from '../placement.ts'
import { type YamlMap, yamlContent } from './yaml-content.ts'

export function networkConfig({ interfaces, kind }: Placement): string {
  // Two default routes of a family are one too many: cloud-init of Debian 12 loses the metrics that would tell them apart.
  const leading = [4, 6].map((family) => interfaces.find(({ gateway = '' }) => isIP(gateway) === family))
  const ethernets = interfaces.map((each, index): [string, YamlMap] => {
    const name = `eth${index}`
    const known = kind === 'lxc' ? {} : { match: { macaddress: each.mac }, 'set-name': name }
    return [name, { ...known, ...addresses(each, leading.includes(each)) }]
  })
  return reveal(yamlContent({ version: 2, ethernets: Object.fromEntries(ethernets) }))
}

function addresses({ ip, prefixLength, gateway, dnsServers }: PlacedInterface, isLeading: boolean): YamlMap {
  return {
    addresses: [`${ip}/${prefixLength}`],
    ...(isLeading && gateway !== undefined ? defaultRoute(gateway) : {}),
    nameservers: dnsServers.length === 0 ? undefined : { addresses: dnsServers },
    // Nobody will advertise anything: waiting for it takes many seconds of a boot.
    'accept-ra': false,
    // IPv6 does not work without.
    'link-local': isIPv6(ip) ? undefined : [],
  }
}

function defaultRoute(gateway: string): YamlMap {
  return isIPv6(gateway) ? { gateway6: gateway } : { routes: [{ to: '0.0.0.0/0', via: gateway }] }
}
