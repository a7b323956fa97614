import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { domain, hypervisorOf, network, pool, volume } from '../../../test/support/hypervisor-data.ts'
import { HARDWARE } from '../../../test/support/machine-spec.ts'
import { needing } from '../../../test/support/needing.ts'
import { HoldfastError } from '../../lib/errors.ts'
import type { Machine } from '../../machine/machine.ts'
import { hardwareOf } from './hardware-changes.ts'
import type { Domain, Hypervisor, Volume } from './hypervisor.ts'
import { LibvirtTarget } from './libvirt-target.ts'
import type { MachineRecord } from './machine-record.ts'
import { readPlaceFacts } from './place-facts.ts'
import { placeMachine } from './place-machine.ts'
import { formatRecord } from './record-xml.ts'
import { recordOf } from './written-machine.ts'

const [HERE, THERE] = ['qemu:///system', 'qemu+ssh://kvm2/system']

const temporary = join(tmpdir(), `holdfast-target-${process.pid}`)
afterAll(() => rmSync(temporary, { recursive: true, force: true }))

const data = {
  networks: [network('lan')],
  pools: [pool('default')],
  volumes: [volume('default', 'root')],
}

function machineOn(hypervisor: string): Machine {
  const interfaces = {
    ip: '192.168.121.4',
    mac: undefined,
    prefixLength: undefined,
    gateway: undefined,
    dnsServers: [],
  }
  return {
    ...{ name: 'm', kind: 'etcd', address: '192.168.121.4', packages: [], directories: [], files: [] },
    ...{ services: [], ports: [] },
    hardware: {
      ...{ ...HARDWARE, hypervisor, accelerator: 'kvm', volumeId: 'default/root' },
      networks: [{ ...interfaces, attach: { networkName: 'lan' } }],
    },
  }
}

interface Made {
  readonly machine?: Machine
  readonly volumes?: readonly Volume[]
  readonly record?: Partial<MachineRecord>
}

/** The domain of the machine as it was made by that address. */
async function madeBy(uri: string, instanceId: string, more: Partial<Domain> = {}, made: Made = {}): Promise<Domain> {
  const { machine = machineOn(uri), volumes = data.volumes } = made
  const facts = await readPlaceFacts(hypervisorOf({ ...data, uri, volumes }), [machine], {
    ...{ stack: 's', programHash: undefined, chooseType: () => Promise.resolve('kvm' as const) },
    findOrphan: async () => undefined,
  })
  const placement = placeMachine(machine, facts, instanceId)
  const { vcpus, memoryMib } = machine.hardware
  const { interfaces, disks } = placement
  const definition = {
    ...{ type: 'kvm', vcpus, memoryMib, macs: interfaces.map(({ mac }) => mac) },
    disks: [disks.root.path, disks.seed.path],
  }
  const hardware = hardwareOf(machine, placement)
  const record = { ...recordOf(machine, placement), hardware, seedDigest: '', ...made.record }
  return domain('s-m', { uuid: placement.uuid, state: 'shut off', definition, metadata: formatRecord(record), ...more })
}

function targetOf(hypervisors: readonly Hypervisor[], wanted: string, homes: Readonly<Record<string, string>> = {}) {
  return new LibvirtTarget({
    ...{ stack: 's', hypervisors, temporary, signal: new AbortController().signal },
    ...{ hardware: new Map([['m', machineOn(wanted).hardware]]), homes: new Map(Object.entries(homes)) },
    ...{ chooseType: () => Promise.resolve('kvm'), onPhase: () => undefined },
  })
}

async function changes(hypervisors: readonly Hypervisor[], wanted: string, homes?: Readonly<Record<string, string>>) {
  const compared = await targetOf(hypervisors, wanted, homes).compareHardware([machineOn(wanted)])
  return compared.get('m')?.map(({ name, from, to, takes }) => [name, from, to, takes])
}

