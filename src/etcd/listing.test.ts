import { expect, test } from 'vitest'
import { HoldfastError } from '../lib/errors.ts'
import { EtcdClient, type RangeRequest, type RangeResult } from './client.ts'
import { firstPage, laterPages } from './listing.ts'

const LARGE = 1_000_000
const signal = new AbortController().signal

/** Has values of the given sizes under 3-digit keys; what is more than `fits` bytes in one answer takes too long. */
class Store extends EtcdClient {
  readonly limits: number[] = []
  readonly #sizes: readonly number[]
  readonly #fits: number

  constructor(sizes: readonly number[], fits = Number.POSITIVE_INFINITY) {
    super({ endpoints: ['http://nobody:1'] })
    this.#sizes = sizes
    this.#fits = fits
  }

  override range({ key, limit = 0 }: RangeRequest): Promise<RangeResult> {
    this.limits.push(limit)
    const first = key.length > 1 ? Number(Buffer.from(key.subarray(1, 4)).toString()) + 1 : 0
    const kvs = this.#sizes.slice(first, first + limit).map((size, index) => ({
      key: Buffer.from(`/${String(first + index).padStart(3, '0')}`),
      value: new Uint8Array(size),
      createRevision: 1n,
      modRevision: 1n,
      version: 1n,
      lease: 0n,
    }))
    const bytes = kvs.reduce((sum, { value }) => sum + value.length, 0)
    if (bytes > this.#fits) return Promise.reject(new HoldfastError('EtcdTimeout', 'too long'))
    const more = first + limit < this.#sizes.length
    return Promise.resolve({ revision: 9n, clusterId: 1n, raftTerm: 1n, kvs, count: BigInt(this.#sizes.length), more })
  }
}

test('pages grow while values are small', async () => {
  const store = new Store(Array.from({ length: 500 }, () => 100))
  expect(await countKeys(store)).toBe(500)
  expect(store.limits).toEqual([8, 128, 2048])
})

test('pages shrink when values turn out to be large', async () => {
  const store = new Store(Array.from({ length: 40 }, () => LARGE))
  expect(await countKeys(store)).toBe(40)
  expect(store.limits).toEqual([8, ...Array.from({ length: 32 }, () => 1)])
})

test('a page that takes too long is asked for again with fewer keys', async () => {
  const store = new Store(
    Array.from({ length: 160 }, (_, index) => (index < 100 ? 100 : LARGE)),
    3 * LARGE,
  )
  expect(await countKeys(store)).toBe(160)
  expect(store.limits.slice(0, 4)).toEqual([8, 128, 8, 128])
})

test('an answer that takes too long for one key is a failure', async () => {
  await expect(countKeys(new Store([LARGE], 10))).rejects.toThrow('too long')
})

async function countKeys(store: Store): Promise<number> {
  const prefix = Buffer.from('/')
  const first = await firstPage(store, prefix, signal)
  let count = first.kvs.length
  for await (const page of laterPages(store, prefix, first, signal)) count += page.kvs.length
  return count
}
