import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { reveal } from '../machine/content.ts'
import type { Machine } from '../machine/machine.ts'
import { LibvirtTarget } from '../targets/libvirt/libvirt-target.ts'
import type { ExistingMachine } from '../targets/target.ts'
import { stackDirectory } from './directory.ts'
import { StackKeyring } from './keyring.ts'
import { Operator } from './operator.ts'
import { LibvirtPlace } from './places/libvirt-place.ts'
import type { Plan } from './plan.ts'
import type { PlanChangedError } from './plan-changed.ts'
import { readRecord, type StackRecord, writeRecord } from './record.ts'

const { signal } = new AbortController()
const PROGRAMS = '/usr/lib/postgresql'
let directory: string
let file: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-operator-'))
  file = join(directory, 'stack.yaml')
  writeFileSync(file, 'name: lab\ndomain: lab.test\netcd: { members: 1 }\npostgres: { members: 2 }\n')
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(directory, { recursive: true })
})

const open = () => Operator.open({ file, state: directory, env: {}, isRoot: false, stopSignal: () => signal })

/** A stack of one that is not there yet, and no libvirt. */
function useVirtualMachines() {
  const network = 'libvirt_network: { network_name: default, ip: 192.168.122.10 }'
  const member = `{ name: a, volume_id: /x, ${network} }`
  writeFileSync(
    file,
    `name: kvm\ntarget: libvirt\nhypervisor: qemu+tcp://127.0.0.1:1/system\ndomain: kvm.test\netcd: { members: [${member}] }\n`,
  )
  vi.spyOn(LibvirtPlace.prototype, 'refuseElsewhere').mockResolvedValue()
  vi.spyOn(LibvirtTarget.prototype, 'observe').mockResolvedValue(new Map())
  vi.spyOn(LibvirtTarget.prototype, 'compareHardware').mockResolvedValue(new Map())
  return vi.spyOn(LibvirtTarget.prototype, 'read').mockResolvedValue(new Map())
}

async function dataDirectories(operator: Operator): Promise<string[]> {
  const machines = await operator.machines()
  return machines.flatMap(({ name, directories }) =>
    name === 'postgres-1' ? directories.filter(({ isData }) => isData).map(({ path }) => path) : [],
  )
}

test('new data is for the newest PostgreSQL that there is', async () => {
  const operator = await open()
  const [directory, ...others] = await dataDirectories(operator)
  expect(others).toEqual([])
  const [, version] = /^\/var\/lib\/postgresql\/(\d+)$/u.exec(directory) ?? []
  const installed = existsSync(PROGRAMS) ? readdirSync(PROGRAMS).map(Number) : []
  expect(Number(version)).toBeGreaterThanOrEqual(Math.max(13, ...installed))
  expect(operator.dataVersion).toBeUndefined()
})

test('data stays with the PostgreSQL that made it, and the host is asked for that one', async () => {
  const record = {
    ...{ file, isEtcdFormed: true, isComplete: true, postgresVersion: '12' },
    ...{ id: 'x', target: 'local' as const, hypervisors: [] },
  }
  await writeRecord(stackDirectory(directory, 'lab').record, record)
  const operator = await open()
  expect(await dataDirectories(operator)).toEqual(['/var/lib/postgresql/12'])
  expect((await operator.checkHost(signal)).find(({ check }) => check === 'postgres')).toMatchObject({
    state: 'problem',
    message: expect.stringContaining('the data of the stack is of PostgreSQL 12, which is not installed'),
  })
})

