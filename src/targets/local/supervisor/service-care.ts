// Looks after one service: starts it, notices its end, signals it. What should be done with it is decided by
// machine-care.ts.
//
//   stopped ──start──▶ starting ──▶ running ──ended by itself──▶ waiting ──start──▶ …
//      ▲                               ├──stop, then SIGKILL──▶ stopped
//      └───────────────────────────────┘└─(once) exit code 0──▶ done
//
// A process that an earlier supervisor has started is no child of ours: it is looked at now and then, and how it ended
// is not known.

import type { DaemonEnd } from '../../../lib/daemon.ts'
import { messageOf } from '../../../lib/errors.ts'
import { describeFailure, findDetail, type ServiceFailure } from '../../service-failure.ts'
import { type Layout, logOf } from '../layout.ts'
import { Backoff } from './backoff.ts'
import { type DesiredService, isAsWanted } from './desired.ts'
import type { ObservedService } from './observed.ts'
import type { ProcessId } from './process-table.ts'
import type { System } from './system.ts'

/** What it needs of the world around it. */
export interface Surroundings {
  readonly system: System
  readonly layout: Layout
  readonly machine: string
  readonly isRoot: boolean
  /** Writes down the state of the machine, now. */
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
  #failure: ServiceFailure | undefined
  /** Bytes that its log had when this run began. */
  #logStart = 0
  #startedAs: DesiredService
  #isChild = false
  #startedAt: number
  /** When a waiting one is due. */
  #startAt = 0
  /** When one that was told to stop is killed. */
  #killAt: number | undefined

  /** `record` is what an earlier supervisor has left; whether its process still runs is told by adopt() or lose(). */
  constructor(around: Surroundings, wanted: DesiredService, record?: ObservedService) {
    this.#around = around
    this.#state = record?.state ?? 'stopped'
    this.#since = record?.since ?? around.system.time()
    this.#startedAt = around.system.now()
    this.#restarts = record?.restarts ?? 0
    this.#failure = record?.failure
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
      failure: this.#failure,
      startedAs: this.#startedAs,
    }
  }

  /** When it has to be looked at again, on the clock of System.now(). */
  get dueAt(): number {
    // The end of a child is reported; that of others is looked for, more often while it is being stopped.
    if (this.#killAt !== undefined) return this.#isChild ? this.#killAt : this.#around.system.now() + STOPPING_LOOK_MS
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
    if (this.#state === 'running' || this.#state === 'starting') this.#fail({ kind: 'unwatched' }, 0)
  }

  /** Notices the end of a process that is no child of ours. */
  look(): void {
    if (this.#process === undefined || this.#isChild || this.#around.system.isRunning(this.#process)) return
    this.#ended(undefined)
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
    const { system, layout, machine, isRoot, save, log } = this.#around
    if (this.#state !== 'waiting' || !this.isUpToDate(wanted)) {
      this.#restarts = 0
      this.#failure = undefined
      this.#backoff.reset()
    }
    this.#startedAs = wanted
    this.#startedAt = system.now()
    this.#enter('starting')
    save()
    try {
      const { service } = wanted
      this.#logStart = system.logSize(logOf(layout, machine, this.name))
      const pid = system.launch({ layout, machine, service, isRoot, onEnd: (end) => this.#ended(end) })
      if (pid === undefined) return
      this.#isChild = true
      this.#process = { pid, startTime: system.startTimeOf(pid) ?? 0 }
      this.#enter('running')
      log(`${machine}: ${this.name} started, pid ${pid}`)
    } catch (error) {
      this.#ended({ problem: messageOf(error) })
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
    if (this.#process !== undefined) this.#around.system.sendSignal(this.#process, signal)
  }

  /** Undefined: it was no child of ours. */
  #ended(end: DaemonEnd | undefined): void {
    const { system, save, wake } = this.#around
    const isStopped = this.#killAt !== undefined
    this.#process = undefined
    this.#isChild = false
    this.#killAt = undefined
    if (isStopped) this.#enter('stopped')
    else if (end?.exitCode === 0 && this.#startedAs.service.once === true) this.#finish()
    else this.#fail(failureOf(end), this.#backoff.next(system.now() - this.#startedAt))
    save()
    wake()
  }

  /** Failures on the way are over. */
  #finish(): void {
    this.#restarts = 0
    this.#failure = undefined
    this.#enter('done')
  }

  #fail(how: Omit<ServiceFailure, 'at'>, pauseMs: number): void {
    const { system, layout, machine, log } = this.#around
    const detail = how.detail ?? findDetail(system.lastLines(logOf(layout, machine, this.name), this.#logStart), how)
    this.#failure = { ...how, ...(detail !== undefined && { detail }), at: system.time() }
    this.#restarts++
    this.#startAt = system.now() + pauseMs
    this.#enter('waiting')
    log(`${machine}: ${this.name}: ${describeFailure(this.#failure)}; starting it again in ${Math.round(pauseMs)} ms`)
  }

  #enter(state: ObservedService['state']): void {
    this.#state = state
    this.#since = this.#around.system.time()
  }
}

function failureOf(end: DaemonEnd | undefined): Omit<ServiceFailure, 'at'> {
  if (end?.problem !== undefined) return { kind: 'unstartable', detail: end.problem }
  if (end?.exitCode !== undefined) return { kind: 'exited', exitCode: end.exitCode }
  return end?.signal === undefined ? { kind: 'unwatched' } : { kind: 'killed', signal: end.signal }
}
