import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { PatroniAccess } from './access.ts'
import { PatroniApi, type PatroniStatus } from './patroni-api.ts'
import type { Sight } from './status.ts'
import { copyAgain, membersWithUnusableData, unusableIn } from './unusable-data.ts'

/** States of pg-1, which leads unless said otherwise, pg-2 and pg-3. */
function sight(states: readonly [string, string, string], leader: string | undefined = 'pg-1'): Sight {
  const status = (state: string): PatroniStatus => ({ state, role: 'replica' })
  return {
    members: [1, 2, 3].map((index) => ({
      ...{ name: `pg-${index}`, state: 'running' },
      role: leader === `pg-${index}` ? ('leader' as const) : ('replica' as const),
    })),
    statuses: new Map(
      states.map((state, index) => [`pg-${index + 1}`, state === 'silent' ? 'no answer' : status(state)]),
    ),
  }
}

const looks = (...states: readonly string[]) => states.map((state) => sight(['running', 'running', state]))

test.each([
  ['start failed', 'starting', 'start failed'],
  ['starting', 'start failed', 'start failed', 'starting', 'starting', 'start failed'],
  ['restart failed (start failed)', 'starting', 'restart failed'],
])('a member that is %s, %s, %s has failed twice: its data is unusable', (...states) => {
  expect(unusableIn(looks(...states))).toEqual(['pg-3'])
})

test.each([
  { states: ['start failed', 'start failed', 'start failed'], why: 'it has failed once' },
  { states: ['starting', 'starting', 'start failed'], why: 'it has failed once' },
  { states: ['start failed', 'starting', 'starting'], why: 'it may recover' },
  { states: ['start failed', 'starting', 'start failed', 'starting'], why: 'it may recover this time' },
  { states: ['starting', 'starting', 'starting'], why: 'it may have much to recover' },
  { states: ['crashed', 'crashed', 'crashed'], why: 'it recovers in single-user mode' },
  { states: ['crashed', 'starting', 'crashed'], why: 'it recovers in single-user mode' },
])('$states is left alone: $why', ({ states }) => {
  expect(unusableIn(looks(...states))).toEqual([])
})

test.each(['running', 'streaming', 'creating replica', 'stopped', 'crashed', 'silent'])(
  'a member that is %s in between is not among them',
  (state) => {
    expect(unusableIn(looks('start failed', state, 'starting', 'start failed'))).toEqual([])
  },
)

test('data that pg_rewind has left half way is not started: it is unusable without another attempt', () => {
  const marked = sight(['running', 'running', 'start failed'])
  const statuses = new Map([
    ...marked.statuses,
    ['pg-3', { state: 'start failed', role: 'replica', rewind_failed: true }] as const,
  ])
  expect(unusableIn([{ ...marked, statuses }])).toEqual(['pg-3'])
})

test('without a leader that runs, the data of a member may be the only one', () => {
  const failing = (first: string, leader?: string) =>
    ['start failed', 'starting', 'start failed'].map((state) => sight([first, 'running', state], leader))
  expect(unusableIn(failing('running'))).toEqual(['pg-3'])
  expect(unusableIn(failing('running', ''))).toEqual([])
  expect(unusableIn([...failing('running'), sight(['running', 'running', 'start failed'], '')])).toEqual([])
  expect(unusableIn(failing('start failed'))).toEqual([])
  expect(unusableIn(failing('running', 'pg-3'))).toEqual([])
})

describe('a copy', () => {
  const { signal } = new AbortController()
  const machine = { name: 'c', address: '10.0.0.3' }
  const access = {
    members: ['a', 'b', 'c'].map((name, index) => ({
      name,
      patroniName: `pg-${index + 1}`,
      address: `10.0.0.${index + 1}`,
    })),
  } as unknown as PatroniAccess
  const reinitialize = vi.fn<() => Promise<void>>()
  /** Of pg-3, one after the other; the last one stays. */
  let states: Partial<PatroniStatus>[] = []

  beforeEach(() => {
    reinitialize.mockReset().mockResolvedValue()
    vi.spyOn(PatroniApi.prototype, 'reinitialize').mockImplementation(reinitialize)
    vi.spyOn(PatroniApi.prototype, 'status').mockImplementation(async () => {
      const [next] = states
      if (states.length > 1) states = states.slice(1)
      return { role: 'replica', state: '', ...next }
    })
  })
  afterEach(() => vi.restoreAllMocks())

  const copy = async (...given: readonly Partial<PatroniStatus>[]) => {
    states = [...given]
    await copyAgain(access, machine, signal)
    return reinitialize.mock.calls.length
  }

  test('is made of one that failed to start, also after it was just being started again', async () => {
    expect(await copy({ state: 'start failed', room_missing: -1 })).toBe(1)
    expect(await copy({ state: 'starting' }, { state: 'start failed', room_missing: -1 })).toBe(2)
  })

  test.each(['running', 'streaming', 'crashed', 'creating replica', 'stopped'])(
    'is not made of one that is %s',
    async (state) => {
      expect(await copy({ state, room_missing: -1 })).toBe(0)
    },
  )

  test('is not made where the old data cannot be kept next to it', async () => {
    const message =
      'Cannot copy the data of the primary to "c": 2 MiB are missing to keep the old data next to the copy; expected room for both'
    await expect(copy({ state: 'start failed', room_missing: 1_100_000 })).rejects.toMatchObject({
      code: 'NoRoom',
      message,
    })
    await expect(copy({ state: 'start failed' })).rejects.toMatchObject({ code: 'NoRoom' })
    expect(reinitialize).not.toHaveBeenCalled()
  })

  test('takes the place of data that pg_rewind has left half way, also without room', async () => {
    expect(await copy({ state: 'start failed', rewind_failed: true })).toBe(1)
  })
})

describe('members are looked at until they have failed twice', () => {
  afterEach(() => vi.restoreAllMocks())

  test.each([
    { room_missing: 0, unusable: ['c'], cramped: [] },
    { room_missing: 5, unusable: [], cramped: [['c', 5]] },
  ])('with $room_missing bytes missing, $unusable are to be copied', async ({ room_missing, unusable, cramped }) => {
    const states = ['start failed', 'starting', 'start failed']
    const patroni = {
      members: ['a', 'c'].map((name) => ({ name, patroniName: `pg-${name}`, address: name })),
      credentials: {},
    } as unknown as PatroniAccess
    const leader = { name: 'pg-a', role: 'leader', state: 'running' } as const
    vi.spyOn(PatroniApi.prototype, 'members').mockResolvedValue([leader])
    let calls = 0
    vi.spyOn(PatroniApi.prototype, 'status').mockImplementation(async () => {
      const state = calls % 2 === 0 ? 'running' : (states.shift() ?? 'asked too often')
      calls++
      return { state, role: 'replica', room_missing }
    })
    const found = await membersWithUnusableData(patroni, { loopWait: 60 }, new AbortController().signal)
    expect([...found.unusable]).toEqual(unusable)
    expect([...found.cramped]).toEqual(cramped)
  })
})
