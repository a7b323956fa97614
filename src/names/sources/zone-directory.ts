// A directory of zone files, CoreDNS's `auto`: which origin comes from which file, and when to load it again.
//
//   inotify ──▶ at rest ──▶ one file looked at ──┐
//   interval, links, directories ──▶ whole scan ─┴──▶ candidates per origin ──▶ onZone / onGone
//
// A change is a change of bytes. A file that is gone takes its zone along; a file, directory or mount that cannot
// be read does not, because that may be a passing fault.

import { existsSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { loadLibc } from '../../lib/libc.ts'
import { isUnfinished } from './unfinished.ts'
import { KnownContent } from './zone-directory-content.ts'
import { STALE_RETRY_MS, ZoneDependencies } from './zone-directory-dependencies.ts'
import { kindOf, pathsLeadingTo } from './zone-directory-links.ts'
import { originReader, type OriginRule } from './zone-directory-origin.ts'
import { scanDirectory } from './zone-directory-scan.ts'
import { DirectoryWatch } from './zone-directory-watch.ts'

export interface ZoneDirectoryOptions extends OriginRule {
  readonly directory: string
  /** Interval of whole scans, the safety net under inotify; 0 = never look again, not even by inotify. */
  readonly reloadMs: number
  readonly signal: AbortSignal
  /** A new zone, or new content of a known one. */
  readonly onZone: (origin: string, file: string) => void
  readonly onGone: (origin: string) => void
  /** A file that should give a zone which was not loaded yet; or, from the start, a whole directory (no origin). */
  readonly onUnreadable: (origin: string | undefined, path: string) => void
  readonly onProblem: (message: string) => void
}

const MAX_TIMEOUT_MS = 2 ** 31 - 1

export class ZoneDirectory {
  readonly #options: ZoneDirectoryOptions
  readonly #readOrigin: ReturnType<typeof originReader>
  readonly #root: string
  readonly #watch: DirectoryWatch
  readonly #content = new KnownContent()
  readonly #dependencies = new ZoneDependencies()
  /** Files that give an origin, readable or not, and the other way round. */
  readonly #origins = new Map<string, string>()
  readonly #candidates = new Map<string, Set<string>>()
  /** What onZone was told. */
  readonly #served = new Map<string, string>()
  /** Last message per subject, so that each state is reported once. */
  readonly #problems = new Map<string, string>()
  #directories: ReadonlySet<string> = new Set()
  /** Paths outside the tree, and links in it, whose change asks for a whole scan. */
  #decisive = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  /** What is found by the first scan is taken as it is. */
  #started = false
  readonly #libc = loadLibc(() => undefined)

  constructor(options: ZoneDirectoryOptions) {
    this.#options = options
    this.#readOrigin = originReader(options)
    this.#root = resolve(options.directory)
    this.#watch = new DirectoryWatch({
      onQuiet: (paths, lost) => this.#lookAt(paths, lost),
      onFailure: (directory, reason) => {
        const fallback = `changes are found every ${options.reloadMs / 1000} s instead of at once`
        options.onProblem(`Cannot watch "${directory}": ${reason}; ${fallback}`)
      },
    })
  }

  /** Scans at once, with onZone for each zone found, and follows changes until the signal aborts. */
  start(): void {
    const { signal, reloadMs } = this.#options
    if (signal.aborted) return
    signal.addEventListener('abort', () => this.#stop(), { once: true })
    this.#scan()
    this.#started = true
    if (reloadMs > 0) this.#scanLater()
  }

  /** Files the zone includes: onZone is called again when one of them changes. */
  watchAlso(origin: string, files: readonly string[]): void {
    const { reloadMs, signal } = this.#options
    if (!this.#served.has(origin) || reloadMs === 0 || signal.aborted) return
    const added = files.filter((file) => !this.#dependencies.has(file))
    const stale = this.#dependencies.set(origin, files)
    for (const path of added.flatMap(pathsLeadingTo)) {
      this.#watch.add(dirname(path))
      this.#decisive.add(path)
    }
    if (stale) setTimeout(() => this.#serve(origin), STALE_RETRY_MS)
  }

  #stop(): void {
    clearTimeout(this.#timer)
    this.#watch.close()
  }

  #scanLater(): void {
    this.#timer = setTimeout(
      () => {
        this.#scan()
        for (const origin of this.#dependencies.changed('stat')) this.#serve(origin)
        if (!this.#options.signal.aborted) this.#scanLater()
      },
      Math.min(this.#options.reloadMs, MAX_TIMEOUT_MS),
    )
  }

  #lookAt(paths: readonly string[], lost: boolean): void {
    const decisive = lost || paths.some((path) => this.#decisive.has(path))
    const inTree = paths.filter((path) => this.#directories.has(dirname(path)))
    const simple = inTree.filter((path) => !decisive && this.#isSimple(path))
    if (decisive || simple.length < inTree.length) this.#scan(new Set(inTree))
    else for (const path of simple) this.#refresh(path, 'bytes')
    if (decisive) for (const origin of this.#dependencies.changed('bytes')) this.#serve(origin)
  }

  /** A file, or what was one: nothing below it, and nothing leads elsewhere. */
  #isSimple(path: string): boolean {
    if (this.#directories.has(path)) return false
    const kind = kindOf(path)
    return kind === 'file' || (kind === 'missing' && existsSync(this.#root))
  }

  /** Walks the whole tree; files are read where their stamp is new, and `suspects` in any case. */
  #scan(suspects: ReadonlySet<string> = new Set()): void {
    const watching = this.#options.reloadMs > 0
    if (watching) for (const path of pathsLeadingTo(this.#root)) this.#watch.add(dirname(path))
    const scan = scanDirectory(this.#root, (directory) => watching && this.#watch.add(directory))

    for (const { directory, reason } of scan.unreadable) {
      if (!this.#started) this.#options.onUnreadable(undefined, directory)
      this.#report(directory, `Cannot read directory "${directory}": ${reason}; its zones stay as they are`)
    }
    for (const directory of scan.directories) this.#problems.delete(directory)
    this.#directories = scan.directories
    if (watching) this.#rewatch(scan.links)

    const found = new Set(scan.files)
    const kept = scan.unreadable.map((each) => each.directory)
    for (const path of [...this.#origins.keys()]) {
      if (!found.has(path) && !kept.some((each) => path.startsWith(`${each}/`))) this.#remove(path)
    }
    for (const path of scan.files) this.#refresh(path, suspects.has(path) ? 'bytes' : 'stat')
  }

  #rewatch(links: readonly string[]): void {
    this.#decisive = new Set([this.#root, ...links, ...this.#dependencies.paths()].flatMap(pathsLeadingTo))
    const around = [...this.#decisive].map((path) => dirname(path))
    this.#watch.retain(new Set([...this.#directories, ...around]))
    for (const directory of around) this.#watch.add(directory)
  }

  /** Takes one file into account as it is now. */
  #refresh(path: string, look: 'stat' | 'bytes'): void {
    const origin = this.#originOf(path)
    if (origin === undefined) return
    if (look === 'bytes' && this.#waitsFor(path)) return
    const content = this.#content.check(path, look)
    if (look === 'stat' && content.state === 'changed' && this.#waitsFor(path)) {
      this.#content.forget(path)
      return
    }
    if (content.state === 'missing' && kindOf(path) === 'missing') {
      this.#remove(path)
      return
    }
    this.#origins.set(path, origin)
    this.#candidates.set(origin, (this.#candidates.get(origin) ?? new Set()).add(path))
    if (content.state === 'unreadable') this.#report(path, `Cannot read "${path}": ${content.reason}`)
    else if (content.state === 'missing') this.#report(path, `Cannot read "${path}": the link leads nowhere`)
    else this.#problems.delete(path)
    this.#settle(origin, content.state === 'changed' ? path : undefined)
  }

  /** A file that is still being written is looked at again in a moment. */
  #waitsFor(path: string): boolean {
    if (!this.#started || !isUnfinished(path, this.#libc)) return false
    this.#watch.note(path)
    return true
  }

  #remove(path: string): void {
    const origin = this.#origins.get(path)
    if (origin === undefined) return
    this.#origins.delete(path)
    this.#content.forget(path)
    this.#problems.delete(path)
    this.#candidates.get(origin)?.delete(path)
    this.#settle(origin, undefined)
  }

  /** Of several files for one origin the first in path order counts. */
  #settle(origin: string, changed: string | undefined): void {
    const [first, second] = [...(this.#candidates.get(origin) ?? [])].sort(byPathOrder)
    if (first === undefined) {
      this.#candidates.delete(origin)
      this.#dependencies.delete(origin)
      this.#problems.delete(origin)
      if (this.#served.delete(origin)) this.#options.onGone(origin)
      return
    }
    if (second === undefined) this.#problems.delete(origin)
    else this.#report(origin, `Cannot load zone "${origin}" from "${second}": "${first}" gives it too and comes first`)
    if (!this.#content.has(first)) {
      if (!this.#served.has(origin)) this.#options.onUnreadable(origin, first)
    } else if (changed === first || this.#served.get(origin) !== first) this.#serve(origin, first)
  }

  #serve(origin: string, file = this.#served.get(origin)): void {
    if (file === undefined || this.#options.signal.aborted) return
    this.#served.set(origin, file)
    this.#dependencies.loading(origin)
    this.#options.onZone(origin, file)
  }

  #originOf(path: string): string | undefined {
    const known = this.#origins.get(path)
    if (known !== undefined) return known
    const found = this.#readOrigin(basename(path))
    if (found === undefined || 'origin' in found) return found?.origin
    this.#report(path, `Cannot load "${path}": "${found.invalid}" is not a domain name`)
    return undefined
  }

  #report(subject: string, message: string): void {
    if (this.#problems.get(subject) === message) return
    this.#problems.set(subject, message)
    this.#options.onProblem(message)
  }
}

/** Depth first by name, as a walk meets them: "a/x" before "a-b". */
function byPathOrder(a: string, b: string): number {
  return a.replaceAll('/', '\0') < b.replaceAll('/', '\0') ? -1 : 1
}
