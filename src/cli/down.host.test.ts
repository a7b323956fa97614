import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { holdfast } from '../../test/support/command-line.ts'
import { FakeVirsh, machineRecord } from '../../test/support/fake-virsh.ts'
import { stackDirectory } from '../stack/directory.ts'
import { writeRecord } from '../stack/record.ts'

const HERE = 'qemu:///system'
const THERE = 'qemu+ssh://kvm2/system'

let virsh: FakeVirsh
let state: string
let file: string
beforeEach(() => {
  virsh = new FakeVirsh()
  state = mkdtempSync(join(tmpdir(), 'holdfast-down-'))
  file = join(state, 'stack.yaml')
  const network = 'libvirt_network: { network_name: default, ip: 192.168.122.10 }'
  writeFileSync(
    file,
    `name: kvm\ntarget: libvirt\ndomain: kvm.test\netcd: { members: [{ name: a, volume_id: /x, ${network} }] }\n`,
  )
})
afterEach(() => {
  virsh.close()
  rmSync(state, { recursive: true })
})

const down = (...args: string[]) => holdfast(['down', ...args, '--yes', '--state', state], { env: virsh.env })
const directory = () => stackDirectory(state, 'kvm').path
const remember = (...hypervisors: string[]) =>
  writeRecord(stackDirectory(state, 'kvm').record, {
    ...{ id: 'ours', file, isEtcdFormed: true, isComplete: true, postgresVersion: undefined },
    ...{ target: 'libvirt' as const, hypervisors },
  })

describe('a stack of the same name that was made from another place', () => {
  beforeEach(() => virsh.add(HERE, machineRecord('kvm', 'a', { stackId: 'of others' })))

  test.each([[[]], [['--keep-data']], [['--purge']]])('is not touched by "down %s"', async (how) => {
    const { code, stderr } = await down(file, ...how)
    expect(stderr).toContain(
      'Cannot take "kvm" down: domain "kvm-a" on qemu:///system belongs to a stack of that name that was made from another place; nothing was touched',
    )
    expect(stderr).toContain('--foreign')
    expect({ code, domains: virsh.domains(HERE), changes: virsh.changes(HERE) }).toEqual({
      code: 1,
      domains: ['kvm-a'],
      changes: [],
    })
  })

  test('is taken away by who says that it is his', async () => {
    expect((await down(file, '--purge', '--foreign')).code).toBe(0)
    expect(virsh.domains(HERE)).toEqual([])
  })

  test('stays where our own one is taken away', async () => {
    await remember(HERE, THERE)
    virsh.add(THERE, machineRecord('kvm', 'a', { stackId: 'ours' }))
    const { code, stderr } = await down('kvm', '--purge')
    expect(stderr).toContain('domain "kvm-a" on qemu:///system belongs to another stack of that name; it is left alone')
    expect([code, virsh.domains(HERE), virsh.domains(THERE)]).toEqual([0, ['kvm-a'], []])
    expect(existsSync(directory())).toBe(false)
  })
})

describe('what is left is told', () => {
  beforeEach(async () => {
    await remember(HERE, THERE)
    virsh.add(HERE, machineRecord('kvm', 'a', { stackId: 'ours' }))
  })

  test('with what to do about a record that was damaged', async () => {
    virsh.define(HERE, 'kvm-b', '<h:machine xmlns:h="urn:holdfast:machine:1">{"stack":"kvm",</h:machine>')
    const { code, stderr } = await down('kvm', '--purge')
    expect(code).toBe(1)
    expect(stderr).toContain('domain "kvm-b" on qemu:///system has a damaged record; what could be reached is down')
    expect(stderr).toContain('remove it with virsh ("destroy kvm-b", "undefine kvm-b")')
    expect(virsh.domains(HERE)).toEqual(['kvm-b'])
    expect(existsSync(directory())).toBe(true)
  })

  test('with how to go on without a host that is gone for good', async () => {
    virsh.make(THERE, 'silent')
    const { code, stderr } = await down('kvm', '--purge')
    expect(code).toBe(1)
    expect(stderr).toContain(`Cannot take all of "kvm" down: ${THERE} did not answer; what could be reached is down`)
    expect(stderr).toContain(`"--without ${THERE}" if that host is gone for good`)
    expect((await down('kvm', '--purge', '--without', 'qemu:///else')).code).toBe(2)
    expect((await down('kvm', '--purge', '--without', THERE)).code).toBe(0)
    expect(existsSync(directory())).toBe(false)
  })
})

