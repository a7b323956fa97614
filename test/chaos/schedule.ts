// The order of events: drawn at random, or given; up to two at a time, where they need different things.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../fuzz/random.ts'
import type { Journal } from './journal.ts'

/** What the schedule itself needs of a scene. */
export interface Staged {
  readonly random: Random
  readonly journal: Journal
  /** Events come to an end early. */
  readonly signal: AbortSignal
}

export interface ChaosEvent<Scene, Need extends string = string> {
  /** No other event with one of these runs meanwhile. */
  readonly needs: readonly Need[]
  run(scene: Scene): Promise<void>
}

export interface ScheduleOptions<Name extends string> {
  /** In this order, once; otherwise any, until the time is over. */
  readonly order?: readonly Name[]
  readonly seconds: number
  /** At least and at most, between the beginnings of events. */
  readonly pauseMs: readonly [number, number]
}

const AT_ONCE = 2

export async function runEvents<Scene extends Staged, Name extends string>(
  events: Readonly<Record<Name, ChaosEvent<Scene>>>,
  scene: Scene,
  { order, seconds, pauseMs }: ScheduleOptions<Name>,
): Promise<void> {
  const { random, journal, signal } = scene
  const names = Object.keys(events) as Name[]
  const left = [...(order ?? [])]
  const running = new Map<Name, Promise<void>>()
  const endAt = performance.now() + seconds * 1000
  const isFree = (name: Name) => {
    const needs = new Set([...running.keys()].flatMap((other) => events[other].needs))
    return running.size < AT_ONCE && !events[name].needs.some((need) => needs.has(need))
  }
  const next = () => (order === undefined ? random.pick(names) : left[0])
  while (!signal.aborted && (order === undefined ? performance.now() < endAt : left.length > 0)) {
    const name = next()
    while (!isFree(name)) await Promise.race(running.values())
    left.shift()
    journal.note(`${name} …`)
    journal.began(name)
    const run = async () => {
      await events[name].run(scene)
      running.delete(name)
      journal.note(`${name}: over`)
    }
    running.set(name, run())
    await Promise.race([sleep(random.between(...pauseMs)), ...running.values()])
    await sleep(pauseMs[0])
  }
  await Promise.all(running.values())
}
