// The domains of the documents' own examples, held to files that people can read, and each accepted by libvirt's own schema.
// `vitest -u` writes the files anew.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Hardware, NetworkInterface } from '../src/machine/hardware.ts'
import type { Machine } from '../src/machine/machine.ts'
import { hardwareOf } from '../src/targets/libvirt/hardware-changes.ts'
import { renderDomain } from '../src/targets/libvirt/domain-xml.ts'
import { readPlaceFacts } from '../src/targets/libvirt/place-facts.ts'
import { placeMachine } from '../src/targets/libvirt/place-machine.ts'
import { type HypervisorData, hypervisorOf, network, pool, volume } from './support/hypervisor-data.ts'
import { HARDWARE } from './support/machine-spec.ts'

const HYPERVISOR: HypervisorData = {
  networks: [
    network('mynetwork'),
    network('lan', {
      uuid: 'e7a4b9d2-3c55-4f0e-9a77-0f6f5f1d2c11',
      addresses: [{ address: '10.0.0.1', prefixLength: 16 }],
    }),
  ],
  hostInterfaces: ['enp1s0', 'enp2s0'],
  pools: [pool('default'), pool('coredns'), pool('os')],
  volumes: [
    ...['etcd-1', 'postgres-1', 'coredns-1', 'postgres-1-data'].map((name) => volume('default', name)),
    volume('os', 'debian-12.qcow2'),
  ],
}

interface Example {
  readonly machine: Partial<Machine> & Pick<Machine, 'name' | 'kind'>
  readonly hardware: Partial<Hardware>
  readonly hypervisor?: HypervisorData
  readonly type?: 'kvm' | 'qemu' | 'lxc'
}

const onNetwork: NetworkInterface = {
  attach: { networkName: 'mynetwork' },
  ip: '192.168.121.4',
  mac: '52:54:00:de:e3:64',
  prefixLength: undefined,
  gateway: undefined,
  dnsServers: [],
}
const onLan: NetworkInterface = {
  attach: { macvtap: 'enp1s0' },
  ip: '192.168.1.20',
  mac: undefined,
  prefixLength: 24,
  gateway: '192.168.1.1',
  dnsServers: ['192.168.1.1'],
}
const program = '/opt/holdfast/program/0123456789abcdef/node'
const dnsService = {
  name: 'dns',
  user: 'holdfast',
  command: [program, 'main.js', 'serve'],
  environment: {},
  stopSignal: 'SIGTERM',
  stopTimeoutMs: 1000,
} as const

const EXAMPLES: Readonly<Record<string, Example>> = {
  'etcd-on-a-network-by-name': {
    machine: { name: 'etcd-1', kind: 'etcd' },
    hardware: { volumeId: 'default/etcd-1', networks: [onNetwork] },
  },
  'postgres-on-a-network-by-id': {
    machine: { name: 'postgres-1', kind: 'postgres' },
    hardware: {
      vcpus: 1,
      memoryMib: 4096,
      volumeId: '/var/lib/libvirt/images/postgres-1',
      dataVolumeId: 'default/postgres-1-data',
      cloudInitVolumePool: 'default',
      networks: [{ ...onNetwork, attach: { networkId: 'b10c1bda-f608-4780-9cfb-574c2271a193' } }],
    },
  },
  'dns-on-two-macvtap-interfaces': {
    machine: { name: 'coredns-1', kind: 'dns', services: [dnsService] },
    hardware: {
      volumeId: 'default/coredns-1',
      cloudInitVolumePool: 'coredns',
      networks: [onLan, { ...onLan, attach: { macvtap: 'enp2s0' }, ip: '192.168.2.20', gateway: '192.168.2.1' }],
    },
  },
  'etcd-made-from-a-base-volume': {
    machine: { name: 'etcd-1', kind: 'etcd' },
    hardware: {
      baseVolume: 'os/debian-12.qcow2',
      volumeSizeGib: 20,
      networks: [onNetwork, { ...onNetwork, attach: { networkName: 'lan' }, ip: '10.0.3.4', mac: undefined }],
    },
    type: 'qemu',
  },
  'etcd-on-arm': {
    machine: { name: 'etcd-1', kind: 'etcd' },
    hardware: { volumeId: 'default/etcd-1', networks: [onNetwork] },
    hypervisor: { ...HYPERVISOR, host: { arch: 'aarch64' } },
  },
  'dns-in-a-container': {
    machine: {
      name: 'dns-1',
      kind: 'dns',
      services: [dnsService],
      directories: [{ path: '/var/lib/holdfast', owner: 'holdfast', mode: 0o700, isData: true }],
    },
    hardware: {
      hypervisor: 'lxc:///system',
      volumeId: '/srv/roots/dns-1',
      dataVolumeId: '/srv/data/dns-1',
      networks: [onNetwork],
    },
    hypervisor: { ...HYPERVISOR, kind: 'lxc', uri: 'lxc:///system' },
    type: 'lxc',
  },
}

async function render({ machine: given, hardware, hypervisor = HYPERVISOR, type = 'kvm' }: Example): Promise<string> {
  const machine: Machine = {
    address: hardware.networks?.[0].ip ?? '',
    hardware: { ...HARDWARE, cloudInitVolumeName: `${given.name}-cloud-init.iso`, ...hardware },
    packages: ['etcd-server'],
    directories: [],
    files: [],
    services: [],
    ports: [],
    ...given,
  }
  const facts = await readPlaceFacts(hypervisorOf(hypervisor), [machine], {
    stack: 'lab',
    programHash: '0123456789abcdef',
    chooseType: () => Promise.resolve(type),
    findOrphan: async () => undefined,
  })
  const placement = placeMachine(machine, facts, 'iid-1')
  return renderDomain(machine, placement, {
    stack: 'lab',
    machine: machine.name,
    kind: machine.kind,
    address: machine.address,
    instanceId: placement.instanceId,
    seedDigest: '0'.repeat(64),
    disks: placement.disks,
    hardware: hardwareOf(machine, placement),
  })
}

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-xml-'))
})
afterAll(() => {
  rmSync(directory, { recursive: true, force: true })
})

describe.each(Object.entries(EXAMPLES))('%s', (name, example) => {
  test('is as in its file', async () => {
    await expect(await render(example)).toMatchFileSnapshot(`golden/libvirt/${name}.xml`)
  })

  test('is accepted by the schema of libvirt', async () => {
    const file = join(directory, `${name}.xml`)
    writeFileSync(file, await render(example))
    const { status, stderr } = spawnSync('virt-xml-validate', [file, 'domain'], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: `${file} validates\n` })
  })
})
