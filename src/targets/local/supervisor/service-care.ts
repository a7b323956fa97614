// Looks after one service: starts it, notices its end, signals it. What should be done with it is decided by
// machine-care.ts.
//
//   stopped ──start──▶ starting ──▶ running ──ended by itself──▶ waiting ──start──▶ …
//      ▲                               ├──stop, then SIGKILL──▶ stopped
//      └───────────────────────────────┘└─(once) exit code 0──▶ done
//
// A process that an earlier supervisor has started is no child of ours: it is looked at now and then, and how it ended
// is not known.

import { performance } from 'node:perf_hooks'
import type { DaemonEnd } from '../../../lib/daemon.ts'
import { messageOf } from '../../../lib/errors.ts'
import { type Layout, logOf } from '../layout.ts'
import { Backoff } from './backoff.ts'
import { type DesiredService, isAsWanted } from './desired.ts'
import { lastLine } from './last-line.ts'
import { launch } from './launch.ts'
import type { ObservedService } from './observed.ts'
import { isRunning, type ProcessId, readProcess, sendSignal } from './process-table.ts'

/** What it needs of the world around it. */
export interface Surroundings {
  readonly layout: Layout
  readonly machine: string
  readonly isRoot: boolean
  /** Writes down how things stand, now. */
  readonly save: () => void
  /** Something happened: look again at what is to be done. */
  readonly wake: () => void
  readonly log: (message: string) => void
}

const STOPPING_LOOK_MS = 30

export class ServiceCare {
  readonly #around: Surroundings
  readonly #backoff = new Backoff()
  #state: ObservedService['state']
  #process: ProcessId | undefined
  #since: number
  #restarts: number
  #lastError: string | undefined
  #startedAs: DesiredService
  #isChild = false
  #startedAt = performance.now()
  /** When a waiting one is due. */
  #startAt = 0
  /** When one that was told to stop is killed. */
  #killAt: number | undefined

  /** `record` is what an earlier supervisor has left; whether its process still runs is told by adopt() or lose(). */
  constructor(around: Surroundings, wanted: DesiredService, record?: ObservedService) {
    this.#around = around
    this.#state = record?.state ?? 'stopped'
    this.#since = record?.since ?? Date.now()
    this.#restarts = record?.restarts ?? 0
    this.#lastError = record?.lastError
    this.#startedAs = record?.startedAs ?? wanted
  }

  get name(): string {
    return this.#startedAs.service.name
  }

  get isAlive(): boolean {
    return this.#process !== undefined
  }

  get startedAs(): DesiredService {
    return this.#startedAs
  }

  get observed(): ObservedService {
    return {
      state: this.#state,
      process: this.#process,
      since: this.#since,
      restarts: this.#restarts,
      lastError: this.#lastError,
      startedAs: this.#startedAs,
    }
  }

