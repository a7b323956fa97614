import { describe, expect, it } from 'vitest'
import { Arena, ArenaFull } from './arena.ts'

describe('the arena', () => {
  it('gives memory that reads as zero, also where something was before', () => {
    const arena = new Arena(4096)
    const first = arena.allocate(100)
    arena.bytes.fill(0xff, first, first + 100)
    arena.discard(first, 100)
    const again = arena.allocate(100)
    expect(again).toBe(first)
    expect(arena.bytes.subarray(again, again + 100).every((byte) => byte === 0)).toBe(true)
  })

  it('joins neighbouring holes, in whatever order they appear', () => {
    const arena = new Arena(1 << 16)
    const parts = Array.from({ length: 8 }, () => arena.allocate(64))
    const after = arena.allocate(64)
    for (const index of [3, 1, 5, 0, 2, 7, 6, 4]) arena.discard(parts[index], 64)
    expect(arena.allocate(8 * 64)).toBe(parts[0])
    expect(arena.allocate(64)).toBeGreaterThan(after)
  })

  it('keeps retired memory until its epoch has passed', () => {
    const arena = new Arena(4096)
    const extent = arena.allocate(256)
    arena.retire(extent, 256, 7)
    arena.reclaim(6)
    expect(arena.allocate(256)).not.toBe(extent)
    arena.reclaim(7)
    expect(arena.allocate(256)).toBe(extent)
    expect(arena.retiredCount).toBe(0)
  })

  it('hands a larger buffer over when it is full, with the same content at the same places', () => {
    const handed: SharedArrayBuffer[] = []
    const arena = new Arena(2048, (buffer) => handed.push(buffer))
    const before = arena.allocate(64)
    arena.words[before >> 2] = 4711
    const usedBefore = arena.usedBytes
    const large = arena.allocate(1 << 20)
    expect(handed).toEqual([arena.buffer])
    expect(arena.words[before >> 2]).toBe(4711)
    expect(large + (1 << 20)).toBeLessThanOrEqual(arena.buffer.byteLength)
    expect(arena.usedBytes).toBe(usedBefore + (1 << 20))
  })

  it('refuses what offsets cannot reach and stays as it was', () => {
    const arena = new Arena(4096)
    const used = arena.usedBytes
    expect(() => arena.allocate(0x7fff_0000)).toThrow(ArenaFull)
    expect(() => arena.allocate(2.6e9)).toThrow(ArenaFull)
    expect(arena.usedBytes).toBe(used)
    expect(arena.allocate(16)).toBeGreaterThan(0)
  })
})
