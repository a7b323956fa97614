import { expect, test } from 'vitest'
import { machine } from '../../../test/support/local-stack.ts'
import { applyPostgres } from './postgres.ts'
import type { Work } from './work.ts'

/** Of a cluster of one machine that is to be made anew: what happens to it until it is written. */
async function stepsOf(isUnborn: boolean): Promise<string[]> {
  const steps: string[] = []
  const target = {
    remove: async (name: string) => void steps.push(`remove ${name}`),
    write: async ({ name }: { readonly name: string }) => {
      steps.push(`write ${name}`)
      throw new Error('as far as this test goes')
    },
  }
  const work = {
    ...{ target, stack: { postgres: {} }, machines: [{ ...machine('a', []), kind: 'postgres' }], states: new Map() },
    ...{ plans: new Map([['a', { action: 'replace', details: [] }]]), existing: new Map([['a', { isUnborn }]]) },
    ...{ clients: { patroni: () => ({ members: [] }) }, progress: () => undefined },
    signal: new AbortController().signal,
  }
  await expect(applyPostgres(work as unknown as Work)).rejects.toThrow('as far as this test goes')
  return steps
}

test('a machine that never came up is taken away before it is made anew; another is started as it is, for its data', async () => {
  expect(await stepsOf(true)).toEqual(['remove a', 'write a'])
  expect(await stepsOf(false)).toEqual(['write a'])
})
