import { expect, test } from 'vitest'
import { HandoverGate } from './handover-gate.ts'

const MANY = 10_000

/** Enters as often as the gate allows; the places. */
function fill(gate: HandoverGate, ...address: number[]): number[] {
  const bytes = Uint8Array.from(address)
  const places: number[] = []
  for (let i = 0; i < MANY; i++) {
    const place = gate.enter(bytes, bytes.length)
    if (place >= 0) places.push(place)
  }
  return places
}

test('one client fills a part of the queue, counted over all threads, and others still get in', () => {
  const main = new HandoverGate(undefined, 1)
  const worker = new HandoverGate(main.buffer)
  const flood = fill(worker, 192, 0, 2, 1)
  expect(flood).toHaveLength(1536)
  expect([main.queued, main.droppedTotal]).toEqual([1536, MANY - 1536])
  expect(fill(worker, 192, 0, 2, 2)).toHaveLength(768)
  for (const place of flood) main.leave(place)
  expect(main.queued).toBe(768)
  expect(fill(main, 192, 0, 2, 1)).toHaveLength(1152)
})

test('fifty clients that flood it leave places for another one', () => {
  const gate = new HandoverGate(undefined, 1)
  for (let i = 0; i < 50; i++) fill(gate, 10, 0, 0, i)
  expect(fill(gate, 198, 51, 100, 1)).toHaveLength(10)
})
