// One zone file, CoreDNS's `file`: when its content changes the zones in it are loaded again. A file that is
// missing or deleted is a fault to report, never a reason to drop a zone that is loaded.

import { dirname } from 'node:path'
import { loadLibc } from '../../lib/libc.ts'
import { isUnfinished } from './unfinished.ts'
import { KnownContent } from './zone-directory-content.ts'
import { STALE_RETRY_MS, ZoneDependencies } from './zone-directory-dependencies.ts'
import { pathsLeadingTo } from './zone-directory-links.ts'
import { DirectoryWatch } from './zone-directory-watch.ts'

export interface ZoneFileOptions {
  readonly path: string
  /** Each is loaded from the same text. */
  readonly origins: readonly string[]
  /** Interval of the safety net under inotify; 0 = never look again, not even by inotify. */
  readonly reloadMs: number
  readonly signal: AbortSignal
  readonly onZone: (origin: string, file: string) => void
  /** The file cannot be read and the zone was not loaded yet. */
  readonly onUnreadable: (origin: string, path: string) => void
  readonly onProblem: (message: string) => void
}

const MAX_TIMEOUT_MS = 2 ** 31 - 1

export class ZoneFile {
  readonly #options: ZoneFileOptions
  readonly #watch: DirectoryWatch
  readonly #content = new KnownContent()
  readonly #dependencies = new ZoneDependencies()
  #decisive: ReadonlySet<string> = new Set()
  #problem: string | undefined
  #timer: NodeJS.Timeout | undefined
  readonly #served = new Set<string>()
  /** What is found at the start is taken as it is. */
  #started = false
  readonly #libc = loadLibc(() => undefined)

  constructor(options: ZoneFileOptions) {
    this.#options = options
    this.#watch = new DirectoryWatch({
      onQuiet: (paths, lost) => {
        if (lost || paths.some((path) => this.#decisive.has(path))) this.#look('bytes')
      },
      onFailure: (directory, reason) => {
        const fallback = `changes are found every ${options.reloadMs / 1000} s instead of at once`
        options.onProblem(`Cannot watch "${directory}": ${reason}; ${fallback}`)
      },
    })
  }

  /** Looks at once, with onZone for each origin if the file is there, and follows changes until the signal aborts. */
  start(): void {
    const { signal, reloadMs } = this.#options
    if (signal.aborted) return
    signal.addEventListener('abort', () => this.#stop(), { once: true })
    this.#look('bytes')
    this.#started = true
    if (reloadMs > 0) this.#lookLater()
  }

  /** Files the zone includes: onZone is called again when one of them changes. */
  watchAlso(origin: string, files: readonly string[]): void {
    if (this.#options.reloadMs === 0 || this.#options.signal.aborted) return
    const stale = this.#dependencies.set(origin, files)
    this.#rewatch()
    if (stale) setTimeout(() => this.#serve(origin), STALE_RETRY_MS)
  }

  #stop(): void {
    clearTimeout(this.#timer)
    this.#watch.close()
  }

  #lookLater(): void {
    this.#timer = setTimeout(
      () => {
        this.#look('stat')
        if (!this.#options.signal.aborted) this.#lookLater()
      },
      Math.min(this.#options.reloadMs, MAX_TIMEOUT_MS),
    )
  }

  #look(look: 'stat' | 'bytes'): void {
    const { path, origins, reloadMs } = this.#options
    if (reloadMs > 0) this.#rewatch()
    if (this.#started && isUnfinished(path, this.#libc)) return this.#watch.note(path)
    const content = this.#content.check(path, look)
    if (content.state === 'missing') this.#report(`Cannot read "${path}": no such file; a zone loaded from it stays`)
    else if (content.state === 'unreadable')
      this.#report(`Cannot read "${path}": ${content.reason}; a zone loaded from it stays`)
    else this.#problem = undefined
    if (content.state === 'missing' || content.state === 'unreadable')
      for (const origin of origins) if (!this.#served.has(origin)) this.#options.onUnreadable(origin, path)
    const changed = content.state === 'changed' ? origins : this.#dependencies.changed(look)
    for (const origin of changed) this.#serve(origin)
  }

  #serve(origin: string): void {
    if (this.#options.signal.aborted) return
    this.#served.add(origin)
    this.#dependencies.loading(origin)
    this.#options.onZone(origin, this.#options.path)
  }

  /** Links may lead elsewhere than before. */
  #rewatch(): void {
    this.#decisive = new Set([this.#options.path, ...this.#dependencies.paths()].flatMap(pathsLeadingTo))
    const directories = new Set([...this.#decisive].map((path) => dirname(path)))
    this.#watch.retain(directories)
    for (const directory of directories) this.#watch.add(directory)
  }

  #report(message: string): void {
    if (this.#problem === message) return
    this.#problem = message
    this.#options.onProblem(message)
  }
}