  /** When it has to be looked at again, on the clock of performance.now(). */
  get dueAt(): number {
    // The end of a child is told; that of others is looked for, more often while somebody waits for it.
    if (this.#killAt !== undefined) return this.#isChild ? this.#killAt : performance.now() + STOPPING_LOOK_MS
    return this.#state === 'waiting' ? this.#startAt : Infinity
  }

  /** Takes over a process that was started as this service. */
  adopt({ pid, startTime }: ProcessId): void {
    this.#process = { pid, startTime }
    if (this.#state !== 'running') this.#enter('running')
    this.#around.log(`${this.#around.machine}: ${this.name} is running already, pid ${pid}`)
  }

  /** What was running when an earlier supervisor ended is not any more. */
  lose(): void {
    if (this.#state === 'running' || this.#state === 'starting') this.#fail('ended while nobody watched', 0)
  }

  /** Notices the end of a process that is no child of ours. */
  look(): void {
    if (this.#process === undefined || this.#isChild || isRunning(this.#process)) return
    this.#ended({ isSuccess: false, reason: 'ended' })
  }

  /** Whether a start now is asked for and not too early. */
  isDue(wanted: DesiredService, now: number): boolean {
    return this.#state !== 'waiting' || !this.isUpToDate(wanted) || now >= this.#startAt
  }

  /** Whether what was started last is what is wanted. */
  isUpToDate(wanted: DesiredService): boolean {
    return isAsWanted(this.#startedAs, wanted)
  }

  isDone(wanted: DesiredService): boolean {
    return this.#state === 'done' && this.isUpToDate(wanted)
  }

  start(wanted: DesiredService): void {
    const { layout, machine, isRoot, save, log } = this.#around
    if (this.#state !== 'waiting' || !this.isUpToDate(wanted)) {
      this.#restarts = 0
      this.#lastError = undefined
      this.#backoff.reset()
    }
    this.#startedAs = wanted
    this.#startedAt = performance.now()
    this.#enter('starting')
    save()
    try {
      const { service } = wanted
      const pid = launch({ layout, machine, service, isRoot, onEnd: (end) => this.#ended(end) })
      if (pid === undefined) return
      this.#isChild = true
      this.#process = { pid, startTime: readProcess(pid)?.startTime ?? 0 }
      this.#enter('running')
      log(`${machine}: ${this.name} started, pid ${pid}`)
    } catch (error) {
      this.#ended({ isSuccess: false, reason: messageOf(error) })
    }
    save()
  }

  /** Tells it to end, and kills it when that takes too long. */
  stop(now: number): void {
    if (this.#process === undefined) return
    const { stopSignal, stopTimeoutMs } = this.#startedAs.service
    if (this.#killAt === undefined) {
      this.#killAt = now + stopTimeoutMs
      this.#around.log(`${this.#around.machine}: stopping ${this.name}`)
      this.#signal(stopSignal)
    } else if (now >= this.#killAt) {
      this.#killAt = Infinity
      this.#around.log(`${this.#around.machine}: ${this.name} has not ended within ${stopTimeoutMs} ms; killing it`)
      this.#signal('SIGKILL')
    }
  }

  /** One that does not run has nothing to be told: it reads its files when it is started. */
  reload(wanted: DesiredService): void {
    const { reloadSignal } = wanted.service
    if (this.#startedAs.reloads >= wanted.reloads) return
    if (reloadSignal !== undefined) this.#signal(reloadSignal)
    this.#startedAs = {
      ...this.#startedAs,
      reloads: wanted.reloads,
      digests: { ...this.#startedAs.digests, reload: wanted.digests.reload },
    }
    this.#around.save()
  }

  /** Of one that does not run: nobody wants it to, from now on. A step that was done stays done. */
  settle(): void {
    if (this.#state !== 'done' && this.#state !== 'stopped') this.#enter('stopped')
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#process !== undefined) sendSignal(this.#process, signal)
  }

  #ended({ isSuccess, reason }: DaemonEnd): void {
    const { save, wake } = this.#around
    const isStopped = this.#killAt !== undefined
    this.#process = undefined
    this.#isChild = false
    this.#killAt = undefined
    if (isStopped) this.#enter('stopped')
    else if (isSuccess && this.#startedAs.service.once === true) this.#finish()
    else this.#fail(reason, this.#backoff.next(performance.now() - this.#startedAt))
    save()
    wake()
  }

  /** What went wrong on the way is of no interest any more. */
  #finish(): void {
    this.#restarts = 0
    this.#lastError = undefined
    this.#enter('done')
  }

  #fail(reason: string, pauseMs: number): void {
    const { layout, machine, log } = this.#around
    const said = lastLine(logOf(layout, machine, this.name))
    this.#lastError = said === undefined ? reason : `${reason}: ${said}`
    this.#restarts++
    this.#startAt = performance.now() + pauseMs
    this.#enter('waiting')
    log(`${machine}: ${this.name} ended: ${this.#lastError}; starting it again in ${Math.round(pauseMs)} ms`)
  }

  #enter(state: ObservedService['state']): void {
    this.#state = state
    this.#since = Date.now()
  }
}
