// The work on one zone: one job at a time. A text that is being read is read to its end, since a newer one may be
// refused. The newest of those that came meanwhile is next; the ones before it are kept until it is accepted, so that
// the last good text comes into service whatever follows it.
//
//   current ──▶ accepted ──▶ older texts are dropped ──▶ the newest of the newer
//           └─▶ refused ───▶ the newest of the newer, else of the older

import type { Steps } from '../dns/steps.ts'
import type { ZoneSource } from './offer.ts'
import type { GiveUp, Lane, WorkQueue } from './work-queue.ts'

export interface JobOptions {
  /** The source whose text is read; undefined for a new version of the zone without a new text. */
  readonly source: ZoneSource | undefined
  /** The text can be read later, as it was when the job was asked for: not so a file. */
  readonly keepsText: boolean
  readonly lane: Lane
  /** The work, which returns whether its text is accepted. */
  readonly steps: (onCommit: () => void) => Steps<boolean>
  readonly onDone: (accepted: boolean) => void
  readonly onFailure: (thrown: unknown) => void
  /** It was given up before it changed anything. */
  readonly onDropped: () => void
}

interface Job {
  readonly options: JobOptions
  giveUp: GiveUp
  /** It has changed what is in service: it is too late to give it up. */
  isCommitted: boolean
  /** Texts before this one that were not read, the newest last. */
  older: JobOptions[]
  /** Texts that came since, the newest last. */
  newer: JobOptions[]
  /** New versions that are to be made next. */
  renewals: JobOptions[]
}

/** Of texts that wait, so many are kept: each may have some megabytes. */
const MOST_WAITING = 8

export class ZoneJobs {
  readonly #work: WorkQueue
  readonly #onIdle: () => void
  #current: Job | undefined

  /** `onIdle` is called after each job, and may add another. */
  constructor(work: WorkQueue, onIdle: () => void) {
    this.#work = work
    this.#onIdle = onIdle
  }

  get isBusy(): boolean {
    return this.#current !== undefined
  }

  /** Now, or after what is being done for the zone. */
  begin(options: JobOptions): void {
    this.#begin(options, [])
  }

  /** The text in service, or to come, is no longer there: ends what is being done for it unless it is too late. */
  abandon(): void {
    const job = this.#current
    if (job === undefined) return
    dropWaiting(job)
    if (!job.isCommitted) this.#end(job)
  }

  /** The zone is gone. */
  stop(): void {
    const job = this.#current
    if (job === undefined) return
    dropWaiting(job)
    this.#end(job)
  }

  #end(job: Job): void {
    this.#current = undefined
    job.giveUp()
    job.options.onDropped()
  }

  #begin(options: JobOptions, older: JobOptions[]): void {
    const { source, lane, steps } = options
    // A text of another source comes first now.
    const before = this.#current?.options.source
    if (source !== undefined && before !== undefined && before !== source) this.abandon()
    if (this.#current !== undefined) {
      if (source === undefined) this.#current.renewals.push(options)
      else for (const text of [...older, options]) addText(this.#current, text)
      return
    }
    const job: Job = { options, giveUp: () => {}, isCommitted: false, older, newer: [], renewals: [] }
    this.#current = job
    job.giveUp = this.#work.add({
      lane,
      steps: steps(() => (job.isCommitted = true)),
      onDone: (accepted) => this.#next(job, accepted, () => options.onDone(accepted)),
      onFailure: (thrown) => this.#next(job, false, () => options.onFailure(thrown)),
    })
  }

  #next(job: Job, accepted: boolean, settle: () => void): void {
    this.#current = undefined
    settle()
    for (const renewal of job.renewals) this.#begin(renewal, [])
    if (accepted) for (const text of job.older.splice(0)) text.onDropped()
    const texts = [...job.older, ...job.newer]
    const newest = texts.pop()
    for (const text of texts.splice(0, Math.max(0, texts.length - MOST_WAITING))) text.onDropped()
    if (newest !== undefined) this.#begin(newest, texts)
    this.#onIdle()
  }
}

/** What reads the same as a newer one does, or is of another source, is not read at all. */
function addText(job: Job, text: JobOptions): void {
  const isKept = ({ source, keepsText }: JobOptions) => keepsText && source === text.source
  for (const other of job.newer) if (!isKept(other)) other.onDropped()
  job.newer = [...job.newer.filter(isKept), text]
  if (job.newer.length > MOST_WAITING) job.newer.shift()?.onDropped()
}

function dropWaiting(job: Job): void {
  const waiting = [...job.older, ...job.newer, ...job.renewals]
  job.older = []
  job.newer = []
  job.renewals = []
  for (const each of waiting) each.onDropped()
}
