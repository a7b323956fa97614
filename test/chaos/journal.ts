// What happened, as it happened: events, violations with the events before them, and how far servers lagged behind.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface EventFigures {
  times: number
  longestLagMs: number
}

/** After so many there is no need for more. */
const MOST_VIOLATIONS = 20
const EVENTS_SHOWN = 8
const MARK = 'VIOLATION '

export class Journal {
  readonly violations: string[] = []
  readonly #say: (line: string) => void
  readonly #startedAt = performance.now()
  readonly #lines: string[] = []
  /** By event; '' is for when there has been none yet. */
  readonly #events = new Map<string, EventFigures>()
  readonly #lags = new Map<string, number>()
  readonly #failed = Promise.withResolvers<never>()
  #lastEvent = ''

  constructor(say: (line: string) => void) {
    this.#say = say
    this.#failed.promise.catch(() => undefined)
  }

  /** Rejects when there is no point in going on. */
  get hopeless(): Promise<never> {
    return this.#failed.promise
  }

  note(line: string): void {
    const at = ((performance.now() - this.#startedAt) / 1000).toFixed(2).padStart(7)
    this.#lines.push(`${at} s  ${line}`)
    this.#say(`${at} s  ${line}`)
  }

  began(event: string): void {
    this.#lastEvent = event
    const { times, longestLagMs } = this.#figures(event)
    this.#events.set(event, { times: times + 1, longestLagMs })
  }

  violation(text: string): void {
    if (this.violations.length >= MOST_VIOLATIONS) return
    const before = this.#lines.filter((line) => !line.includes(MARK)).slice(-EVENTS_SHOWN)
    this.note(MARK + text)
    this.violations.push([`${this.#lines.at(-1)}`, ...before.map((line) => `  after ${line}`)].join('\n'))
    if (this.violations.length === MOST_VIOLATIONS) this.#failed.reject(new Error('too many violations'))
  }

  /** `server` answered what had been replaced so long ago, though it could reach etcd all that time. */
  lag(server: string, lagMs: number): void {
    this.#lags.set(server, Math.max(this.#lags.get(server) ?? 0, lagMs))
    const { times, longestLagMs } = this.#figures(this.#lastEvent)
    this.#events.set(this.#lastEvent, { times, longestLagMs: Math.max(longestLagMs, lagMs) })
  }

  table(): string[] {
    const rows = [...this.#events].map(([event, { times, longestLagMs }]) => [
      event === '' ? '(before the first)' : event,
      event === '' ? '' : String(times),
      `${Math.round(longestLagMs)} ms`,
    ])
    const servers = [...this.#lags].map(([server, lagMs]) => ['server ' + server, '', `${Math.round(lagMs)} ms`])
    return columns([['event', 'times', 'longest lag since it began, etcd reachable'], ...rows, ...servers])
  }

  /** How often each event happened. */
  counts(): string[] {
    return columns([['event', 'times'], ...Array.from(this.#events, ([event, { times }]) => [event, String(times)])])
  }

  /** Writes everything there is to a directory that stays. */
  keep(files: ReadonlyMap<string, string>): string {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-chaos-kept-'))
    writeFileSync(join(directory, 'journal.txt'), `${this.#lines.join('\n')}\n`)
    for (const [name, text] of files) writeFileSync(join(directory, name), text)
    return directory
  }

  #figures(event: string): EventFigures {
    return this.#events.get(event) ?? { times: 0, longestLagMs: 0 }
  }
}

/** Lines of a table for a terminal. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  )
}
