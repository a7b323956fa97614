// What the catalog reports of its zones. Single names may change often, so those changes are reported together.

import { messageOf } from '../lib/errors.ts'
import type { Arena } from '../zone/arena.ts'
import type { Entry } from './catalog-entry.ts'
import type { LoaderReport } from './loader-messages.ts'
import type { ZoneSource } from './offer.ts'

/** How long names may have changed before that is reported. */
const REPORT_MS = 100

export class CatalogReports {
  readonly #arena: Arena
  readonly #report: (report: LoaderReport) => void
  readonly #changed = new Set<Entry>()

  constructor(arena: Arena, report: (report: LoaderReport) => void) {
    this.#arena = arena
    this.#report = report
  }

  problem(message: string): void {
    this.#report({ kind: 'problem', message })
  }

  problemOnce(entry: Entry, message: string): void {
    if (entry.reported.has(message)) return
    entry.reported.add(message)
    this.problem(message)
  }

  cannotChange({ origin }: Entry, thrown: unknown): void {
    this.problem(`Cannot change names of ${origin}: ${messageOf(thrown)}; it stays as it is`)
  }

  refused({ space, origin, slot, served }: Entry, source: ZoneSource, file: string, errors: readonly string[]): void {
    const { plugin } = source
    this.#report({ kind: 'refused', space, origin, slot, plugin, file, errors, keptSerial: served.serial })
  }

  gone({ space, origin }: Entry): void {
    this.#report({ kind: 'gone', space, origin, ...this.#memory })
  }

  /** Names of a zone have changed. */
  changed(entry: Entry): void {
    if (this.#changed.size === 0) setTimeout(() => this.reportChanged(), REPORT_MS)
    this.#changed.add(entry)
    this.signed(entry)
  }

  forget(entry: Entry): void {
    this.#changed.delete(entry)
  }

  /** Names cannot be added to a signed text. */
  signed(entry: Entry): void {
    const { origin, served, parts } = entry
    if (parts.length === 0 || !served.isSigned) return
    const what = parts.map(({ plugin }) => plugin).join(', ')
    this.problemOnce(
      entry,
      `Cannot add names of ${what} to ${origin}: its text is signed, and says that they do not exist; give them a zone of their own`,
    )
  }

  /** Reports changes of names at once. */
  reportChanged(): void {
    for (const { space, origin, slot, served, parts, offers } of this.#changed) {
      const { serial } = served
      if (serial === undefined) continue
      const plugin = parts[0]?.plugin ?? ''
      this.#report({ kind: 'names', space, origin, slot, plugin, hasText: offers.size > 0, serial, ...this.#memory })
    }
    this.#changed.clear()
  }

  get #memory(): { readonly arenaUsedBytes: number; readonly arenaBytes: number } {
    return { arenaUsedBytes: this.#arena.usedBytes, arenaBytes: this.#arena.buffer.byteLength }
  }
}
