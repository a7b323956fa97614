// A thousand machines as virtual ones, on paper: from the stack file to cloud-init texts and domains, without a hypervisor.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hypervisorOf, network, pool, volume } from '../../test/support/hypervisor-data.ts'
import { withHostParts } from '../../src/clusters/host/host-parts.ts'
import type { Site } from '../../src/clusters/site.ts'
import { reveal } from '../../src/machine/content.ts'
import type { Machine } from '../../src/machine/machine.ts'
import { StackKeyring } from '../../src/stack/keyring.ts'
import { loadStack } from '../../src/stack/load-stack.ts'
import { renderMachines } from '../../src/stack/render-machines.ts'
import { renderCloudInit } from '../../src/targets/libvirt/cloud-init/cloud-init.ts'
import { renderDomain } from '../../src/targets/libvirt/domain-xml.ts'
import { readPlaceFacts } from '../../src/targets/libvirt/place-facts.ts'
import { placeMachines, throwProblems } from '../../src/targets/libvirt/place-machine.ts'
import { PROGRAM, WATCHDOG } from '../../src/targets/libvirt/placement.ts'
import { recordOf } from '../../src/targets/libvirt/written-machine.ts'
import { programCommand } from '../../src/targets/program.ts'

const COUNTS = { etcd: 9, dns: 491, postgres: 500 }
const FILE = `name: thousand
target: libvirt
domain: thousand.test
base_volume: default/base.qcow2
volume_pool: default
accelerator: kvm
memory: 128
machine_network: { network_name: default, addresses: 10.0.0.10-10.0.20.250 }
etcd: { members: ${COUNTS.etcd} }
dns: { servers: ${COUNTS.dns} }
postgres: { members: ${COUNTS.postgres} }
`

export const STEPS = {
  load: 'reading the stack file',
  machines: 'machines',
  place: 'their places',
  cloudInit: 'cloud-init texts',
  domains: 'domains',
} as const

/** Milliseconds of each step, and the size of what came out of it. */
export type Rendering = Readonly<Record<keyof typeof STEPS, number>> & { readonly megabytes: number }

export async function renderOnce(): Promise<Rendering> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  try {
    const file = join(directory, 'stack.yaml')
    writeFileSync(file, FILE)
    const times: Record<string, number> = {}
    const timed = async <T>(step: keyof typeof STEPS, work: () => T | Promise<T>): Promise<T> => {
      const start = performance.now()
      const result = await work()
      times[step] = performance.now() - start
      return result
    }
    const stack = await timed('load', () => loadStack({ file, env: {} }))
    const keyring = await StackKeyring.open(join(directory, 'secrets'), { stack: stack.name })
    const site: Site = {
      ...{ stack: stack.name, domain: stack.domain, path: (_, path) => path, program: programCommand(PROGRAM.home) },
      ...{ postgresVersion: '15', watchdogDevice: WATCHDOG, keyring },
    }
    const machines = await timed('machines', () =>
      renderMachines(stack, site, { etcd: [], dnsFiles: [] }).map((machine) => withHostParts(machine, site)),
    )
    const placements = await timed('place', () => place(machines))
    const written = new WeakMap()
    const texts = await timed('cloudInit', () =>
      placements.map(([machine, placement]) => reveal(renderCloudInit(machine, placement, written).userData)),
    )
    const domains = await timed('domains', () =>
      placements.map(([machine, placement]) => renderDomain(machine, placement, recordOf(machine, placement))),
    )
    const characters = [...texts, ...domains].reduce((sum, { length }) => sum + length, 0)
    return { ...(times as unknown as Rendering), megabytes: characters / 1e6 }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

async function place(machines: readonly Machine[]) {
  const addresses = [{ address: '10.0.0.1', prefixLength: 16 }]
  const hypervisor = hypervisorOf({
    networks: [network('default', { addresses })],
    pools: [pool('default')],
    volumes: [volume('default', 'base.qcow2')],
  })
  const facts = await readPlaceFacts(hypervisor, machines, {
    ...{ stack: 'thousand', programHash: 'abcd', chooseType: async () => 'kvm', findOrphan: async () => undefined },
  })
  const { placements, problems } = placeMachines(machines, facts)
  throwProblems(problems)
  return machines.map((machine) => {
    const placement = placements.get(machine.name)
    if (placement === undefined) throw new Error(`no place for ${machine.name}`)
    return [machine, placement] as const
  })
}
