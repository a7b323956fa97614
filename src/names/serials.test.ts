import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { nextSerial, SerialStore } from './serials.ts'

const serial = fc.nat(2 ** 32 - 1)

describe('nextSerial', () => {
  test('takes the first serial as it is', () => {
    expect(nextSerial(undefined, 2026073100)).toBe(2026073100)
    expect(nextSerial(undefined, 0)).toBe(0)
  })

  test('takes a newer one, and goes on by one when it is not newer', () => {
    expect(nextSerial(5, 9)).toBe(9)
    expect(nextSerial(5, 5)).toBe(6)
    expect(nextSerial(5, 4)).toBe(6)
  })

  test('counts in a circle and skips 0', () => {
    expect(nextSerial(2 ** 32 - 1, 3)).toBe(3)
    expect(nextSerial(2 ** 32 - 1, 2 ** 32 - 2)).toBe(1)
    expect(nextSerial(1, 2 ** 31)).toBe(2 ** 31)
    expect(nextSerial(1, 2 ** 31 + 1)).toBe(2)
  })

  test('is always newer by RFC 1982', () => {
    fc.assert(
      fc.property(serial, serial, (previous, wanted) => {
        const next = nextSerial(previous, wanted)
        expect(Number.isInteger(next) && next >= 0 && next < 2 ** 32).toBe(true)
        // The definition of RFC 3.2, word by word.
        const newer = (previous < next && next - previous < 2 ** 31) || (previous > next && previous - next > 2 ** 31)
        expect(newer).toBe(true)
      }),
    )
  })
})

describe('a store of serials', () => {
  let directory: string
  let problems: string[]

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-serials-'))
    problems = []
  })

  afterEach(() => rmSync(directory, { recursive: true }))

  const open = () => SerialStore.open(directory, 'serials', (text) => problems.push(text))

  test('gives the same content the same serial, and other content a newer one', () => {
    const store = open()
    expect(store.serialFor('example.', 'h1', 100)).toBe(100)
    expect(store.serialFor('example.', 'h1', 100)).toBe(100)
    expect(store.serialFor('example.', 'h1', 300)).toBe(100)
    expect(store.serialFor('example.', 'h2', 100)).toBe(101)
    expect(store.serialFor('example.', 'h3', 200)).toBe(200)
    expect(store.serialFor('example.', 'h1', 100)).toBe(201)
    expect(store.serialFor('other.', 'h1', 7)).toBe(7)
    store.close()
  })

  test('does so after a restart', () => {
    const before = open()
    before.serialFor('example.', 'h1', 100)
    before.serialFor('example.', 'h2', 100)
    before.serialFor('b\\255.', 'h1', 1)
    before.close()
    const after = open()
    expect(after.serialFor('example.', 'h2', 50)).toBe(101)
    expect(after.serialFor('example.', 'h4', 50)).toBe(102)
    expect(after.serialFor('b\\255.', 'h2', 1)).toBe(2)
    after.close()
    expect(problems).toEqual([])
  })

  test('writes by itself at the end of the turn, so that a killed process has lost nothing', async () => {
    const killed = open()
    killed.serialFor('example.', 'h1', 100)
    await nextTurn()
    await nextTurn()
    expect(open().serialFor('example.', 'h2', 1)).toBe(101)
    killed.close()
  })

  test('forgets a zone when it is told to', () => {
    const store = open()
    store.serialFor('example.', 'h1', 100)
    store.forget('example.')
    store.forget('never.known.')
    expect(store.serialFor('example.', 'h2', 5)).toBe(5)
    store.forget('example.')
    store.close()
    expect(open().serialFor('example.', 'h3', 6)).toBe(6)
  })

  test('works without a directory, until the process ends', () => {
    const store = SerialStore.open(undefined, 'serials', (text) => problems.push(text))
    expect(store.serialFor('example.', 'h1', 100)).toBe(100)
    expect(store.serialFor('example.', 'h2', 100)).toBe(101)
    store.close()
  })
})
