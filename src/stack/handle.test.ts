import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isRoot, LocalStack, machine, service } from '../../test/support/local-stack.ts'
import { stateFile } from '../targets/local/state-file.ts'
import { StackHandle } from './handle.ts'

test('a machine that runs is stopped, also when what it is made of was lost', async () => {
  const stack = new LocalStack()
  const state = mkdtempSync(join(tmpdir(), 'holdfast-handle-'))
  try {
    mkdirSync(join(state, 'stacks'))
    symlinkSync(stack.directory, join(state, 'stacks/lab'))
    for (const name of ['known', 'forgotten']) await stack.up(machine(name, [service('a', 'exec sleep 1000')]))
    expect(stack.processes('forgotten')).toHaveLength(1)
    rmSync(stateFile(stack.layout.manifests, 'forgotten'))
    await new StackHandle(state, 'lab', isRoot).down('stop', () => undefined)
    expect([...stack.processes('known'), ...stack.processes('forgotten')]).toEqual([])
  } finally {
    await stack.close()
    rmSync(state, { recursive: true })
  }
})
