import { expect, test } from 'vitest'
import { domain, hypervisorOf } from '../../../test/support/hypervisor-data.ts'
import { HARDWARE } from '../../../test/support/machine-spec.ts'
import { HoldfastError } from '../../lib/errors.ts'
import { Fleet, type FleetOptions } from './fleet.ts'
import type { Hypervisor } from './hypervisor.ts'
import type { MachineRecord } from './machine-record.ts'
import { formatRecord } from './record-xml.ts'

const GONE = 'qemu+ssh://gone/system'

function record(machine: string, more: Partial<MachineRecord> = {}): MachineRecord {
  const disk = { path: `/images/${machine}`, format: 'qcow2', pool: 'default', isOurs: true }
  return {
    ...{ stack: 's', machine, kind: 'etcd', address: '10.0.0.1', instanceId: 'i', seedDigest: 'd', hardware: {} },
    disks: { root: disk, seed: disk, data: undefined, program: undefined },
    ...more,
  }
}

function hypervisor(uri: string, machines: readonly MachineRecord[], more: Partial<Hypervisor> = {}): Hypervisor {
  const domains = machines.map((each) => domain(`s-${each.machine}`, { metadata: formatRecord(each) }))
  return { ...hypervisorOf({ uri, domains }), ...more }
}

function gone(uri = GONE): Hypervisor {
  const error = new HoldfastError('HypervisorUnreachable', 'Cannot reach it', { retryable: true })
  return hypervisor(uri, [], { domains: () => Promise.reject(error) })
}

function fleetOf(hypervisors: readonly Hypervisor[], more: Partial<FleetOptions> = {}) {
  const warnings: string[] = []
  const fleet = new Fleet({
    ...{ stack: 's', hypervisors, hardware: new Map(), signal: new AbortController().signal },
    onUnread: ({ where }) => warnings.push(where),
    ...more,
  })
  return { fleet, warnings }
}

const names = async (machines: Promise<readonly { readonly record: MachineRecord }[]>) =>
  (await machines).map((each) => each.record.machine)

test('who looks goes on without a hypervisor that does not answer, and is told; who makes something does not', async () => {
  const { fleet } = fleetOf([hypervisor('qemu:///system', [record('a')]), gone()])
  expect(await names(fleet.machines({ isTolerant: true }))).toEqual(['a'])
  expect(fleet.unread()).toMatchObject([{ where: GONE, error: { code: 'HypervisorUnreachable' } }])
  await expect(fleet.machines()).rejects.toMatchObject({ code: 'HypervisorUnreachable' })
  await expect(fleet.recentMachines()).rejects.toMatchObject({ code: 'HypervisorUnreachable' })
  expect(await names(fleet.recentMachines({ isTolerant: true }))).toEqual(['a'])
})

test('a hypervisor that no machine is to be on is missed with a warning, once', async () => {
  const here = hypervisor('qemu:///system', [record('a')])
  const { fleet, warnings } = fleetOf([here, gone()], { needed: new Set([here.uri]) })
  expect(await names(fleet.machines())).toEqual(['a'])
  expect(await names(fleet.machines())).toEqual(['a'])
  expect(warnings).toEqual([GONE])
})

test('a machine that is found is removed, whoever else does not answer; one that is not found may be there', async () => {
  const { fleet } = fleetOf([hypervisor('qemu:///system', [record('a')]), gone()])
  await fleet.machines({ isTolerant: true })
  expect(await names(fleet.everywhere('a'))).toEqual(['a'])
  await expect(fleet.everywhere('b')).rejects.toMatchObject({ code: 'HypervisorUnreachable' })
  await expect(fleet.find('b')).rejects.toMatchObject({ code: 'HypervisorUnreachable' })
})

test('a machine is asked for where it was seen last', async () => {
  let count = 0
  const others = hypervisor('qemu:///other', [])
  const counted = { ...others, domains: () => (count++, others.domains()) }
  const { fleet } = fleetOf([counted, hypervisor('qemu:///system', [record('a'), record('kept', { isKept: true })])])
  await fleet.machines()
  expect((await fleet.find('a'))?.hypervisor.uri).toBe('qemu:///system')
  expect(count).toBe(1)
  expect(await fleet.find('kept')).toBeUndefined()
  expect(await names(fleet.everywhere('kept'))).toEqual(['kept'])
})

test('what was seen a moment ago stands in for a hypervisor whose connection breaks', async () => {
  let isBroken = false
  const whole = hypervisor('qemu:///system', [record('a')])
  const broken = gone()
  const breaking = { ...whole, domains: () => (isBroken ? broken : whole).domains() }
  const { fleet } = fleetOf([breaking])
  expect(await names(fleet.recentMachines())).toEqual(['a'])
  isBroken = true
  expect(await names(fleet.recentMachines())).toEqual(['a'])
  fleet.forgetRecent()
  await expect(fleet.recentMachines()).rejects.toMatchObject({ code: 'HypervisorUnreachable' })
})

test('a record that was damaged is in the way of its own machine alone', async () => {
  const damaged = (name: string, metadata: string) => domain(name, { metadata })
  const domains = [
    domain('s-a', { metadata: formatRecord(record('a')) }),
    damaged('s-b', '{"stack":"s","machine":'),
    damaged('s-t-c', '{"stack":"s-t","machine":'),
  ]
  const here = { ...hypervisorOf({ domains }) }
  const without = fleetOf([here])
  expect(await names(without.fleet.machines())).toEqual(['a'])
  expect(without.warnings).toEqual(['domain "s-b" on qemu:///system'])
  const { fleet } = fleetOf([here], { hardware: new Map([['b', HARDWARE]]) })
  await expect(fleet.machines()).rejects.toMatchObject({ code: 'StateInvalid' })
  expect(await names(fleet.machines({ isTolerant: true }))).toEqual(['a'])
  await expect(fleet.findOn(here, 'b')).rejects.toMatchObject({ code: 'StateInvalid' })
  expect((await fleet.findOn(here, 'a'))?.record.machine).toBe('a')
})

test("machines of another stack of the same name are told, and are nobody's here", async () => {
  const here = hypervisor('qemu:///system', [record('a', { stackId: 'ours' }), record('b', { stackId: 'of others' })])
  const { fleet } = fleetOf([here], { stackId: 'ours' })
  expect(await names(fleet.machines({ isTolerant: true }))).toEqual(['a'])
  expect(fleet.unread()).toMatchObject([{ where: 'domain "s-b" on qemu:///system', error: { code: 'StackElsewhere' } }])
  for (const refused of [fleet.machines(), fleet.find('b'), fleet.findOn(here, 'b'), fleet.everywhere('b')])
    await expect(refused).rejects.toMatchObject({ code: 'StackElsewhere' })
  expect(await names(fleet.everywhere('a'))).toEqual(['a'])
  const taken = fleetOf([here], { stackId: 'ours', takesForeign: true })
  expect(await names(taken.fleet.everywhere('b'))).toEqual(['b'])
})

test('a copy that somebody made of a machine, metadata and all, is none of ours', async () => {
  const copied = formatRecord(record('a'))
  const domains = [domain('s-a', { metadata: copied }), domain('copy-of-a', { metadata: copied })]
  const { fleet } = fleetOf([hypervisorOf({ domains })])
  expect((await fleet.machines()).map((present) => present.domain.name)).toEqual(['s-a'])
  expect((await fleet.everywhere('a')).map((present) => present.domain.name)).toEqual(['s-a'])
})