describe('what another command changes between the plan and its confirmation', () => {
  const record = {
    ...{ id: 'x', file: '', target: 'libvirt' as const, isEtcdFormed: false, isComplete: false, postgresVersion: '15' },
    ...{ hypervisors: ['qemu:///system', 'qemu+ssh://b/system'], homes: { a: 'qemu:///system' } },
  }
  const write = (news: Partial<StackRecord>) =>
    writeRecord(stackDirectory(directory, 'kvm').record, { ...record, file, ...news })
  /** One that goes no further than to its first credential. */
  const up = (operator: Operator) =>
    operator.up({ progress: () => undefined, signal: AbortSignal.abort(), timeoutMs: 1, adopt: false })
  const planned = async () => {
    const operator = await open()
    await operator.plan(signal)
    return operator
  }
  const kept = () => readdirSync(stackDirectory(directory, 'kvm').path)

  beforeEach(async () => {
    useVirtualMachines()
    await write({})
  })

  test.each<[string, Partial<StackRecord>]>([
    ['that etcd is formed', { isEtcdFormed: true, isComplete: true }],
    ['the stack itself', { id: 'y' }],
    ['its file', { file: '/elsewhere.yaml' }],
    ['its hypervisors', { hypervisors: ['qemu:///system'] }],
    ['where a machine is', { homes: { a: 'qemu+ssh://b/system' } }],
    ['the version of PostgreSQL', { postgresVersion: '17' }],
  ])('is not overlooked: %s', async (_, news) => {
    const operator = await planned()
    await write(news)
    await expect(up(operator)).rejects.toMatchObject({ code: 'StackChanged', retryable: true })
    expect(kept()).toEqual(['stack.json'])
    expect(await readRecord(stackDirectory(directory, 'kvm').record)).toMatchObject(news)
  })

  test('is not overlooked: that it is gone', async () => {
    const operator = await planned()
    rmSync(join(directory, 'stacks'), { recursive: true })
    await expect(up(operator)).rejects.toMatchObject({ code: 'StackChanged' })
    expect(existsSync(join(directory, 'stacks'))).toBe(false)
  })

  test('is not overlooked: that it is there', async () => {
    rmSync(join(directory, 'stacks'), { recursive: true })
    const operator = await planned()
    await write({})
    await expect(up(operator)).rejects.toMatchObject({ code: 'StackChanged' })
  })

  test.each<[string, Partial<StackRecord>]>([
    ['that the last one came to its end', { isComplete: true }],
    ['the order of hypervisors', { hypervisors: record.hypervisors.toReversed() }],
    ['an id that it never had', { id: undefined }],
  ])('is no reason to refuse: %s', async (_, news) => {
    if ('id' in news) await write(news)
    const operator = await planned()
    await write(news)
    await expect(up(operator)).rejects.toMatchObject({ name: 'AbortError' })
    // What it has written itself neither.
    await expect(up(operator)).rejects.toMatchObject({ name: 'AbortError' })
  })
})

describe('a version of PostgreSQL that cannot be had', () => {
  const ask = (version: string) =>
    writeFileSync(
      file,
      `name: lab\ndomain: lab.test\netcd: { members: 1 }\npostgres: { members: 2, version: "${version}" }\n`,
    )

  test('is refused by what would change machines, and by nothing else', async () => {
    ask('99')
    const operator = await open()
    const refusal = { code: 'VersionUnavailable', message: expect.stringContaining('Cannot use PostgreSQL 99: ') }
    await expect(operator.plan(signal)).rejects.toMatchObject(refusal)
    await expect(operator.machines()).rejects.toMatchObject(refusal)
    expect((await operator.status(signal)).stack).toBe('lab')
  })

  test('also is one other than that of the data', async () => {
    const record = {
      ...{ file, isEtcdFormed: true, isComplete: true, postgresVersion: '15' },
      ...{ id: 'x', target: 'local' as const, hypervisors: [] },
    }
    await writeRecord(stackDirectory(directory, 'lab').record, record)
    ask('16')
    await expect((await open()).plan(signal)).rejects.toMatchObject({
      code: 'VersionUnavailable',
      message: 'Cannot use PostgreSQL 16: the data of "lab" is of PostgreSQL 15; expected version "15"',
    })
  })
})

