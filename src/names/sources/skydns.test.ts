import { beforeEach, expect, test } from 'vitest'
import { finish } from '../../dns/steps.ts'
import { formatName } from '../../dns/name.ts'
import { formatRdata } from '../../dns/rdata/rdata.ts'
import { TYPE } from '../../dns/types.ts'
import { Leases } from './leases.ts'
import { Skydns } from './skydns.ts'

const LEASE = 7n

let source: Skydns
/** One array for each commit of a zone: its name, then `name address… expiry`. */
let committed: string[][]
let problems: string[]
let asked: bigint[]
let leases: Leases
beforeEach(() => {
  committed = []
  problems = []
  asked = []
  source = new Skydns({
    ...{ path: '/skydns', zones: ['a.test.', 'b.test.'], mode: 'compatible' },
    ...{ minLeaseTtlSeconds: 30, maxLeaseTtlSeconds: 3600 },
    partOf: (origin) => {
      const pending: string[] = []
      return {
        isFirst: () => true,
        set: (owner, records) => {
          const addresses = records.filter(({ type }) => type === TYPE.A)
          const data = addresses.map(({ type, rdata }) => formatRdata(type, rdata))
          const expires = addresses.some(({ expiresAt }) => expiresAt !== undefined) ? ['expires'] : []
          pending.push([formatName(owner), ...data, ...expires].join(' '))
        },
        commit: (serial) => committed.push([`${origin} ${serial}`, ...pending.splice(0)]),
      }
    },
    onProblem: (message) => problems.push(message),
  })
  leases = new Leases({
    client: {
      leaseTimeToLive: (id) => {
        asked.push(id)
        return Promise.resolve({ ttl: 100, grantedTtl: 100 })
      },
    },
    signal: new AbortController().signal,
    onMoved: (lease) => source.leaseMoved(lease),
    onProblem: (message) => problems.push(message),
  })
  source.follow(leases)
})

function put(key: string, value: string | undefined, lease = 0n): boolean {
  const bytes = value === undefined ? undefined : Buffer.from(value)
  return source.apply({ key: Buffer.from(`/skydns/${key}`), value: bytes, modRevision: 1n, lease })
}

function flushed(revision: bigint): string[][] {
  finish(source.flush(revision))
  return committed.splice(0)
}

test('every zone is committed once, then those that change, with the revision as serial', () => {
  put('test/a/web', '{"host":"192.0.2.1"}')
  expect(flushed(5n)).toEqual([['a.test. 5', 'web.a.test. 192.0.2.1', 'a.test. 192.0.2.1'], ['b.test. 5']])
  put('test/b/web', '{"host":"192.0.2.2"}')
  expect(flushed(2n ** 32n + 6n)).toEqual([['b.test. 6', 'web.b.test. 192.0.2.2', 'b.test. 192.0.2.2']])
  put('test/a/web', undefined)
  expect(flushed(7n)).toEqual([['a.test. 7', 'web.a.test.', 'a.test.']])
})

test('a value that is broken is refused, told, and stands among the problems until it is gone', () => {
  expect(put('test/a/web', '{"host":"192.0.2.1"}')).toBe(true)
  flushed(1n)
  expect(put('test/a/web', '{"host":')).toBe(false)
  expect(problems).toHaveLength(1)
  expect(source.problems()).toEqual(problems)
  expect(flushed(2n)).toEqual([])
  put('test/a/web', undefined)
  expect(source.problems()).toEqual([])
})

test('a lease is asked for once; a key that is put again under it does not lose sight of it', async () => {
  put('test/a/web', '{"host":"192.0.2.1"}', LEASE)
  expect(flushed(1n)[0]).toEqual(['a.test. 1', 'web.a.test. 192.0.2.1', 'a.test. 192.0.2.1'])
  await expect.poll(() => committed.length).toBe(1)
  expect(committed.splice(0)).toEqual([['a.test. 1', 'web.a.test. 192.0.2.1 expires', 'a.test. 192.0.2.1 expires']])
  put('test/a/web', '{"host":"192.0.2.2"}', LEASE)
  expect(flushed(2n)[0]).toEqual(['a.test. 2', 'web.a.test. 192.0.2.2 expires', 'a.test. 192.0.2.2 expires'])
  put('test/a/web', '{"host":"192.0.2.2"}')
  expect(flushed(3n)[0]).toEqual(['a.test. 3', 'web.a.test. 192.0.2.2', 'a.test. 192.0.2.2'])
  expect(asked).toEqual([LEASE])
  // Nobody has it any more, so it was forgotten.
  expect(leases.expiryOf(LEASE)).toBeUndefined()
})
