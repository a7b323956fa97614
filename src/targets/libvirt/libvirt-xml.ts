// What libvirt says in XML, as the facts we ask for. Elements that we do not know are passed over.

import { parseXml, XmlElement } from '@rgrove/parse-xml'
import type { Domain, DomainFacts, HostFacts, Network, Pool, Volume } from './hypervisor.ts'
import { RECORD_ELEMENT, RECORD_NAMESPACE } from './record-xml.ts'

export type DomainXml = Pick<Domain, 'name' | 'uuid' | 'metadata'> & {
  /** Undefined when it is off. */
  readonly id: string | undefined
  readonly facts: DomainFacts
}

export function readDomainXml(xml: string): DomainXml {
  const domain = rootOf(xml)
  const [devices] = childrenOf(domain, 'devices')
  const [vcpu] = childrenOf(domain, 'vcpu')
  return {
    name: textAt(domain, 'name') ?? '',
    uuid: textAt(domain, 'uuid') ?? '',
    id: domain.attributes.id,
    metadata: ownMetadata(domain),
    facts: {
      type: domain.attributes.type,
      vcpus: Number(vcpu.attributes.current ?? vcpu.text),
      // What a machine has now; `memory` is what it may be given.
      memoryMib: mib(textAt(domain, 'currentMemory') ?? textAt(domain, 'memory')),
      maxMemoryMib: mib(textAt(domain, 'memory')),
      macs: find(devices, 'interface', 'mac').map(({ attributes }) => attributes.address.toLowerCase()),
      disks: [...find(devices, 'disk', 'source'), ...find(devices, 'filesystem', 'source')].flatMap(sourcePath),
    },
  }
}

export function readNetworkXml(xml: string, isActive: boolean): Network {
  const network = rootOf(xml)
  const [forward] = childrenOf(network, 'forward')
  return {
    name: textAt(network, 'name') ?? '',
    uuid: textAt(network, 'uuid') ?? '',
    isActive,
    forward: forward === undefined ? undefined : (forward.attributes.mode ?? 'nat'),
    addresses: find(network, 'ip').map(({ attributes: { address, prefix, netmask } }) => ({
      address,
      prefixLength: prefix === undefined ? maskLength(netmask) : Number(prefix),
    })),
    ranges: find(network, 'ip', 'dhcp', 'range').map(({ attributes: { start, end } }) => ({ first: start, last: end })),
  }
}

export function readPoolXml(xml: string, isActive: boolean): Pool {
  const pool = rootOf(xml)
  return {
    name: textAt(pool, 'name') ?? '',
    isActive,
    type: pool.attributes.type,
    path: textAt(pool, 'target', 'path'),
    availableBytes: Number(textAt(pool, 'available')),
  }
}

export function readVolumeXml(xml: string, pool: string): Volume {
  const volume = rootOf(xml)
  const modified = textAt(volume, 'target', 'timestamps', 'mtime')
  return {
    pool,
    name: textAt(volume, 'name') ?? '',
    key: textAt(volume, 'key') ?? '',
    path: textAt(volume, 'target', 'path') ?? '',
    // Pools of other kinds than directories do not say: their volumes are disks.
    format: find(volume, 'target', 'format')[0]?.attributes.type ?? 'raw',
    capacityBytes: Number(textAt(volume, 'capacity')),
    allocationBytes: Number(textAt(volume, 'allocation')),
    ...(modified !== undefined && { modified }),
  }
}

export function readCapabilitiesXml(xml: string): Pick<HostFacts, 'arch' | 'domainTypes' | 'security'> {
  const capabilities = rootOf(xml)
  const arch = textAt(capabilities, 'host', 'cpu', 'arch') ?? ''
  const guests = find(capabilities, 'guest', 'arch').filter(({ attributes }) => attributes.name === arch)
  const types = guests.flatMap((guest) => find(guest, 'domain').map(({ attributes }) => attributes.type))
  const models = find(capabilities, 'host', 'secmodel', 'model').map(({ text }) => text)
  return { arch, domainTypes: [...new Set(types)], security: models.filter((model) => model !== 'none') }
}

/** The name of the network interface that a node device is. */
export function readInterfaceXml(xml: string): string | undefined {
  return find(rootOf(xml), 'capability', 'interface')[0]?.text
}

export function readElementText(xml: string): string {
  return rootOf(xml).text
}

function ownMetadata(domain: XmlElement): string | undefined {
  const isOurs = ({ name, attributes }: XmlElement) => {
    const [prefix, local] = name.includes(':') ? name.split(':') : [undefined, name]
    const namespace = attributes[prefix === undefined ? 'xmlns' : `xmlns:${prefix}`]
    return namespace === RECORD_NAMESPACE && local === RECORD_ELEMENT
  }
  return childrenOf(domain, 'metadata')
    .flatMap((metadata) => childrenOf(metadata))
    .find(isOurs)?.text
}

function sourcePath({ attributes: { file, dev, dir, pool, volume, name } }: XmlElement): string[] {
  const path = file ?? dev ?? dir ?? (pool === undefined ? name : `${pool}/${volume}`)
  return path === undefined ? [] : [path]
}

function rootOf(xml: string): XmlElement {
  const { root } = parseXml(xml)
  if (root === null) throw new Error('Cannot read what libvirt says: no XML element')
  return root
}

function childrenOf(parent: XmlElement, name?: string): XmlElement[] {
  return parent.children.filter(
    (child): child is XmlElement => child instanceof XmlElement && (name === undefined || child.name === name),
  )
}

/** All that are reached by these names, one below the other. */
function find(parent: XmlElement, ...names: readonly string[]): XmlElement[] {
  return names.reduce((found, name) => found.flatMap((element) => childrenOf(element, name)), [parent])
}

function textAt(parent: XmlElement, ...names: readonly string[]): string | undefined {
  return find(parent, ...names)[0]?.text
}

/** libvirt prints KiB, whatever it was given. */
function mib(kib = '0'): number {
  return Math.round(Number(kib) / 1024)
}

function maskLength(mask = '255.255.255.255'): number {
  const bits = mask.split('.').map((octet) => Number(octet).toString(2).replaceAll('0', ''))
  return bits.join('').length
}
