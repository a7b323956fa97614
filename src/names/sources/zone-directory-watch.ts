// inotify on a changing set of directories, calmed: a path is reported once nothing has happened to it for a
// moment, so that a file being written is read when it is whole, and a storm of changes is one report.

import { type FSWatcher, statSync, watch } from 'node:fs'
import { basename, join } from 'node:path'
import { messageOf } from '../../lib/errors.ts'

/** Writers pause for less than this between two writes; nobody notices the delay. */
const QUIET_MS = 10
/** A path that never comes to rest is reported all the same. */
const MAX_WAIT_MS = 1000

export interface DirectoryWatchOptions {
  /** Paths that changed and are at rest now; `lost`: a watched directory itself was moved or deleted. */
  readonly onQuiet: (paths: readonly string[], lost: boolean) => void
  /** The first directory that exists, may be read and still cannot be watched. */
  readonly onFailure: (directory: string, reason: string) => void
}

interface Watched {
  readonly identity: string
  readonly watcher: FSWatcher
}

export class DirectoryWatch {
  readonly #options: DirectoryWatchOptions
  readonly #watched = new Map<string, Watched>()
  readonly #restless = new Map<string, { since: number; last: number }>()
  #timer: NodeJS.Timeout | undefined
  #lost = false
  #failed = false

  constructor(options: DirectoryWatchOptions) {
    this.#options = options
  }

  /** Starts to watch, or does so again if another directory has this path now. */
  add(directory: string): void {
    const identity = identityOf(directory)
    const known = this.#watched.get(directory)
    if (identity !== undefined && known?.identity === identity) return
    this.#drop(directory)
    if (identity === undefined) return
    try {
      const watcher = watch(directory)
      watcher.on('change', (kind, name) => this.#heard(directory, kind, String(name)))
      watcher.on('error', (error) => {
        this.#drop(directory)
        this.#fail(directory, error)
      })
      this.#watched.set(directory, { identity, watcher })
    } catch (error) {
      this.#fail(directory, error)
    }
  }

  /** Stops watching everything but these. */
  retain(directories: ReadonlySet<string>): void {
    for (const directory of this.#watched.keys()) if (!directories.has(directory)) this.#drop(directory)
  }

  close(): void {
    this.retain(new Set())
    this.#restless.clear()
    clearTimeout(this.#timer)
  }

  #drop(directory: string): void {
    this.#watched.get(directory)?.watcher.close()
    this.#watched.delete(directory)
  }

  #fail(directory: string, error: unknown): void {
    if (this.#failed || isPassing(error)) return
    this.#failed = true
    this.#options.onFailure(directory, messageOf(error))
  }

  #heard(directory: string, kind: string, name: string): void {
    // inotify names the directory itself when it is moved or deleted. A watch on what is gone hears nothing more.
    if (kind === 'rename' && name === basename(directory)) {
      this.#drop(directory)
      this.#lost = true
    }
    this.note(join(directory, name))
  }

  /** Has the path reported once it is at rest, as if it had just changed. */
  note(path: string): void {
    const now = performance.now()
    const since = this.#restless.get(path)?.since ?? now
    this.#restless.set(path, { since, last: now })
    this.#timer ??= setTimeout(() => this.#settle(), QUIET_MS)
  }

  #settle(): void {
    const now = performance.now()
    const quiet: string[] = []
    for (const [path, { since, last }] of this.#restless) {
      if (now - last < QUIET_MS && now - since < MAX_WAIT_MS) continue
      quiet.push(path)
      this.#restless.delete(path)
    }
    this.#timer = this.#restless.size === 0 ? undefined : setTimeout(() => this.#settle(), QUIET_MS)
    if (quiet.length === 0) return
    const lost = this.#lost
    this.#lost = false
    this.#options.onQuiet(quiet, lost)
  }
}

function identityOf(directory: string): string | undefined {
  try {
    const stats = statSync(directory, { bigint: true })
    return stats.isDirectory() ? `${stats.dev}:${stats.ino}:${stats.birthtimeNs}` : undefined
  } catch {
    return undefined
  }
}

/** The directory is gone or closed: the next look at all directories reports it. */
function isPassing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'EACCES'
}
