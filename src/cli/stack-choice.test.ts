import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { collectingIo } from '../../test/support/command-line.ts'
import { isRoot, knownStacks, openHandle, openStack, stateOf } from './stack-choice.ts'

const { io } = collectingIo()

let directory: string
let state: string
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-choice-')))
  state = join(directory, 'state')
})
afterEach(() => {
  chmodSync(directory, 0o700)
  rmSync(directory, { recursive: true })
})

/** A stack that was brought up from a file which says `name` now. */
function keep(stack: string, { name = stack, file = join(directory, `${stack}.yaml`) } = {}): string {
  mkdirSync(join(state, 'stacks', stack), { recursive: true })
  writeFileSync(join(state, 'stacks', stack, 'stack.json'), JSON.stringify({ file, isEtcdFormed: true }))
  writeFileSync(file, `name: ${name}\ndomain: lab.test\netcd: { members: 1 }\n`)
  return file
}

const handle = async (chosen: string) => (await openHandle({ positionals: [chosen], options: { state } }, io)).name
const opened = async (chosen: string) => (await openStack({ positionals: [chosen], options: { state } }, io)).name

describe('a stack that is to be stopped', () => {
  test('is found by its name and by its file, also when that is broken or gone', async () => {
    const file = keep('lab')
    keep('other')
    writeFileSync(file, '[')
    expect([await handle('lab'), await handle(file)]).toEqual(['lab', 'lab'])
    rmSync(file)
    expect([await handle('lab'), await handle(file)]).toEqual(['lab', 'lab'])
  })

  test('is the one that was named, not another from the same file', async () => {
    const file = keep('before', { name: 'now' })
    expect(await handle(file)).toBe('before')
    keep('now', { file })
    expect([await handle('before'), await handle('now'), await handle(file)]).toEqual(['before', 'now', 'now'])
  })

  test('is found beside one whose record is damaged, and that one by name and file where it has machines here', async () => {
    const file = keep('lab')
    keep('damaged')
    writeFileSync(join(state, 'stacks/damaged/stack.json'), '{')
    await expect(handle('damaged')).rejects.toMatchObject({ code: 'StateInvalid' })
    mkdirSync(join(state, 'stacks/damaged/machines/etcd-1'), { recursive: true })
    expect([await handle(file), await handle('damaged')]).toEqual(['lab', 'damaged'])
    expect(await handle(join(directory, 'damaged.yaml'))).toBe('damaged')
  })
})

test('a name whose file has another stack by now is refused', async () => {
  keep('before', { name: 'now' })
  await expect(opened('before')).rejects.toMatchObject({
    code: 'NoStack',
    message: `Cannot use stack "before": its file ${directory}/before.yaml has the stack "now" by now; give the name that is meant`,
  })
  expect(await opened(join(directory, 'before.yaml'))).toBe('now')
})

test('a directory with the name of a stack is not taken for its file', async () => {
  keep('src')
  expect([await handle('src'), await opened('src')]).toEqual(['src', 'src'])
})

test.each(['nothing', '', '..', './nothing.yaml'])(
  '%j is refused when there is no such stack and no such file',
  async (chosen) => {
    keep('lab')
    await expect(opened(chosen)).rejects.toMatchObject({ code: expect.stringMatching(/^(?:NoStack|FileUnreadable)$/u) })
  },
)

test('the directory of stacks is the same by every name that leads to it', () => {
  mkdirSync(state)
  symlinkSync(state, join(directory, 'link'))
  expect(stateOf(join(directory, 'link'), io)).toBe(state)
  expect(stateOf(join(directory, 'link/new/er'), io)).toBe(join(state, 'new/er'))
  expect(() => stateOf('', io)).toThrow('Cannot find a directory for stacks: its name is empty; give one with --state')
})

test('no directory has no stacks; what is none, or closed for us, is told', () => {
  expect(knownStacks(state)).toEqual([])
  mkdirSync(state)
  writeFileSync(join(state, 'stacks'), '')
  expect(() => knownStacks(state)).toThrow(`Cannot read "${state}/stacks": not a directory`)
})

test.skipIf(isRoot())('a directory of another user is reported (not run by root, which reads it)', () => {
  const stacks = join(state, 'stacks')
  mkdirSync(stacks, { recursive: true })
  chmodSync(stacks, 0o311)
  expect(() => knownStacks(state)).toThrow(`Cannot read "${stacks}": permission denied`)
  chmodSync(stacks, 0o700)
})
