// A real libvirtd that speaks German: what fails for a reason that is as wanted is recognized as such.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Hypervisor, Volume } from '../../src/targets/libvirt/hypervisor.ts'
import { openHypervisor } from '../../src/targets/libvirt/virsh.ts'
import { describeWithLibvirt } from '../support/describe-with-libvirt.ts'
import { LibvirtLab } from '../support/libvirt-lab.ts'
import { translateLibvirt } from '../support/translated-libvirt.ts'

const QEMU = 'qemu:///system'
const ELEMENT = '<h:machine xmlns:h="urn:holdfast:machine:1">text</h:machine>'

describeWithLibvirt('a hypervisor that speaks German', () => {
  let lab: LibvirtLab
  let disk: string
  let qemu: Hypervisor

  /** What virsh prints, as we run it. */
  const reasonOf = async (...command: string[]) =>
    (await lab.run(['virsh', '-q', '-c', QEMU, ...command], { env: { LC_ALL: 'C' } })).stderr

  beforeAll(async () => {
    lab = await LibvirtLab.start()
    await lab.pool('pool')
    await translateLibvirt(lab)
    disk = join(lab.directory, 'empty.iso')
    writeFileSync(disk, Buffer.alloc(4096))
    qemu = openHypervisor(QEMU, { signal: new AbortController().signal, env: process.env, prefix: lab.wrap([]) })
    await lab.define(domainXml('a', disk))
  })

  afterAll(() => lab.close())

  test('volumes that are missing are, those that are there are found', async () => {
    expect(await reasonOf('vol-dumpxml', '--vol', 'none')).toContain('Keinen solchen Datenträger gefunden')
    expect(await reasonOf('pool-info', '--pool', 'none')).toContain('Keinen solchen Pool gefunden')
    for (const id of ['pool/none', 'none/none', '/none', 'none', 'e']) expect(await qemu.findVolume(id)).toBeUndefined()
    const made = await qemu.createVolume({ pool: 'pool', name: 'v', format: 'raw', capacityBytes: 4096 })
    for (const id of ['pool/v', made.path]) expect(await qemu.findVolume(id)).toMatchObject({ key: made.key })
    await qemu.deleteVolume((await qemu.findVolume('pool/v')) as Volume)
    await qemu.deleteVolume(made)
    expect(await qemu.findVolume('pool/v')).toBeUndefined()
  })

  test('a volume of a pool that is not active is not missing', async () => {
    await lab.pool('idle')
    await lab.virsh('pool-destroy', 'idle')
    await expect(qemu.findVolume('idle/v')).rejects.toMatchObject({ code: 'LibvirtFailed' })
  })

  test('a machine that is off is changed, asked and ended as one that is', async () => {
    expect(await reasonOf('destroy', 'a')).toContain('Domain läuft nicht')
    await qemu.setMetadata('a', ELEMENT)
    await qemu.changeMedia('a', 'sda', disk)
    await qemu.destroy('a')
    await qemu.shutdown('a')
    await expect(qemu.agent('a', { execute: 'guest-ping' }, 1000)).rejects.toMatchObject({ code: 'GuestSilent' })
    expect((await qemu.domains()).find(({ name }) => name === 'a')).toMatchObject({
      state: 'shut off',
      metadata: 'text',
    })
  })

  test('a machine that runs is one that was started, and silent without an agent', async () => {
    await qemu.start('a')
    await qemu.start('a')
    expect(await reasonOf('qemu-agent-command', 'a', '{"execute":"guest-ping"}')).toContain('Gast-Agent schweigt')
    await expect(qemu.agent('a', { execute: 'guest-ping' }, 1000)).rejects.toMatchObject({ code: 'GuestSilent' })
    await qemu.setMetadata('a', ELEMENT)
    await qemu.destroy('a')
    await qemu.destroy('a')
    expect(await qemu.state('a')).toEqual({ state: 'shut off' })
  })

  test('a machine that is gone is missing', async () => {
    await qemu.undefine('a')
    expect(await qemu.state('a')).toBeUndefined()
    await expect(qemu.start('a')).rejects.toMatchObject({ code: 'DomainMissing' })
    await expect(qemu.agent('a', { execute: 'guest-ping' }, 1000)).rejects.toMatchObject({ code: 'DomainMissing' })
  })
})

function domainXml(name: string, disk: string): string {
  return `<domain type='qemu'>
  <name>${name}</name>
  <memory unit='MiB'>64</memory>
  <os><type>hvm</type></os>
  <devices>
    <disk type='file' device='cdrom'><source file='${disk}'/><target dev='sda' bus='sata'/><readonly/></disk>
    <channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0'/></channel>
  </devices>
</domain>`
}
