import { expect, test } from 'vitest'
import { Arena, ArenaFull } from './arena.ts'
import { Blocks } from './blocks.ts'

/** Whether no two pieces share a byte. */
function areApart(pieces: readonly { readonly at: number; readonly bytes: number }[]): boolean {
  const sorted = pieces.toSorted((a, b) => a.at - b.at)
  return sorted.every(({ at }, i) => i === 0 || sorted[i - 1].at + sorted[i - 1].bytes <= at)
}

test('pieces of any size lie apart, are zero, and are used again', () => {
  const arena = new Arena(1 << 16)
  const blocks = new Blocks(arena)
  let pieces: { at: number; bytes: number }[] = []
  let used = 0
  for (let round = 0; round < 4; round++) {
    for (let i = 1; i < 200; i++) {
      const bytes = (i * 37) % 3000
      const at = blocks.take(bytes)
      expect(arena.bytes.subarray(at, at + bytes).every((byte) => byte === 0)).toBe(true)
      arena.bytes.fill(0xff, at, at + bytes)
      pieces.push({ at, bytes })
    }
    expect(areApart(pieces)).toBe(true)
    if (round === 0) used = arena.usedBytes
    for (const { at } of pieces) blocks.give(at)
    pieces = []
  }
  expect(arena.usedBytes).toBeLessThanOrEqual(used)
})

test('a piece that was retired is not used before its epoch has passed', () => {
  const blocks = new Blocks(new Arena(1 << 16))
  const [first, second] = [blocks.take(40), blocks.take(40)]
  blocks.retire(first, 5)
  blocks.retire(second, 6)
  blocks.reclaim(4)
  expect([first, second]).not.toContain(blocks.take(40))
  blocks.reclaim(5)
  expect(blocks.take(40)).toBe(first)
  expect(blocks.retiredCount).toBe(1)
})

test('when there is no room for more, what is left is still given out only once', () => {
  const arena = new Arena(1 << 16)
  const blocks = new Blocks(arena)
  const pieces = [{ at: blocks.take(1000), bytes: 1000 }]
  let isFull = false
  const allocate = arena.allocate.bind(arena)
  arena.allocate = (bytes) => {
    if (isFull) throw new ArenaFull('full')
    return allocate(bytes)
  }
  isFull = true
  for (let bytes = 1000; bytes > 10; bytes -= 10)
    try {
      for (;;) pieces.push({ at: blocks.take(bytes), bytes })
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(ArenaFull)
    }
  isFull = false
  for (let i = 0; i < 100; i++) pieces.push({ at: blocks.take(100), bytes: 100 })
  expect(areApart(pieces)).toBe(true)
})
