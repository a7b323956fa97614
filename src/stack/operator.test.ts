import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { newestPostgres } from '../targets/local/postgres-programs.ts'
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
afterEach(() => rmSync(directory, { recursive: true }))

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
