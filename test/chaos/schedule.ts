// The order of events: drawn at random, or given; up to two at a time, where they need different things.

import { setTimeout as sleep } from 'node:timers/promises'
import { EVENTS, type ChaosEvent, type EventName, type Scene } from './events.ts'

export interface ScheduleOptions {
  /** In this order, once; otherwise any, until the time is over. */
  readonly order?: readonly EventName[]
  readonly seconds: number
  /** At least and at most, between the beginnings of events. */
  readonly pauseMs: readonly [number, number]
}

const AT_ONCE = 2

export async function runEvents(scene: Scene, { order, seconds, pauseMs }: ScheduleOptions): Promise<void> {
  const { random, journal, signal } = scene
  const names = Object.keys(EVENTS) as EventName[]
  const left = [...(order ?? [])]
  const running = new Map<EventName, Promise<void>>()
  const endAt = performance.now() + seconds * 1000
  const isFree = (name: EventName) => {
    const needs = new Set<string>([...running.keys()].flatMap((other) => (EVENTS[other] as ChaosEvent).needs))
    return running.size < AT_ONCE && !(EVENTS[name] as ChaosEvent).needs.some((need) => needs.has(need))
  }
  const next = () => (order === undefined ? random.pick(names) : left[0])
  while (!signal.aborted && (order === undefined ? performance.now() < endAt : left.length > 0)) {
    const name = next()
    while (!isFree(name)) await Promise.race(running.values())
    left.shift()
    journal.note(`${name} …`)
    journal.began(name)
    const run = async () => {
      await EVENTS[name].run(scene)
      running.delete(name)
      journal.note(`${name}: over`)
    }
    running.set(name, run())
    await Promise.race([sleep(random.between(...pauseMs)), ...running.values()])
    await sleep(pauseMs[0])
  }
  await Promise.all(running.values())
}
