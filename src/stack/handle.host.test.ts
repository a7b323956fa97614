import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { file, isRoot, LocalStack, machine, service } from '../../test/support/local-stack.ts'
import { rootOf } from '../targets/local/layout.ts'
import { stateFile } from '../targets/local/state-file.ts'
import { type DownHow, StackHandle } from './handle.ts'
import { writeRecord } from './record.ts'

let stack: LocalStack
let state: string
beforeEach(async () => {
  stack = new LocalStack()
  state = mkdtempSync(join(tmpdir(), 'holdfast-handle-'))
  mkdirSync(join(state, 'stacks'))
  symlinkSync(stack.directory, join(state, 'stacks/lab'))
  const files = [file('/etc/app.conf', 'x')]
  for (const name of ['one', 'two']) await stack.up(machine(name, [service('a', 'exec sleep 1000')], { files }))
})
afterEach(async () => {
  await stack.close()
  rmSync(state, { recursive: true })
})

const { signal } = new AbortController()
const context = { name: 'lab', isRoot, env: {}, stopSignal: () => signal }
const down = async (how: DownHow) => (await StackHandle.find({ ...context, state })).down(how, () => undefined)
const running = () => [...stack.processes('one'), ...stack.processes('two')]

describe('a stack is stopped, also when', () => {
  test('what a machine is made of was lost', async () => {
    rmSync(stateFile(stack.layout.manifests, 'one'))
    await down('stop')
    expect(running()).toEqual([])
  })

  test('that is damaged', async () => {
    writeFileSync(stateFile(stack.layout.manifests, 'one'), '{')
    await down('stop')
    expect(running()).toEqual([])
  })

  test('what is remembered of the stack is damaged', async () => {
    writeFileSync(join(stack.directory, 'stack.json'), '{"target":"lib')
    await down('stop')
    expect(running()).toEqual([])
  })

  test('somebody has planted something in a machine', async () => {
    const path = join(rootOf(stack.layout, 'one'), 'etc/app.conf')
    rmSync(path)
    symlinkSync('/etc/passwd', path)
    await down('stop')
    expect(running()).toEqual([])
  })
})

test('a machine of which it is not known what its data is keeps everything', async () => {
  rmSync(stateFile(stack.layout.manifests, 'one'))
  await down('keep-data')
  expect(running()).toEqual([])
  expect(existsSync(join(rootOf(stack.layout, 'one'), 'etc/app.conf'))).toBe(true)
  expect(existsSync(rootOf(stack.layout, 'two'))).toBe(false)
})

test('a stack that another command has changed meanwhile is not taken down by what was known before', async () => {
  const handle = await StackHandle.find({ ...context, state })
  await writeRecord(handle.directory.record, {
    ...{ id: 'x', file: '/lab.yaml', isEtcdFormed: true, isComplete: true, postgresVersion: undefined },
    ...{ target: 'local', hypervisors: [] },
  })
  const before = running()
  await expect(handle.down('purge', () => undefined)).rejects.toMatchObject({ code: 'StackChanged', retryable: true })
  expect(running()).toEqual(before)
  expect(before).not.toEqual([])
})

test('machines that the user was not asked about are not taken down, and neither are the others', async () => {
  const handle = await StackHandle.find({ ...context, state })
  const downAs = (confirmed: readonly string[]) => handle.down('stop', () => undefined, confirmed)
  await expect(downAs(['one'])).rejects.toMatchObject({
    code: 'StackChanged',
    message: expect.stringContaining('its machines have changed since the question (now: one, two)'),
  })
  expect(running()).toHaveLength(2)
  await downAs(['two', 'one'])
  expect(running()).toEqual([])
})
