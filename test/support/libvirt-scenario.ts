// The life of a stack on a hypervisor, step by step, for whatever kind of machine: it comes up, is used, changed and damaged, and
// goes without a trace. Steps that assert, in the order they are meant to be taken.

import assert from 'node:assert/strict'
import type { StackStatus } from '../../src/stack/status.ts'
import { zoneText } from './holdfast-process.ts'
import type { LibvirtLab } from './libvirt-lab.ts'
import { HOLDFAST, type LibvirtStack } from './libvirt-stack.ts'
import { until } from './until.ts'

export interface Scenario {
  readonly stack: LibvirtStack
  /** URI as virsh takes it. */
  readonly hypervisor: string
  /** The stack file with these settings. */
  readonly file: (settings: Settings) => string
  /** Machine by machine, of the file. */
  readonly machines: readonly string[]
  /** Takes away a domain and its disk, as somebody does who knows nothing of the stack. */
  readonly lose: (machine: string) => Promise<void>
}

export interface Settings {
  /** Of etcd, in bytes. */
  readonly spaceQuota?: number
  /** A parameter of PostgreSQL that needs no restart. */
  readonly workMem?: string
}

export interface ScenarioStep {
  /** A sentence. */
  readonly name: string
  readonly run: (scenario: Scenario) => Promise<void>
}

const CHANGED: Settings = { spaceQuota: 1_073_741_824, workMem: '7MB' }

export const SCENARIO: readonly ScenarioStep[] = [
  { name: 'a stack comes up from one file, and is healthy', run: comesUp },
  { name: 'a zone that is put is answered by the name server', run: answersZone },
  { name: 'PostgreSQL is reached by name with verify-full', run: takesQueries },
  { name: 'a plan says that there is nothing to change', run: hasNoChanges },
  { name: 'changed parameters are applied to the machines there are', run: appliesParameters },
  { name: 'a member of etcd that was lost is seen, and made anew', run: remakesLost },
]

async function comesUp({ stack, file, machines }: Scenario): Promise<void> {
  stack.file(file({}))
  const { isReady, problems, machines: standing } = await stack.up()
  assert.deepEqual({ isReady, problems }, { isReady: true, problems: [] })
  assert.deepEqual(
    standing.map(({ machine, state }) => [machine, state]),
    machines.map((machine) => [machine, 'ready']),
  )
}

async function answersZone({ stack }: Scenario): Promise<void> {
  const server = addressOf(await stack.status(), ({ kind }) => kind === 'dns')
  const file = stack.write('stored.test.zone', zoneText(['www A 192.0.2.99']))
  await stack.client(`${HOLDFAST} zone put ${file}`)
  await until('the zone', async () => (await stack.dig(server, 'www.stored.test'))[0] === '192.0.2.99')
}

async function takesQueries({ stack }: Scenario): Promise<void> {
  const primary = addressOf(await stack.status(), ({ role }) => role === 'primary')
  assert.equal(await stack.sql('show ssl'), 'on')
  assert.equal(await stack.sql('select host(inet_server_addr())'), primary)
  await stack.sql('create table kept as select 42 as answer')
}

async function hasNoChanges({ stack }: Scenario): Promise<void> {
  const { code, stdout, stderr } = await stack.run('plan')
  assert.deepEqual(
    { code, stdout, stderr },
    { code: 0, stdout: `No changes. ${stack.name} matches stack.yaml\n`, stderr: '' },
  )
}

async function appliesParameters(scenario: Scenario): Promise<void> {
  const { stack, file, hypervisor } = scenario
  const before = await identities(scenario)
  stack.file(file(CHANGED))
  const changes = await stack.changes()
  assert.ok(changes.length > 0, 'the plan has changes')
  for (const change of changes) assert.match(change, / update (?:none|reload|restart)$/u)
  await stack.up()
  await until('the parameter', async () => (await stack.sql('show work_mem')) === CHANGED.workMem, 60_000)
  // The same domains, and none was started anew.
  assert.deepEqual(await identities(scenario), before, `domains of ${hypervisor}`)
}

