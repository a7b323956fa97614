import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  domain,
  type HypervisorData,
  hypervisorOf,
  network,
  pool,
  volume,
} from '../../../test/support/hypervisor-data.ts'
import type { Site } from '../../clusters/site.ts'
import { UUID_TO_COME } from '../../targets/libvirt/identity.ts'
import { formatRecord } from '../../targets/libvirt/record-xml.ts'
import { recordOf } from '../../targets/libvirt/written-machine.ts'
import { writeMachines } from '../../targets/render/render.ts'
import { stackDirectory } from '../directory.ts'
import { StackKeyring } from '../keyring.ts'
import { loadStack } from '../load-stack.ts'
import { renderMachines } from '../render-machines.ts'
import { LibvirtPlace } from './libvirt-place.ts'

const FILE = `name: lab
target: libvirt
domain: lab.test
base_volume: base.qcow2
admin_user_password: hunter1
machine_network: { network_name: default, addresses: 192.168.121.10-192.168.121.99 }
etcd: { members: 3 }
dns: { servers: 1 }
postgres: { members: 2 }
`
const DATA: HypervisorData = {
  networks: [network('default')],
  pools: [pool('default')],
  volumes: [volume('default', 'base.qcow2')],
}

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-place-'))
  writeFileSync(join(directory, 'stack.yaml'), FILE)
})
afterEach(() => rmSync(directory, { recursive: true }))

/** As each command opens it anew: a stack that was never up has another id each time. */
async function open(stackId: string = crypto.randomUUID(), data: HypervisorData = DATA) {
  const stack = await loadStack({ file: join(directory, 'stack.yaml'), env: {} })
  const kept = stackDirectory(directory, stack.name)
  const place = new LibvirtPlace(
    {
      ...{ stack: stack.name, stackId, directory: kept, isRoot: false, env: {}, hypervisors: ['qemu:///system'] },
      hardware: new Map(),
      report: () => {},
      stopSignal: () => new AbortController().signal,
    },
    () => hypervisorOf(data),
  )
  const { version: postgresVersion } = await place.postgresVersion(stack)
  const keyring = await StackKeyring.open(kept.secrets, { stack: stack.name })
  const site: Site = {
    ...{ stack: stack.name, domain: stack.domain, postgresVersion, keyring },
    ...place.site(postgresVersion),
  }
  const machines = renderMachines(stack, site, { etcd: [], dnsFiles: [] }).map((each) => place.complete(each, site))
  return { place, machines }
}

async function render(name: string): Promise<ReadonlyMap<string, string>> {
  const { place, machines } = await open()
  const root = join(directory, name)
  await writeMachines(machines, root, await place.describe(machines))
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = entries.map(({ parentPath, name: file }) => join(parentPath, file))
  return new Map(paths.map((path) => [path.replace(root, ''), readFileSync(path, 'utf8')]))
}

test('a stack that is not up is rendered the same each time, byte by byte', async () => {
  const [first, second] = [await render('first'), await render('second')]
  expect([...second]).toEqual([...first])
  expect(first.get('/etcd-1/cloud-init/meta-data')).toContain(UUID_TO_COME)
  expect(first.get('/etcd-1/domain.xml')).toContain(`"stackId":"${UUID_TO_COME}"`)
  expect(first.get('/etcd-1/domain.xml')).not.toContain('"seedDigest":""')
})

test('a machine that is there is shown with its own ids', async () => {
  const { place, machines } = await open('of-the-stack')
  const [machine] = machines
  const placement = (await place.placements(machines)).get(machine.name)
  if (placement === undefined) throw new Error('no placement')
  const record = recordOf(machine, { ...placement, stackId: 'of-the-stack', instanceId: 'of-the-machine' })
  const present = domain(placement.domain, { uuid: placement.uuid, metadata: formatRecord(record) })
  const again = await open('of-the-stack', { ...DATA, domains: [present] })
  const placements = await again.place.placements(machines)
  expect(placements.get(machine.name)).toMatchObject({ stackId: 'of-the-stack', instanceId: 'of-the-machine' })
  expect(placements.get(machines[1].name)?.instanceId).toBe(UUID_TO_COME)
})
