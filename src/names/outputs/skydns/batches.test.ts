import { expect, test } from 'vitest'
import { packBatches } from './batches.ts'

const put = (key: string, value: string | undefined = '{}') => ({ key, value, modRevision: 0n })
const names = (count: number, keys: number) =>
  Array.from({ length: count }, (_, name) => ({
    name: `n${name}`,
    writes: Array.from({ length: keys }, (_, key) => put(`/${name}/${key}`)),
  }))
const sizes = (batches: ReturnType<typeof packBatches>) =>
  batches.map(({ transactions }) => transactions.map((writes) => writes.length))

test('names share a transaction as far as etcd takes them', () => {
  expect(sizes(packBatches(names(100, 3), false))).toEqual([[126], [126], [48]])
  expect(packBatches([], false)).toEqual([])
})

test('each name can have a transaction of its own', () => {
  expect(sizes(packBatches(names(3, 2), true))).toEqual([[2], [2], [2]])
})

test('a name with more keys than a transaction takes has several, new values first', () => {
  const [large] = names(1, 130)
  const gone = { ...put('/gone'), value: undefined }
  const [{ transactions }, ...others] = packBatches([{ name: 'large', writes: [gone, ...large.writes] }], false)
  expect(others).toEqual([])
  expect(transactions.map((writes) => writes.length)).toEqual([128, 3])
  expect(transactions[1].at(-1)).toEqual(gone)
})

test('large values and keys that occur twice do not share a transaction', () => {
  const large = ['a', 'b', 'c'].map((name) => ({ name, writes: [put(`/${name}`, 'x'.repeat(600_000))] }))
  expect(sizes(packBatches(large, false))).toEqual([[1], [1], [1]])
  const same = ['a', 'b'].map((name) => ({ name, writes: [put('/same')] }))
  expect(sizes(packBatches(same, false))).toEqual([[1], [1]])
})
