// Files that zones include. A zone is loaded again when one of its includes gets other content, appears or goes.

import { statSync } from 'node:fs'
import { KnownContent } from './zone-directory-content.ts'

/** File times come from a clock that ticks more coarsely than ours, but not more than this. */
const CLOCK_TICK_MS = 20
/** After this long a file that has not changed is safely older than the next load. */
export const STALE_RETRY_MS = 2 * CLOCK_TICK_MS

export class ZoneDependencies {
  readonly #content = new KnownContent()
  readonly #files = new Map<string, readonly string[]>()
  /** How many zones include each file. */
  readonly #uses = new Map<string, number>()
  readonly #loadedAt = new Map<string, number>()

  /** To be called before a zone is handed out for loading. */
  loading(origin: string): void {
    this.#loadedAt.set(origin, Date.now())
  }

  /** Says what `origin` includes; true when one of the files changed since the zone was handed out. */
  set(origin: string, files: readonly string[]): boolean {
    for (const file of files) if (!this.#uses.has(file)) this.#content.check(file, 'bytes')
    for (const file of files) this.#uses.set(file, (this.#uses.get(file) ?? 0) + 1)
    this.#release(origin)
    this.#files.set(origin, files)
    const loadedAt = this.#loadedAt.get(origin) ?? 0
    return files.some((file) => changedSince(file, loadedAt))
  }

  delete(origin: string): void {
    this.#release(origin)
    this.#files.delete(origin)
    this.#loadedAt.delete(origin)
  }

  has(file: string): boolean {
    return this.#uses.has(file)
  }

  paths(): Iterable<string> {
    return this.#uses.keys()
  }

  /** Origins with an include that changed since the last look. */
  changed(look: 'stat' | 'bytes'): string[] {
    const files = new Set([...this.paths()].filter((file) => this.#changed(file, look)))
    if (files.size === 0) return []
    return [...this.#files].filter(([, included]) => included.some((file) => files.has(file))).map(([origin]) => origin)
  }

  #release(origin: string): void {
    for (const file of this.#files.get(origin) ?? []) {
      const left = (this.#uses.get(file) ?? 1) - 1
      if (left > 0) this.#uses.set(file, left)
      else this.#uses.delete(file)
    }
  }

  #changed(file: string, look: 'stat' | 'bytes'): boolean {
    const wasThere = this.#content.has(file)
    const { state } = this.#content.check(file, look)
    return state === 'changed' || (state !== 'same' && wasThere)
  }
}

function changedSince(file: string, ms: number): boolean {
  try {
    return statSync(file).ctimeMs > ms - CLOCK_TICK_MS
  } catch {
    return false
  }
}