describe('a stack of virtual machines whose record is', () => {
  const record = () => stackDirectory(state, 'kvm').record
  const key = () => join(stackDirectory(state, 'kvm').secrets, 'ca.key')
  const LOST = [
    ['damaged', () => writeFileSync(record(), '{"id":"ours","target":"lib')],
    ['gone', () => rmSync(record())],
  ] as const
  beforeEach(async () => {
    await remember(HERE)
    mkdirSync(stackDirectory(state, 'kvm').secrets)
    writeFileSync(key(), 'key')
    virsh.add(HERE, machineRecord('kvm', 'a', { stackId: 'ours' }))
  })

  describe.each(LOST)('%s', (_, lose) => {
    beforeEach(() => lose())

    test.each([[[]], [['--keep-data']], [['--purge']], [['--purge', '--foreign']]])(
      'is not taken for a local one by "down kvm %s"',
      async (how) => {
        const { code, stderr } = await down('kvm', ...how)
        expect(stderr).toContain(
          'Cannot find the machines of "kvm": what says where they are is lost; nothing was touched',
        )
        expect(stderr).toContain(record())
        expect(stderr).toContain('"holdfast down FILE --foreign"')
        expect([code, virsh.domains(HERE), existsSync(key())]).toEqual([1, ['kvm-a'], true])
      },
    )

    test.each([HERE, THERE])('is not taken away by its file alone either, with %s in it', async (uri) => {
      appendFileSync(file, `hypervisor: ${uri}\n`)
      const { code, stderr } = await down(file, '--purge')
      expect(stderr).toContain('"holdfast down FILE --foreign"')
      expect([code, virsh.domains(HERE), existsSync(key())]).toEqual([1, ['kvm-a'], true])
    })

    test('is taken away by its file where it is said to be ours', async () => {
      expect((await down(file, '--purge', '--foreign')).code).toBe(0)
      expect([virsh.domains(HERE), existsSync(directory())]).toEqual([[], false])
    })

    test('stays known as long as a hypervisor of its file does not answer, or is said to be gone', async () => {
      virsh.make(HERE, 'silent')
      expect((await down(file, '--purge', '--foreign')).code).toBe(1)
      expect(existsSync(key())).toBe(true)
      expect((await down(file, '--purge', '--foreign', '--without', HERE)).code).toBe(0)
      expect(existsSync(directory())).toBe(false)
    })
  })
})

test('the same machine by two addresses of its host is taken away once', async () => {
  await remember(HERE, THERE)
  for (const uri of [HERE, THERE]) virsh.add(uri, machineRecord('kvm', 'a', { stackId: 'ours' }))
  expect((await down('kvm', '--purge')).code).toBe(0)
  expect([virsh.changes(HERE), virsh.changes(THERE)].map((changes) => changes.length)).toEqual([1, 0])
})

test('machines that are stopped do not come back with their host', async () => {
  await remember(HERE)
  virsh.add(HERE, machineRecord('kvm', 'a', { stackId: 'ours' }))
  expect((await down('kvm')).code).toBe(0)
  expect(virsh.changes(HERE)).toEqual(['autostart --domain kvm-a --disable'])
})

test('the status of a stack that was never created is one line, without a word of what it would be asked with', async () => {
  const { code, stdout, stderr } = await holdfast(['status', file, '--state', state], { env: virsh.env })
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: `kvm: absent: it was never created, or was removed; "holdfast up ${file}" creates it\n`,
    stderr: '',
  })
  const json = await holdfast(['status', file, '--json', '--state', state], { env: virsh.env })
  expect(JSON.parse(json.stdout)).toMatchObject({ state: 'absent', isReady: false, problems: [], machines: [] })
})

test('a stack that was stopped says when, and is not asked', async () => {
  await remember(HERE)
  virsh.add(HERE, machineRecord('kvm', 'a', { stackId: 'ours' }))
  expect((await down('kvm')).code).toBe(0)
  const { stdout } = await holdfast(['status', file, '--json', '--state', state], { env: virsh.env })
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ state: 'stopped', stoppedAt: expect.any(String), problems: [], clusters: [] },
    machines: [{ machine: 'a', state: 'stopped' }],
  })
})

test.each([['plan'], ['status'], ['down'], ['doctor'], ['logs', '--file']])(
  'a "%s" that is interrupted while a hypervisor does not answer says so in one line',
  async (...words) => {
    await remember(HERE)
    virsh.make(HERE, 'endless')
    const signal = AbortSignal.abort('SIGINT')
    const argv = [...words, words[0] === 'logs' ? 'kvm' : file, '--state', state]
    const { code, stderr } = await holdfast(argv, { env: virsh.env, signal })
    expect({ code, stderr }).toEqual({
      code: 130,
      stderr: 'holdfast: Interrupted; what was done so far stays [Interrupted]\n',
    })
  },
)
