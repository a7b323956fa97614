// The scenario with virtual machines: root disks made from one image, etcd-3 on macvtap behind a router.

import assert from 'node:assert/strict'
import { diskImage } from '../../support/libvirt-image.ts'
import { LibvirtLab } from '../../support/libvirt-lab.ts'
import { MACHINES, MACVTAP_SUBNET, NETWORK, onNetwork, POOL, stackFile } from '../../support/libvirt-machines.ts'
import { goesWithoutTrace, inventory, SCENARIO, type Scenario } from '../../support/libvirt-scenario.ts'
import { LibvirtStack } from '../../support/libvirt-stack.ts'
import { step } from './step.ts'

const HYPERVISOR = 'qemu:///system'
const BASE = 'base.qcow2'
const ON_MACVTAP = 'etcd-3'
/** Six machines boot on two cores. */
const TIMEOUT_SECONDS = 1200

export async function runScenario(): Promise<void> {
  const image = await diskImage()
  const lab = await LibvirtLab.start()
  try {
    await lab.network(NETWORK)
    await lab.pool(POOL)
    await lab.volume(POOL, BASE, image)
    const side = await lab.macvtapSide(NETWORK, MACVTAP_SUBNET)
    const macvtap = `macvtap_interfaces: [{ interface: ${side.interface}, ip: ${side.subnet}.11, prefix_length: 24, gateway: ${side.gateway} }]`
    const before = await inventory(lab, HYPERVISOR)

    const stack = new LibvirtStack(lab, 'machines', { timeoutSeconds: TIMEOUT_SECONDS })
    const settings = [
      `hypervisor: ${HYPERVISOR}`,
      'accelerator: tcg',
      `base_volume: ${POOL}/${BASE}`,
      `volume_pool: ${POOL}`,
      `cloud_init_volume_pool: ${POOL}`,
      'vcpus: 1',
      'memory: 768',
    ]
    const scenario: Scenario = {
      stack,
      hypervisor: HYPERVISOR,
      machines: MACHINES,
      file: (changed) =>
        stackFile(settings, (machine) => (machine === ON_MACVTAP ? macvtap : onNetwork(machine)), changed),
      lose: async (machine) => {
        await lab.virsh('destroy', stack.domain(machine))
        await lab.virsh('undefine', '--remove-all-storage', stack.domain(machine))
      },
    }
    for (const { name, run } of SCENARIO) await step(name, () => run(scenario))
    await step('a primary has the watchdog of its machine', async () => {
      const primary = (await stack.status()).machines.find(({ role }) => role === 'primary')
      assert.ok(primary)
      assert.match(await stack.done('logs', primary.machine, '--lines', '1000'), /i6300ESB timer.* activated with/u)
    })
    await step('"down --purge" leaves libvirt as it was', () => goesWithoutTrace(scenario, before))
  } finally {
    await lab.close()
  }
}
