// A hypervisor made of plain data: it has what a test says, and does nothing.

import type { Domain, HostFacts, Hypervisor, Network, Pool, Volume } from '../../src/targets/libvirt/hypervisor.ts'

export interface HypervisorData {
  readonly uri?: string
  readonly kind?: Hypervisor['kind']
  readonly isLocal?: boolean
  readonly host?: Partial<HostFacts>
  readonly domains?: readonly Domain[]
  readonly networks?: readonly Network[]
  readonly hostInterfaces?: readonly string[]
  readonly pools?: readonly Pool[]
  readonly volumes?: readonly Volume[]
}

export const HOST: HostFacts = {
  name: 'kvm1',
  arch: 'x86_64',
  cpus: 8,
  memoryMib: 65_536,
  freeMemoryMib: 49_152,
  domainTypes: ['kvm', 'qemu'],
  security: ['dac'],
}

export function network(name: string, facts: Partial<Network> = {}): Network {
  return {
    name,
    uuid: 'b10c1bda-f608-4780-9cfb-574c2271a193',
    isActive: true,
    forward: 'nat',
    addresses: [{ address: '192.168.121.1', prefixLength: 24 }],
    ranges: [],
    ...facts,
  }
}

export function pool(name: string, facts: Partial<Pool> = {}): Pool {
  const path = `/var/lib/libvirt/${name === 'default' ? 'images' : name}`
  return { name, isActive: true, type: 'dir', path, availableBytes: 500 * 1024 ** 3, ...facts }
}

export function volume(poolName: string, name: string, facts: Partial<Volume> = {}): Volume {
  const path = `${pool(poolName).path}/${name}`
  return {
    pool: poolName,
    name,
    key: path,
    path,
    format: 'qcow2',
    capacityBytes: 10 * 1024 ** 3,
    allocationBytes: 1024 ** 3,
    ...facts,
  }
}

export function domain(name: string, facts: Partial<Domain> = {}): Domain {
  return {
    name,
    uuid: '00000000-0000-4000-8000-000000000001',
    state: 'running',
    isPersistent: true,
    isAutostarted: true,
    definition: { type: 'kvm', vcpus: 2, memoryMib: 2048, macs: [], disks: [] },
    live: undefined,
    metadata: undefined,
    ...facts,
  }
}

export function hypervisorOf(data: HypervisorData = {}): Hypervisor {
  const { domains = [], networks = [], hostInterfaces = [], pools = [], volumes = [] } = data
  const refuse = () => Promise.reject(new Error('a hypervisor of data does nothing'))
  const hypervisor: Hypervisor = {
    uri: data.uri ?? 'qemu:///system',
    kind: data.kind ?? 'qemu',
    isLocal: data.isLocal ?? true,
    until: () => hypervisor,
    state: (name) => Promise.resolve(domains.find((each) => each.name === name)),
    host: () => Promise.resolve({ ...HOST, ...data.host }),
    domains: () => Promise.resolve(domains),
    networks: () => Promise.resolve(networks),
    hostInterfaces: () => Promise.resolve(hostInterfaces),
    pools: () => Promise.resolve(pools),
    findVolume: (id) => Promise.resolve(volumes.find((each) => each.key === id || `${each.pool}/${each.name}` === id)),
    define: refuse,
    start: refuse,
    shutdown: refuse,
    destroy: refuse,
    undefine: refuse,
    autostart: refuse,
    setMetadata: refuse,
    changeMedia: refuse,
    createVolume: refuse,
    upload: refuse,
    download: refuse,
    deleteVolume: refuse,
    agent: refuse,
    enter: refuse,
  }
  return hypervisor
}
