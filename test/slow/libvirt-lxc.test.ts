// A stack on a hypervisor, from `up` to `down --purge`, in containers: the same machines with the same cloud-init as virtual
// ones (npm run test:vm), which boot in seconds.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { containerRoot, IMAGE_MS } from '../support/libvirt-image.ts'
import { describeWithLibvirt } from '../support/describe-with-libvirt.ts'
import { LibvirtLab } from '../support/libvirt-lab.ts'
import { MACHINES, NETWORK, onNetwork, POOL, stackFile } from '../support/libvirt-machines.ts'
import { goesWithoutTrace, inventory, SCENARIO, type Scenario } from '../support/libvirt-scenario.ts'
import { LibvirtStack } from '../support/libvirt-stack.ts'

const HYPERVISOR = 'lxc:///system'
/** Only a failure reaches it. */
const STEP_MS = 900_000

describeWithLibvirt('a stack in containers', () => {
  let lab: LibvirtLab
  let scenario: Scenario
  let before: readonly string[]

  beforeAll(async () => {
    const lower = await containerRoot()
    lab = await LibvirtLab.start()
    await lab.network(NETWORK)
    await lab.pool(POOL)
    const roots = new Map<string, string>()
    for (const machine of MACHINES) roots.set(machine, await lab.overlay(machine, lower))
    before = await inventory(lab, HYPERVISOR)

    const stack = new LibvirtStack(lab, 'containers')
    const settings = [`hypervisor: ${HYPERVISOR}`, `cloud_init_volume_pool: ${POOL}`, 'vcpus: 1', 'memory: 512']
    scenario = {
      stack,
      hypervisor: HYPERVISOR,
      machines: MACHINES,
      file: (changed) =>
        stackFile(settings, (machine) => `volume_id: ${roots.get(machine)}, ${onNetwork(machine)}`, changed),
      lose: async (machine) => {
        await lab.done(['virsh', '-q', '-c', HYPERVISOR, 'destroy', stack.domain(machine)])
        await lab.done(['virsh', '-q', '-c', HYPERVISOR, 'undefine', stack.domain(machine)])
        await lab.overlay(machine, lower)
      },
    }
  }, IMAGE_MS)

  afterAll(() => lab?.close(), STEP_MS)

  // Steps stand on each other: none is tried again, and none is taken after one that failed.
  let isWhole = true
  test.for(SCENARIO)('$name', { timeout: STEP_MS, retry: 0 }, async ({ run }, { skip }) => {
    skip(!isWhole, 'a step before it failed')
    isWhole = false
    await run(scenario)
    isWhole = true
  })

  test('"down --purge" leaves libvirt as it was', { timeout: STEP_MS }, async () => {
    await expect(goesWithoutTrace(scenario, before)).resolves.toBeUndefined()
  })
})
