// Long work of one thread, done between its other events: each piece runs for a few milliseconds, then timers and sockets
// have their turn. Work is in lanes, and lanes take turns, so that work in one lane waits for none in another.
//
//   add ──▶ runs at once, while this turn has time left ──▶ done
//             │ not finished
//             ▼
//           small work of its lane, one after the other ──▶ done
//             │ takes more than SMALL_MS
//             ▼
//           large work of its lane, the first few side by side ──▶ done
//
// A turn has up to three slices: urgent work, small work of `names`, and one of the other lanes. So a change of a primary
// waits for one turn at most, however much else there is, and a change of a few names waits for no zone. Work that is
// added runs at once only while its turn has time left, except urgent work, which always has a slice of its own.
//
// Only a few large ones are begun at a time, since what is half done takes memory; one more for each that takes very
// long, up to a limit, so that a few of them do not keep all others from being begun.

import { performance } from 'node:perf_hooks'
import type { Steps } from '../dns/steps.ts'

/** Kinds of work: names that follow a primary, names of other sources, files of the operator, zones in etcd. */
export type Lane = 'urgent' | 'names' | 'files' | 'etcd'

export interface WorkOptions<Result> {
  readonly lane: Lane
  readonly steps: Steps<Result>
  /** Called once, unless the work is given up; maybe before `add` returns. */
  readonly onDone: (result: Result) => void
  readonly onFailure: (thrown: unknown) => void
}

export interface WorkQueueOptions {
  /** How long other events wait at most for a slice, about. */
  readonly sliceMs?: number
  readonly now?: () => number
  readonly defer?: (run: () => void) => void
}

/** Gives work up: nothing of it is called any more. */
export type GiveUp = () => void

interface Work {
  readonly lane: Lane
  readonly steps: Steps<unknown>
  readonly settle: (how: Outcome) => void
  spentMs: number
  isOver: boolean
}

type Outcome = { readonly value: unknown } | { readonly thrown: unknown }

/** A turn may have three slices, and an event of a source takes two or three turns until it is known. */
const SLICE_MS = 2
/** What takes longer than this is large. */
const SMALL_MS = 20
const LARGE_AT_ONCE = 3
/** For each that takes longer than this, one more is begun, up to so many in all. */
const VERY_LONG_MS = 2000
const MOST_AT_ONCE = 8

export class WorkQueue {
  readonly #sliceMs: number
  readonly #now: () => number
  readonly #defer: (run: () => void) => void
  readonly #urgent = new Set<Work>()
  readonly #small: Readonly<Record<Lane, Set<Work>>> = {
    ...{ urgent: this.#urgent, names: new Set(), files: new Set(), etcd: new Set() },
  }
  readonly #large: Readonly<Record<Lane, Work[]>> = { urgent: [], names: [], files: [], etcd: [] }
  /** Until when work may still be begun in this turn; 0 when no turn has begun. */
  #turnEnd = 0
  #isDeferred = false
  /** Lanes take turns. */
  #turn = 0
  #running: Work | undefined
  #idle: (() => void)[] = []

  constructor({ sliceMs = SLICE_MS, now = () => performance.now(), defer = setImmediate }: WorkQueueOptions = {}) {
    this.#sliceMs = sliceMs
    this.#now = now
    this.#defer = defer
  }

  add<Result>({ lane, steps, onDone, onFailure }: WorkOptions<Result>): GiveUp {
    const settle = (how: Outcome) => {
      if ('thrown' in how) onFailure(how.thrown)
      else onDone(how.value as Result)
    }
    const work: Work = { lane, steps, settle, spentMs: 0, isOver: false }
    const small = this.#small[lane]
    const now = this.#now()
    if (this.#turnEnd === 0) this.#turnEnd = now + this.#sliceMs
    small.add(work)
    this.#later()
    const end = lane === 'urgent' ? now + this.#sliceMs : this.#turnEnd
    if (small.size === 1 && this.#running === undefined && now < end) this.#run(work, end)
    return () => this.#giveUp(work)
  }

  /** Resolves when there is nothing to do. */
  async whenIdle(): Promise<void> {
    if (this.#isIdle) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#idle.push(resolve)
    await promise
  }

  #later(): void {
    if (this.#isDeferred) return
    this.#isDeferred = true
    this.#defer(() => this.#slice())
  }

  /** Urgent work, names, and one of the other lanes. */
  #slice(): void {
    this.#isDeferred = false
    this.#turnEnd = 0
    if (this.#isIdle) {
      for (const resolve of this.#idle.splice(0)) resolve()
      return
    }
    this.#later()
    const { urgent, names, ...others } = this.#small
    this.#runSmall(urgent)
    this.#runSmall(names)
    const lanes = [...Object.values(others), ...Object.values(this.#large)].filter((lane) => countOf(lane) > 0)
    this.#turnEnd = this.#now() + this.#sliceMs
    if (lanes.length === 0) return
    const lane = lanes[this.#turn++ % lanes.length]
    if (lane instanceof Set) this.#runSmall(lane)
    else this.#runLarge(lane, this.#turnEnd)
  }

  #runSmall(lane: ReadonlySet<Work>): void {
    const end = this.#now() + this.#sliceMs
    for (const work of lane) {
      this.#run(work, end)
      if (this.#now() >= end) return
    }
  }

  get #isIdle(): boolean {
    return [...Object.values(this.#small), ...Object.values(this.#large)].every((lane) => countOf(lane) === 0)
  }

  #runLarge(lane: Work[], end: number): void {
    const [work] = lane
    this.#run(work, end)
    // The first few take turns: it goes behind them.
    if (lane[0] !== work) return
    const veryLong = lane.slice(0, MOST_AT_ONCE).filter(({ spentMs }) => spentMs > VERY_LONG_MS).length
    lane.shift()
    lane.splice(Math.min(LARGE_AT_ONCE + veryLong, MOST_AT_ONCE) - 1, 0, work)
  }

  #run(work: Work, end: number): void {
    const started = this.#now()
    this.#running = work
    let outcome: Outcome | undefined
    try {
      while (outcome === undefined && !work.isOver) {
        const { done, value } = work.steps.next()
        if (done === true) outcome = { value }
        else if (this.#now() >= end) break
      }
    } catch (thrown) {
      outcome = { thrown }
    }
    this.#running = undefined
    if (work.isOver) work.steps.return(undefined)
    else if (outcome !== undefined) this.#finish(work, outcome)
    else this.#sort(work, this.#now() - started)
  }

  /** What takes long leaves the lane of small work. What is urgent stays, behind the others. */
  #sort(work: Work, spentMs: number): void {
    work.spentMs += spentMs
    if (this.#urgent.delete(work)) {
      this.#urgent.add(work)
      return
    }
    if (work.spentMs > SMALL_MS && this.#small[work.lane].delete(work)) this.#large[work.lane].push(work)
  }

  #finish(work: Work, how: Outcome): void {
    work.isOver = true
    this.#remove(work)
    work.settle(how)
  }

  #giveUp(work: Work): void {
    if (work.isOver) return
    work.isOver = true
    this.#remove(work)
    if (this.#running !== work) work.steps.return(undefined)
  }

  #remove(work: Work): void {
    if (this.#small[work.lane].delete(work)) return
    const lane = this.#large[work.lane]
    const at = lane.indexOf(work)
    if (at >= 0) lane.splice(at, 1)
  }
}

function countOf(lane: ReadonlySet<Work> | readonly Work[]): number {
  return lane instanceof Set ? lane.size : (lane as readonly Work[]).length
}
