import { expect, test } from 'vitest'
import { HoldfastError } from '../../lib/errors.ts'
import { Memory } from './memory.ts'

const passing = () => Promise.reject(new HoldfastError('HypervisorUnreachable', 'no answer', { retryable: true }))
const lasting = () => Promise.reject(new HoldfastError('LibvirtFailed', 'no'))
const say = (answer: string) => () => Promise.resolve(answer)

test('an answer is remembered for a moment, and asked for again when it is forgotten', async () => {
  const memory = new Memory<string>({ forMs: 60_000, patienceMs: 0 })
  expect(await memory.recall('q', say('one'))).toBe('one')
  expect(await memory.recall('q', say('two'))).toBe('one')
  expect(await memory.recall('other', say('three'))).toBe('three')
  memory.forget('q')
  expect(await memory.recall('q', say('two'))).toBe('two')
})

test('the answer of before stands in for a failure that may pass, and for no other', async () => {
  const memory = new Memory<string>({ forMs: -1, patienceMs: 60_000 })
  await expect(memory.recall('q', passing)).rejects.toMatchObject({ code: 'HypervisorUnreachable' })
  expect(await memory.recall('q', say('one'))).toBe('one')
  expect(await memory.recall('q', passing)).toBe('one')
  await expect(memory.recall('q', lasting)).rejects.toMatchObject({ code: 'LibvirtFailed' })
  memory.forget('q')
  await expect(memory.recall('q', passing)).rejects.toMatchObject({ code: 'HypervisorUnreachable' })
})

test('an answer that is too old stands in for nothing', async () => {
  const memory = new Memory<string>({ forMs: -1, patienceMs: -1 })
  await memory.recall('q', say('one'))
  await expect(memory.recall('q', passing)).rejects.toMatchObject({ code: 'HypervisorUnreachable' })
})