test('the same host by another address is the same hypervisor', async () => {
  const domains = [await madeBy(HERE, 'i')]
  const [here, there] = [HERE, THERE].map((uri) => hypervisorOf({ ...data, uri, domains }))
  expect(await changes([here], HERE)).toEqual([])
  expect(await changes([there], THERE)).toEqual([])
  expect(await changes([here, there], THERE, { m: HERE })).toEqual([])
})

test('a machine is moved to another host by making it anew', async () => {
  const here = hypervisorOf({ ...data, uri: HERE, domains: [await madeBy(HERE, 'i')] })
  expect(await changes([here, hypervisorOf({ ...data, uri: THERE })], THERE)).toContainEqual([
    ...['hypervisor', HERE, THERE, 'replace'],
  ])
})

test('that a machine does not start with its host, after down or by others, is seen', async () => {
  const here = hypervisorOf({ ...data, uri: HERE, domains: [await madeBy(HERE, 'i', { isAutostarted: false })] })
  expect(await changes([here], HERE)).toEqual([['autostart', 'false', 'true', 'live']])
})

needing('xorriso').test('a copy that stayed on another host is told, and only that one is removed', async () => {
  const removed: string[] = []
  const [here, there] = await Promise.all(
    [HERE, THERE].map(async (uri) => ({
      ...hypervisorOf({ ...data, uri, domains: [await madeBy(uri, uri)] }),
      deleteVolume: async () => undefined,
      undefine: async () => void removed.push(uri),
    })),
  )
  expect(await changes([here, there], THERE)).toEqual([['leftover', HERE, 'none', 'live']])
  const target = targetOf([here, there], THERE)
  await target.read()
  // A hypervisor of data does nothing but what stands above.
  await expect(target.write(machineOn(THERE))).rejects.toThrow('does nothing')
  expect(removed).toEqual([HERE])
})

test('a machine that was migrated, and stayed defined where it was, is not started there', async () => {
  const here = hypervisorOf({ ...data, uri: HERE, domains: [await madeBy(HERE, 'i')] })
  const there = hypervisorOf({ ...data, uri: THERE, domains: [await madeBy(HERE, 'i', { state: 'running' })] })
  const target = targetOf([here, there], HERE)
  await expect(target.read()).rejects.toMatchObject({
    code: 'MachineMigrated',
    message: `Cannot use "m": it runs on ${THERE}, and ${HERE} has it, too, switched off; expected one of them`,
  })
  expect([...(await target.read({ isTolerant: true })).keys()]).toEqual(['m'])
})

test('a root volume that is gone is told, with what was on it', async () => {
  const base = volume('default', 'base')
  const hardware = {
    ...machineOn(HERE).hardware,
    volumeId: undefined,
    baseVolume: 'default/base',
    volumePool: 'default',
  }
  const machine = { ...machineOn(HERE), hardware }
  const lossOf = async (volumes: readonly Volume[], record: Partial<MachineRecord>) => {
    const made = await madeBy(HERE, 'i', {}, { machine, volumes: [base], record: { hasBooted: true, ...record } })
    const here = hypervisorOf({ ...data, uri: HERE, volumes, domains: [made] })
    const compared = await targetOf([here], HERE).compareHardware([machine])
    return compared.get('m')?.filter(({ losesData }) => losesData)
  }
  const root = volume('default', 's-m.qcow2')
  expect(await lossOf([base, root], { appliedDigest: 'x' })).toEqual([])
  expect(await lossOf([base], { appliedDigest: 'x' })).toMatchObject([{ name: 'root volume', to: root.path }])
  expect(await lossOf([base], {})).toEqual([])
})

test('a machine that is gone meanwhile is as removed as can be', async () => {
  const whole = hypervisorOf({ ...data, uri: HERE, domains: [await madeBy(HERE, 'i')] })
  const gone = () => Promise.reject(new HoldfastError('DomainMissing', 'gone'))
  const here = { ...whole, undefine: gone, deleteVolume: async () => undefined }
  await expect(targetOf([here], HERE).remove('m', { keepData: false })).rejects.toMatchObject({ code: 'DomainMissing' })
  const absent = { ...here, state: () => Promise.resolve(undefined) }
  await targetOf([absent], HERE).remove('m', { keepData: false })
})