async function remakesLost(scenario: Scenario): Promise<void> {
  const { stack, lose, machines } = scenario
  const { machines: standing } = await stack.status()
  const lost = standing.find(({ kind, role }) => kind === 'etcd' && role !== 'leader')?.machine ?? machines[0]
  const before = await identities(scenario)
  await lose(lost)
  assert.deepEqual(await stack.changes(), [`${lost} create start`])
  const damaged = await stack.status()
  assert.equal(damaged.isReady, false)
  assert.equal((await stack.up()).isReady, true)
  assert.equal((await stack.etcdctl('member', 'list')).trim().split('\n').length, countOf(standing, 'etcd'))
  assert.equal(await stack.sql('select answer from kept'), '42')
  const after = await identities(scenario)
  // UUID and MAC address are those it has had; it runs under another number.
  assert.deepEqual(after.get(lost)?.slice(1), before.get(lost)?.slice(1))
  for (const machine of machines.filter((each) => each !== lost))
    assert.deepEqual(after.get(machine), before.get(machine))
  await hasNoChanges(scenario)
}

/** Everything goes, also of a machine whose domain somebody has removed: its disks, and the secrets on them. */
export async function goesWithoutTrace({ stack, hypervisor }: Scenario, before: readonly string[]): Promise<void> {
  for (const command of ['destroy', 'undefine'])
    await stack.lab.done(['virsh', '-q', '-c', hypervisor, command, stack.domain('dns-1')])
  await stack.done('down', '--purge', '--yes')
  assert.deepEqual(await inventory(stack.lab, hypervisor), before)
}

/** Number of each running domain, its UUID and its MAC addresses. */
async function identities({ stack, hypervisor, machines }: Scenario): Promise<ReadonlyMap<string, readonly string[]>> {
  const virsh = (...args: readonly string[]) => stack.lab.done(['virsh', '-q', '-c', hypervisor, ...args])
  const found = machines.map(async (machine) => {
    const domain = stack.domain(machine)
    const interfaces = await virsh('domiflist', domain)
    const macs = interfaces.match(/(?:[0-9a-f]{2}:){5}[0-9a-f]{2}/gu) ?? []
    return [machine, [(await virsh('domid', domain)).trim(), (await virsh('domuuid', domain)).trim(), ...macs]] as const
  })
  return new Map(await Promise.all(found))
}

function addressOf({ machines }: StackStatus, isMeant: (machine: StackStatus['machines'][number]) => boolean): string {
  const found = machines.find(isMeant)
  assert.ok(found, 'there is such a machine')
  return found.address
}

function countOf(machines: StackStatus['machines'], kind: string): number {
  return machines.filter((each) => each.kind === kind).length
}

/** All that libvirt has: domains, volumes and networks, in order. */
export async function inventory(lab: LibvirtLab, hypervisor: string): Promise<readonly string[]> {
  const virsh = async (...args: readonly string[]) =>
    (await lab.done(['virsh', '-q', '-c', hypervisor, ...args])).split('\n').map((line) => line.trim())
  const pools = (await virsh('pool-list', '--all', '--name')).filter(Boolean)
  const volumes = await Promise.all(
    pools.map(async (pool) => {
      await virsh('pool-refresh', pool)
      return (await virsh('vol-list', pool)).filter(Boolean).map((line) => `volume ${pool} ${line}`)
    }),
  )
  const named = async (what: string, command: string) =>
    (await virsh(command, '--all', '--name')).filter(Boolean).map((name) => `${what} ${name}`)
  return [
    ...(await named('domain', 'list')),
    ...(await named('network', 'net-list')),
    ...pools.map((pool) => `pool ${pool}`),
    ...volumes.flat(),
  ].toSorted()
}
