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
    this.#cursor = (await this.#read(['-n', '1'])).at(-1)?.__CURSOR
    const found: LogLine[] = []
    for (const unit of this.#services.keys()) {
      const entries = lines === 0 ? [] : await this.#read(['-n', String(lines), `_SYSTEMD_UNIT=${unit}`])
      for (const { __CURSOR } of entries) this.#shown.add(__CURSOR)
      found.push(...entries.flatMap((entry) => this.#lines(entry)))
    }
    return found
  }

  async next(): Promise<LogLine[]> {
    const from = this.#cursor === undefined ? [] : [`--after-cursor=${this.#cursor}`]
    const entries = await this.#read([...from, ...[...this.#services.keys()].map((unit) => `_SYSTEMD_UNIT=${unit}`)])
    const few = entries.slice(0, MOST_LINES)
    this.#cursor = few.at(-1)?.__CURSOR ?? this.#cursor
    return few.flatMap((entry) => (this.#shown.delete(entry.__CURSOR) ? [] : this.#lines(entry)))
  }

  async #read(options: readonly string[]): Promise<Entry[]> {
    const command = ['journalctl', '--quiet', '--all', '--output=json', '--output-fields=MESSAGE,_SYSTEMD_UNIT']
    const { code, output, errors } = await this.#guest.run([...command, ...options], { timeoutMs: TIMEOUT_MS })
    if (code !== 0) throw new Error(errors.trim())
    return output
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Entry)
  }

  #lines({ MESSAGE, _SYSTEMD_UNIT }: Entry): LogLine[] {
    const service = this.#services.get(_SYSTEMD_UNIT ?? '')
    if (service === undefined) return []
    const text = typeof MESSAGE === 'string' ? MESSAGE : Buffer.from(MESSAGE ?? []).toString()
    return text.split('\n').map((line) => ({ machine: this.machine, service, line }))
  }
}

interface Entry {
  readonly __CURSOR: string
  readonly _SYSTEMD_UNIT?: string
  /** As bytes where it is no text. */
  readonly MESSAGE?: string | readonly number[] | null
}
