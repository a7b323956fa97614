import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { reveal } from '../machine/content.ts'
import type { Machine } from '../machine/machine.ts'
import { LibvirtTarget } from '../targets/libvirt/libvirt-target.ts'
import { newestPostgres } from '../targets/local/postgres-programs.ts'
import type { ExistingMachine } from '../targets/target.ts'
import { stackDirectory } from './directory.ts'
import { Operator } from './operator.ts'
import { writeRecord } from './record.ts'

const { signal } = new AbortController()
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

async function dataDirectories(operator: Operator): Promise<string[]> {
  const machines = await operator.machines()
  return machines.flatMap(({ name, directories }) =>
    name === 'postgres-1' ? directories.filter(({ isData }) => isData).map(({ path }) => path) : [],
  )
}

test('new data is for the newest PostgreSQL that there is', async () => {
  const operator = await open()
  expect(await dataDirectories(operator)).toEqual([`/var/lib/postgresql/${await newestPostgres(signal)}`])
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

test('another owner is planned for a virtual machine by every user: its own root sets it', async () => {
  const network = 'libvirt_network: { network_name: default, ip: 192.168.122.10 }'
  const member = `{ name: a, volume_id: /x, ${network} }`
  writeFileSync(file, `name: kvm\ntarget: libvirt\ndomain: kvm.test\netcd: { members: [${member}] }\n`)
  const read = vi.spyOn(LibvirtTarget.prototype, 'read').mockResolvedValue(new Map())
  vi.spyOn(LibvirtTarget.prototype, 'observe').mockResolvedValue(new Map())
  vi.spyOn(LibvirtTarget.prototype, 'compareHardware').mockResolvedValue(new Map())
  const operator = await open()
  const [machine] = await operator.machines()
  const [{ path, owner }] = machine.files
  read.mockResolvedValue(new Map([[machine.name, existing(machine, 'somebody')]]))
  const details = (await operator.plan()).machines[0].details.filter(({ name }) => name === path)
  expect(details).toMatchObject([{ change: 'change', why: `owner is somebody, wanted: ${owner}` }])
})

/** As it is wanted, but for the owner of its files. */
function existing({ name, kind, address, files, services }: Machine, owner: string): ExistingMachine {
  return {
    ...{ name, kind, address, services, pending: new Map(), directories: new Map() },
    files: new Map(files.map(({ path, mode, content }) => [path, { owner, mode, text: reveal(content) }])),
  }
}
