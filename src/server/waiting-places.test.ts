import { expect, test } from 'vitest'
import { type Place, WaitingPlaces } from './waiting-places.ts'

const udp = (address: string) => ({ address, transport: 'udp' }) as const
const tcp = (address: string) => ({ address, transport: 'tcp' }) as const

/** Takes places for different questions as long as there are any. */
function fill(places: WaitingPlaces, client: { address: string; transport: 'udp' | 'tcp' }): Place[] {
  const taken: Place[] = []
  for (let i = 0; ; i++) {
    const place = places.take(client, `question ${i}`)
    if (place === undefined) return taken
    taken.push(place)
  }
}

test('one client takes a part of the places, and every further one finds some', () => {
  const places = new WaitingPlaces()
  expect(fill(places, udp('192.0.2.1'))).toHaveLength(3000)
  expect(fill(places, udp('192.0.2.2'))).toHaveLength(1500)
  expect(fill(places, tcp('192.0.2.3'))).toHaveLength(750)
  for (let i = 0; i < 100; i++) expect(fill(places, udp(`198.51.100.${i}`)).length).toBeGreaterThanOrEqual(10)
})

test('the addresses of one IPv6 network share their places', () => {
  const places = new WaitingPlaces()
  fill(places, udp('2001:db8::1'))
  expect(places.take(udp('2001:db8::2'), 'q')).toBeUndefined()
  expect(places.take(udp('2001:db8:0:1::1'), 'q')).toBeDefined()
})

/** Takes places for one question, at most 5000. */
function repeat(places: WaitingPlaces, client: { address: string; transport: 'udp' | 'tcp' }): Place[] {
  const taken = Array.from({ length: 5000 }, () => places.take(client, 'same'))
  return taken.filter((place) => place !== undefined)
}

test('many clients behind one address may repeat a question while places are free', () => {
  const places = new WaitingPlaces()
  for (const address of ['192.0.2.1', '2001:db8::1']) {
    const taken = Array.from({ length: 500 }, () => places.take(udp(address), 'popular'))
    expect(taken).not.toContain(undefined)
  }
  expect(places.droppedTotal).toBe(0)
})

test('one client cannot make places so scarce that the repeats of others are dropped', () => {
  for (const flood of [fill, repeat]) {
    const places = new WaitingPlaces()
    flood(places, udp('192.0.2.1'))
    const taken = Array.from({ length: 500 }, () => places.take(udp('192.0.2.2'), 'popular'))
    expect(taken).not.toContain(undefined)
  }
})

test('clients that repeat one question leave half of the places to other questions', () => {
  const places = new WaitingPlaces()
  for (let i = 0; i < 20; i++) repeat(places, udp(`192.0.2.${i}`))
  expect(places.taken).toBeLessThanOrEqual(4000 + 20 * 10)
  expect(fill(places, udp('198.51.100.1')).length).toBeGreaterThanOrEqual(500)
})

test('while places are scarce, ten repeats of one question over UDP wait, and the server drops and counts the rest', () => {
  const places = new WaitingPlaces()
  fill(places, udp('198.51.100.1'))
  fill(places, udp('198.51.100.2'))
  const before = { taken: places.taken, dropped: places.droppedTotal }
  const taken = Array.from({ length: 100 }, () => places.take(udp('192.0.2.1'), 'same')).filter((each) => each)
  const counted = [places.taken - before.taken, places.droppedTotal - before.dropped]
  expect([taken.length, ...counted]).toEqual([10, 10, 90])
  expect(places.take(udp('192.0.2.1'), 'other')).toBeDefined()
  expect(places.take(udp('192.0.2.2'), 'same')).toBeDefined()
  expect(places.take(tcp('192.0.2.1'), 'same')).toBeDefined()
  taken[0]?.leave()
  expect(places.take(udp('192.0.2.1'), 'same')).toBeDefined()
  expect(places.take(udp('192.0.2.1'), 'same')).toBeUndefined()
})

test('places that were left are free again', () => {
  const places = new WaitingPlaces()
  for (const place of fill(places, udp('192.0.2.1'))) place.leave()
  expect(places.taken).toBe(0)
  expect(fill(places, udp('192.0.2.1'))).toHaveLength(3000)
})
