// The logs of services, from the journals inside their machines: the last lines of each, and those that come. Each line has a
// cursor, by which the journal finds its place again.

import { setTimeout as sleep } from 'node:timers/promises'
import type { LogLine, LogOptions } from '../target.ts'
import type { Guest } from './guest.ts'

export interface GuestWithLogs {
  readonly machine: string
  readonly guest: Guest
  /** By unit. */
  readonly services: ReadonlyMap<string, string>
}

const LOOK_MS = 1000
const TIMEOUT_MS = 30_000
/** In one answer: what is more comes with the next. */
const MOST_LINES = 2000

/** `onSilent` is told when a machine does not answer; the others go on. */
export async function* readGuestLogs(
  guests: readonly GuestWithLogs[],
  { lines, follow, signal }: LogOptions,
  onSilent: (machine: string, error: unknown) => void,
): AsyncGenerator<LogLine> {
  const journals = guests.map((each) => new Journal(each))
  for (let isFirst = true; ; isFirst = false) {
    for (const journal of journals) {
      try {
        yield* isFirst ? await journal.last(lines) : await journal.next()
      } catch (error) {
        if (isFirst) onSilent(journal.machine, error)
      }
    }
    if (!follow) return
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
  }
}

class Journal {
  readonly machine: string
  readonly #guest: Guest
  readonly #services: ReadonlyMap<string, string>
  #cursor: string | undefined
  /** Those of the first answer that came after the cursor. */
  readonly #shown = new Set<string>()

  constructor({ machine, guest, services }: GuestWithLogs) {
    this.machine = machine
    this.#guest = guest
    this.#services = services
  }

  async last(lines: number): Promise<LogLine[]> {
    this.#cursor = (await this.#read(['-n', '1'])).at(-1)?.cursor
    const found: LogLine[] = []
    for (const unit of this.#services.keys()) {
      const entries = lines === 0 ? [] : await this.#read(['-n', String(lines), `_SYSTEMD_UNIT=${unit}`])
      for (const { cursor } of entries) this.#shown.add(cursor)
      found.push(...entries.flatMap((entry) => this.#lines(entry)))
    }
    return found
  }

  async next(): Promise<LogLine[]> {
    const from = this.#cursor === undefined ? [] : [`--after-cursor=${this.#cursor}`]
    const entries = await this.#read([...from, ...[...this.#services.keys()].map((unit) => `_SYSTEMD_UNIT=${unit}`)])
    const few = entries.slice(0, MOST_LINES)
    this.#cursor = few.at(-1)?.cursor ?? this.#cursor
    return few.flatMap((entry) => (this.#shown.delete(entry.cursor) ? [] : this.#lines(entry)))
  }

  async #read(options: readonly string[]): Promise<Entry[]> {
    const command = ['journalctl', '--quiet', '--all', '--output=json', '--output-fields=MESSAGE,_SYSTEMD_UNIT']
    const { code, output, errors } = await this.#guest.run([...command, ...options], { timeoutMs: TIMEOUT_MS })
    if (code !== 0) throw new Error(errors.trim())
    return output
      .split('\n')
      .filter((line) => line !== '')
      .map(parseEntry)
  }

  #lines({ unit, text }: Entry): LogLine[] {
    const service = this.#services.get(unit)
    if (service === undefined) return []
    return text.split('\n').map((line) => ({ machine: this.machine, service, line }))
  }
}

interface Entry {
  readonly cursor: string
  readonly unit: string
  readonly text: string
}

function parseEntry(json: string): Entry {
  const entry = JSON.parse(json) as Readonly<Record<string, string | readonly number[] | null | undefined>>
  const { MESSAGE: message, _SYSTEMD_UNIT: unit, __CURSOR: cursor } = entry
  // As bytes where it is no text.
  const text = typeof message === 'string' ? message : Buffer.from(message ?? []).toString()
  return { cursor: String(cursor), unit: String(unit), text }
}
