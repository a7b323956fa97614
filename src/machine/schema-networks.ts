// How the network interfaces of a machine are written in a stack file: libvirt networks and macvtap interfaces.

import { isIP } from 'node:net'
import { z } from 'zod'
import { map, number, quote, text, written } from '../document/values.ts'
import { parseAddressRange } from './address-range.ts'

export const ip = written((word) => (isIP(word) === 0 ? undefined : word), 'address', 'an IP address', 'an IP address')

const mac = written(
  (word) =>
    /^[0-9a-f][02468ace](?::[0-9a-f]{2}){5}$/iu.test(word) && /[1-9a-f]/iu.test(word) ? word.toLowerCase() : undefined,
  'MAC address',
  'a MAC address of one interface',
  'six pairs of digits, the first one even, such as 52:54:00:de:e3:64',
)

/** May be empty, which is the same as leaving it out. */
export function maybeEmpty(wanted: string, isTaken: (word: string) => boolean = isPrintable) {
  return z
    .string({ error: wanted })
    .transform((word, context) => {
      if (word === '') return undefined
      if (isTaken(word)) return word
      context.addIssue({ code: 'custom', message: `${quote(word)} cannot be used; expected ${wanted}` })
      return z.NEVER
    })
    .optional()
}

function isPrintable(word: string): boolean {
  return !/\p{Cc}/u.test(word)
}

const LONGEST_PREFIX = 128
const PREFIX_LENGTH = `a number from 0 to ${LONGEST_PREFIX}, such as 24`

const settings = {
  ip: ip.optional().describe('Address of the machine on this network.'),
  mac: mac.optional().describe('MAC address of the interface; one is made up unless given.'),
  prefix_length: z
    .union(
      [
        number(0, LONGEST_PREFIX),
        written((word) => (/^\d{1,2}$/u.test(word) ? Number(word) : undefined), 'number', 'a number', PREFIX_LENGTH),
      ],
      { error: PREFIX_LENGTH },
    )
    .optional()
    .describe('Length of the network prefix: 24 for 192.168.1.0/24.'),
  gateway: ip.optional().describe('Address of the gateway of the network.'),
  dns_servers: z.array(ip, { error: 'a list of addresses' }).optional().describe('Name servers to use.'),
}

const KNOWN_BY = 'a network is known by its id or by its name; expected either "network_id" or "network_name"'

const libvirtNetwork = map(
  {
    network_id: maybeEmpty('an id').describe('Id (UUID) of the libvirt network.'),
    network_name: maybeEmpty('a name').describe('Name of the libvirt network, where no id is given.'),
    ...settings,
  },
  'a map with "network_id" or "network_name"',
)
  .refine(({ network_id, network_name }) => (network_id === undefined) !== (network_name === undefined), {
    error: KNOWN_BY,
  })
  .meta({ id: 'libvirt-network' })

const addressRange = written(
  (word) => parseAddressRange(word),
  'FIRST-LAST',
  'a range of addresses',
  'the first and the last address, such as 192.168.122.100-192.168.122.199',
)

/** Where machines are connected that name no network of their own. */
export const machineNetworkSchema = map(
  {
    network_id: maybeEmpty('an id').describe('Id (UUID) of the libvirt network.'),
    network_name: maybeEmpty('a name').describe('Name of the libvirt network, where no id is given.'),
    addresses: addressRange.describe('Addresses that machines get, `FIRST-LAST`; each keeps the one it has.'),
    prefix_length: settings.prefix_length,
    gateway: settings.gateway,
    dns_servers: settings.dns_servers,
  },
  'a map with "network_name" and "addresses"',
)
  .refine(({ network_id, network_name }) => (network_id === undefined) !== (network_name === undefined), {
    error: KNOWN_BY,
  })
  .meta({ id: 'machine-network' })
export type MachineNetworkDocument = z.output<typeof machineNetworkSchema>

const libvirtNetworks = z.array(libvirtNetwork, { error: 'a list of networks' })

export const networkShape = {
  libvirt_network: z
    .union([libvirtNetwork, libvirtNetworks], { error: 'a network, or a list of them' })
    .optional()
    .describe('The libvirt network to connect to, or a list of them. Services are reached at the first.'),
  libvirt_networks: libvirtNetworks.optional().describe('The same, as a list.'),
  macvtap_interfaces: z
    .array(
      map({ interface: text('the name of an interface').describe('Interface of the host to attach to.'), ...settings }),
      { error: 'a list of interfaces' },
    )
    .optional()
    .describe('macvtap interfaces (bridge mode), after the libvirt networks.'),
}