test('a plan of virtual machines describes those that it makes', async () => {
  useVirtualMachines()
  const { machines } = await (await open()).plan(signal)
  expect(machines).toMatchObject([
    {
      action: 'create',
      hardware: { domain: 'kvm-a', hypervisor: 'qemu+tcp://127.0.0.1:1/system', disks: ['disk /x'] },
    },
  ])
})

test('an authority whose key is gone is reported before a certificate is due', async () => {
  const secrets = stackDirectory(directory, 'lab').secrets
  const keyring = await StackKeyring.open(secrets, { stack: 'lab' })
  await keyring.issue()
  rmSync(join(secrets, 'ca.key'))
  const lost = await StackKeyring.open(secrets, { stack: 'lab' })
  expect(lost.remarks).toEqual([
    expect.stringMatching(
      /^certificates cannot be renewed: the key of the authority is not there .*restore ca.pem and ca.key/u,
    ),
  ])
  expect(keyring.remarks).toEqual([])
})

describe('the plan that is confirmed', () => {
  const up = (operator: Operator, confirmed: Plan | undefined) =>
    operator.up({ progress: () => undefined, signal: AbortSignal.abort(), timeoutMs: 1, adopt: false, confirmed })

  test('is the one that is applied: where the machines changed meanwhile nothing is done, and the new plan is given', async () => {
    const read = useVirtualMachines()
    const operator = await open()
    const plan = await operator.plan(signal)
    expect(plan.machines.map(({ action }) => action)).toEqual(['create'])
    const [machine] = await operator.machines()
    read.mockResolvedValue(new Map([[machine.name, existing(machine, machine.files[0].owner)]]))
    const error: unknown = await up(operator, plan).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'PlanChanged', retryable: true, plan: { stack: 'kvm' } })
    expect((error as PlanChangedError).plan.digest).not.toBe(plan.digest)
    expect((error as PlanChangedError).plan.machines.map(({ action }) => action)).toEqual(['update'])
    expect(existsSync(join(directory, 'stacks'))).toBe(false)
  })

  test('is applied where nothing changed; without a confirmation, whatever there is to do', async () => {
    const read = useVirtualMachines()
    const operator = await open()
    const plan = await operator.plan(signal)
    // Past the comparison: the abort stops it at its first credential.
    await expect(up(operator, plan)).rejects.toMatchObject({ name: 'AbortError' })
    const [machine] = await operator.machines()
    read.mockResolvedValue(new Map([[machine.name, existing(machine, 'other')]]))
    await expect(up(operator, undefined)).rejects.toMatchObject({ name: 'AbortError' })
  })

  test('and its application look at the machines once', async () => {
    const read = useVirtualMachines()
    const operator = await open()
    const observe = vi.spyOn(LibvirtTarget.prototype, 'observe').mockResolvedValue(new Map())
    for (const each of [read, observe]) each.mockClear()
    await expect(up(operator, undefined)).rejects.toMatchObject({ name: 'AbortError' })
    expect([read.mock.calls.length, observe.mock.calls.length]).toEqual([1, 1])
  })
})

test('another owner is planned for a virtual machine by every user: its own root sets it', async () => {
  const read = useVirtualMachines()
  const operator = await open()
  const [machine] = await operator.machines()
  const [{ path, owner }] = machine.files
  read.mockResolvedValue(new Map([[machine.name, existing(machine, 'somebody')]]))
  const details = (await operator.plan(signal)).machines[0].details.filter(({ name }) => name === path)
  expect(details).toMatchObject([{ change: 'change', why: `owner is somebody, expected ${owner}` }])
})

/** As it is wanted, but for the owner of its files. */
function existing({ name, kind, address, files, services }: Machine, owner: string): ExistingMachine {
  return {
    ...{ name, kind, address, services, pending: new Map(), directories: new Map() },
    files: new Map(files.map(({ path, mode, content }) => [path, { owner, mode, text: reveal(content) }])),
  }
}
