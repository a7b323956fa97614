// A hypervisor that goes away in the middle of a run: that is reported, and the next run continues.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithLibvirt } from '../support/describe-with-libvirt.ts'
import { containerRoot, IMAGE_MS } from '../support/libvirt-image.ts'
import { LibvirtLab } from '../support/libvirt-lab.ts'
import { NETWORK, POOL, SUBNET } from '../support/libvirt-machines.ts'
import { inventory } from '../support/libvirt-scenario.ts'
import { LibvirtStack } from '../support/libvirt-stack.ts'
import { until } from '../support/until.ts'

const LAB_MS = 900_000

describeWithLibvirt('a hypervisor that goes away in the middle of "up"', () => {
  const HYPERVISOR = 'lxc:///system'
  let lab: LibvirtLab
  let lower: string

  beforeAll(async () => {
    lower = await containerRoot()
    lab = await LibvirtLab.start()
    await lab.network(NETWORK)
    await lab.pool(POOL)
  }, IMAGE_MS)

  afterAll(() => lab?.close(), LAB_MS)

  test(
    'is told, and the next "up" goes on',
    async () => {
      const stack = new LibvirtStack(lab, 'cut')
      const members = await Promise.all(
        ['etcd-1', 'etcd-2', 'etcd-3'].map(
          async (name, index) =>
            `    - { name: ${name}, volume_id: ${await lab.overlay(name, lower)}, ${network(11 + index)} }`,
        ),
      )
      stack.file(`domain: lab.test
hypervisor: ${HYPERVISOR}
cloud_init_volume_pool: ${POOL}
install_dependencies: false
memory: 512
etcd:
  members:
${members.join('\n')}`)
      const before = await inventory(lab, HYPERVISOR)

      const interrupted = stack.run('up', '--yes', '--detach')
      await until('the first domain', async () => (await domains(lab, HYPERVISOR)).length > 0)
      await lab.killDaemon()
      const { code, stdout, stderr } = await interrupted
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/Cannot .*lxc:\/\/\/system/u) })
      // What was done is told, by the machine.
      expect(stdout + stderr).toContain('etcd-1')

      await lab.startDaemon()
      expect((await stack.up()).isReady).toBe(true)
      expect((await stack.run('plan')).code).toBe(0)
      await stack.done('down', '--purge', '--yes')
      expect(await inventory(lab, HYPERVISOR)).toEqual(before)
    },
    LAB_MS,
  )
})

function network(host: number): string {
  return `libvirt_network: { network_name: ${NETWORK.name}, ip: ${SUBNET}.${host} }`
}

async function domains(lab: LibvirtLab, hypervisor: string): Promise<string[]> {
  const listed = await lab.done(['virsh', '-q', '-c', hypervisor, 'list', '--all', '--name'])
  return listed.split('\n').filter(Boolean)
}
