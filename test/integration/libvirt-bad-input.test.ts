// Machines that cannot be on a hypervisor: each is refused with a clear error before anything is made, and what belongs to
// others stays as it is.

import { existsSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeWithLibvirt } from '../support/describe-with-libvirt.ts'
import { LibvirtLab } from '../support/libvirt-lab.ts'
import { NETWORK, POOL, SUBNET } from '../support/libvirt-machines.ts'
import { inventory } from '../support/libvirt-scenario.ts'
import { LibvirtStack } from '../support/libvirt-stack.ts'

const LAB_MS = 120_000
const TAKEN_MAC = '52:54:00:aa:bb:cc'

describeWithLibvirt('a machine', () => {
  const HYPERVISOR = 'qemu:///system'
  let lab: LibvirtLab
  let stack: LibvirtStack
  let before: readonly string[]

  beforeAll(async () => {
    lab = await LibvirtLab.start()
    await lab.network(NETWORK)
    await lab.pool(POOL)
    await lab.virsh('vol-create-as', POOL, 'root.qcow2', '64M', '--format', 'qcow2')
    // Those of somebody else: one has a MAC address, one has the name that ours would have.
    await lab.define(foreign('of-others', `<interface type='user'><mac address='${TAKEN_MAC}'/></interface>`))
    await lab.define(foreign('bad-taken'))
    before = await inventory(lab, HYPERVISOR)
  }, LAB_MS)

  afterAll(() => lab?.close(), LAB_MS)

  beforeEach(() => {
    stack = new LibvirtStack(lab, 'bad')
  })

  test.each([
    {
      what: 'a pool that is not there',
      machine: `volume_id: ${POOL}/root.qcow2, ${network(11)}`,
      settings: 'cloud_init_volume_pool: nowhere',
      message: /no pool "nowhere"; it has "images"/u,
    },
    {
      what: 'a volume that is not there',
      machine: `volume_id: ${POOL}/nothing.qcow2, ${network(11)}`,
      message: /volume_id "images\/nothing.qcow2": there is no such volume/u,
    },
    {
      what: 'a network that is not there',
      machine: `volume_id: ${POOL}/root.qcow2, libvirt_network: { network_name: machine, ip: ${SUBNET}.11 }`,
      message: /on network "machine": .* has none of that name; it has "machines"/u,
    },
    {
      what: 'an interface of the host that is not there',
      machine: `volume_id: ${POOL}/root.qcow2, macvtap_interfaces: [{ interface: ens9, ip: 10.1.1.2, prefix_length: 24 }]`,
      message: /on interface "ens9": .* has none of that name/u,
    },
    {
      what: 'an address outside of its network',
      machine: `volume_id: ${POOL}/root.qcow2, libvirt_network: { network_name: machines, ip: 10.99.0.11 }`,
      message: /its address 10\.99\.0\.11 is outside of 10\.77\.0\.0\/24/u,
    },
    {
      what: 'the MAC address of another domain',
      machine: `volume_id: ${POOL}/root.qcow2, libvirt_network: { network_name: machines, ip: ${SUBNET}.11, mac: "${TAKEN_MAC}" }`,
      message: /the MAC address 52:54:00:aa:bb:cc: domain "of-others" has it/u,
    },
    {
      what: 'the name of a domain that is not ours',
      machine: `volume_id: ${POOL}/root.qcow2, ${network(11)}`,
      name: 'taken',
      message:
        /domain "bad-taken" on qemu:\/\/\/system is there already and is not made by Holdfast; it is left alone/u,
    },
  ])(
    'with $what is refused, and nothing is made',
    async ({ machine, message, name = 'etcd-1', settings = `cloud_init_volume_pool: ${POOL}` }) => {
      stack.file(`domain: lab.test
accelerator: tcg
memory: 256
${settings}
etcd:
  members: [{ name: ${name}, ${machine} }]`)
      const { code, stderr } = await stack.run('up', '--yes', '--detach')
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(message) })
      expect(await inventory(lab, HYPERVISOR)).toEqual(before)
    },
  )

  test('on a hypervisor that nobody answers for is refused', async () => {
    stack.file(`domain: lab.test
hypervisor: qemu+unix:///system?socket=/nowhere/libvirt-sock
etcd:
  members: [{ name: etcd-1, volume_id: ${POOL}/root.qcow2, ${network(11)} }]`)
    const { code, stderr } = await stack.run('up', '--yes', '--detach')
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('/nowhere/libvirt-sock') })
    expect(existsSync(stack.path('secrets'))).toBe(false)
  })
})

describeWithLibvirt('a stack on two hypervisors', () => {
  const OTHERS = { name: 'others', subnet: '10.80.0', forward: 'open' } as const
  let labs: readonly [LibvirtLab, LibvirtLab]
  let stack: LibvirtStack

  beforeAll(async () => {
    const first = await LibvirtLab.start()
    labs = [first, await LibvirtLab.start({ beside: first })]
    for (const lab of labs) {
      await lab.pool(POOL)
      await lab.virsh('vol-create-as', POOL, 'root.qcow2', '64M', '--format', 'qcow2')
    }
    await labs[0].network(NETWORK)
    await labs[1].network(OTHERS)
    stack = new LibvirtStack(labs[0], 'two')
  }, LAB_MS)

  afterAll(async () => {
    await labs?.[1].close()
    await labs?.[0].close()
  }, LAB_MS)

  const file = (volume: string) =>
    stack.file(`domain: lab.test
accelerator: tcg
cloud_init_volume_pool: ${POOL}
etcd:
  members:
    - { name: etcd-1, volume_id: ${POOL}/root.qcow2, ${network(11)} }
    - name: etcd-2
      hypervisor: ${labs[1].uriFromOutside}
      volume_id: ${POOL}/${volume}
      libvirt_network: { network_name: ${OTHERS.name}, ip: ${OTHERS.subnet}.11 }`)

  test('has each machine placed by what its own one has', async () => {
    file('root.qcow2')
    expect(await stack.changes()).toEqual(['etcd-1 create start', 'etcd-2 create start'])
  })

  test('is refused for what one of them does not have', async () => {
    file('nothing.qcow2')
    const { code, stderr } = await stack.run('up', '--yes', '--detach')
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('"etcd-2"') })
    expect(stderr).not.toContain('"etcd-1"')
  })
})

function network(host: number): string {
  return `libvirt_network: { network_name: ${NETWORK.name}, ip: ${SUBNET}.${host} }`
}

function foreign(name: string, devices = ''): string {
  return `<domain type='qemu'>
  <name>${name}</name>
  <memory unit='MiB'>64</memory>
  <os><type arch='x86_64'>hvm</type></os>
  <devices>${devices}</devices>
</domain>`
}
