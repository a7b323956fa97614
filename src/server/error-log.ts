// Failures of a server block in the log (`errors`). Failures that a rule of `consolidate` matches are counted and reported
// together after its time; of the others a few are written each second, and the rest is counted as well: clients decide
// how many questions fail, and must not decide how much is logged.

import type { ErrorRule } from './config.ts'

/** Lines in a second. */
const MOST_LINES = 20
const SECOND_MS = 1000

export interface ErrorLogOutput {
  error(message: string): void
  warning(message: string): void
  info(message: string): void
}

interface Counted {
  readonly rule: ErrorRule
  count: number
}

export class ErrorLog {
  readonly #output: ErrorLogOutput
  readonly #counted: readonly Counted[]
  #lines = 0
  #held = 0
  #last = ''
  readonly #timers = new Set<NodeJS.Timeout>()

  /** What is counted when the signal comes is reported at once. */
  constructor(rules: readonly ErrorRule[], output: ErrorLogOutput, signal: AbortSignal) {
    this.#output = output
    this.#counted = rules.map((rule) => ({ rule, count: 0 }))
    signal.addEventListener('abort', () => this.#close(), { once: true })
  }

  /** `reason` is what rules match; `subject` says what failed. */
  report(subject: string, reason: string): void {
    const counted = this.#counted.find(({ rule }) => rule.pattern.test(reason))
    if (counted === undefined) this.#write(`${subject}: ${reason}`)
    else this.#count(counted, `${subject}: ${reason}`)
  }

  #count(counted: Counted, message: string): void {
    counted.count++
    if (counted.count > 1) return
    if (counted.rule.showFirst) this.#show(counted.rule, message)
    this.#later(counted.rule.durationMs, () => this.#reportCounted(counted))
  }

  #reportCounted(counted: Counted): void {
    const { rule, count } = counted
    counted.count = 0
    // The first one was shown already.
    if (count > (rule.showFirst ? 1 : 0))
      this.#show(rule, `${count} errors like '${rule.source}' occurred in last ${formatDuration(rule.durationMs)}`)
  }

  /** The log has no messages for debugging. */
  #show({ level }: ErrorRule, message: string): void {
    if (level !== 'debug') this.#output[level](message)
  }

  #write(message: string): void {
    if (this.#lines === 0 && this.#held === 0) this.#later(SECOND_MS, () => this.#nextSecond())
    if (this.#lines < MOST_LINES) {
      this.#lines++
      this.#output.warning(message)
      return
    }
    this.#held++
    this.#last = message
  }

  #nextSecond(): void {
    this.#lines = 0
    if (this.#held === 0) return
    this.#output.warning(`${this.#held} more failures, the last: ${this.#last}`)
    this.#held = 0
  }

  #later(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      act()
    }, ms).unref()
    this.#timers.add(timer)
  }

  #close(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
    for (const counted of this.#counted) this.#reportCounted(counted)
    this.#nextSecond()
  }
}

/** As Go writes a duration: `30s`, `5m0s`, `1h0m0s`, `500ms`. */
function formatDuration(ms: number): string {
  if (ms < SECOND_MS) return `${ms}ms`
  const seconds = `${(ms % 60_000) / 1000}s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes === 0) return seconds
  return minutes < 60 ? `${minutes}m${seconds}` : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}`
}
