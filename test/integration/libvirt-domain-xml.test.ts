// The domains of the examples, and two that none of them has, held to files that people can read, and each accepted by
// libvirt's own schema. `vitest run FILE -u` writes the files anew.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Hardware, NetworkInterface } from '../../src/machine/hardware.ts'
import type { Machine } from '../../src/machine/machine.ts'
import type { Volume } from '../../src/targets/libvirt/hypervisor.ts'
import { hardwareOf } from '../../src/targets/libvirt/hardware-changes.ts'
import { renderDomain } from '../../src/targets/libvirt/domain-xml.ts'
import { readPlaceFacts } from '../../src/targets/libvirt/place-facts.ts'
import { placeMachine } from '../../src/targets/libvirt/place-machine.ts'
import { EXAMPLES, renderExample, withoutHash } from '../support/cloud-init-examples.ts'
import { type HypervisorData, hypervisorOf, network, pool, volume } from '../support/hypervisor-data.ts'
import { HARDWARE } from '../support/machine-spec.ts'

const HYPERVISOR: HypervisorData = {
  networks: [network('mynetwork')],
  pools: [pool('default')],
  volumes: [volume('default', 'etcd-1')],
}

interface Other {
  readonly machine: Partial<Machine> & Pick<Machine, 'name' | 'kind'>
  readonly hardware: Partial<Hardware>
  readonly hypervisor: HypervisorData
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
function directoryAt(path: string): Volume {
  return volume('default', '', { key: path, path, format: 'dir' })
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

const OTHERS: Readonly<Record<string, Other>> = {
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
    hypervisor: {
      ...{ ...HYPERVISOR, kind: 'lxc', uri: 'lxc:///system' },
      volumes: ['/srv/roots/dns-1', '/srv/roots/dns-1/sbin', '/srv/data/dns-1'].map(directoryAt),
    },
    type: 'lxc',
  },
}

async function render({ machine: given, hardware, hypervisor, type = 'kvm' }: Other): Promise<string> {
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

describe.each(readdirSync(EXAMPLES))('%s', async (example) => {
  const { texts } = await renderExample(example)
  const domains = [...texts].map(([name, files]) => [name, files.get('domain.xml') ?? ''] as const)

  test.each(domains)('%s is as in its file', async (name, domain) => {
    await expect(withoutHash(domain)).toMatchFileSnapshot(join(EXAMPLES, example, name, 'domain.xml'))
  })

  test.each(domains)('%s is accepted by the schema of libvirt', (name, domain) => accepts(`${example}-${name}`, domain))
})

describe.each(Object.entries(OTHERS))('%s', (name, other) => {
  test('is as in its file', async () => {
    await expect(await render(other)).toMatchFileSnapshot(`../golden/libvirt/${name}.xml`)
  })

  test('is accepted by the schema of libvirt', async () => accepts(name, await render(other)))
})

function accepts(name: string, domain: string): void {
  const file = join(directory, `${name}.xml`)
  writeFileSync(file, domain)
  const { status, stderr } = spawnSync('virt-xml-validate', [file, 'domain'], { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: `${file} validates\n` })
}
