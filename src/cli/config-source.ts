// A configuration file together with everything it imports: read as one, hashed as one, and followed as one, so that a
// change in an imported file, or a new file that a pattern matches, counts like a change in the file itself.

import { createHash } from 'node:crypto'
import { globSync, readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { getSystemErrorMessage } from 'node:util'
import { HoldfastError, messageOf } from '../lib/errors.ts'
import { pathsLeadingTo } from '../names/sources/zone-directory-links.ts'
import { DirectoryWatch } from '../names/sources/zone-directory-watch.ts'

/** Editors write a file in several steps. */
const SETTLE_MS = 50
const SHORTEST_INTERVAL_MS = 1000
const MOST_BYTES = 16 << 20

export class ConfigSource {
  readonly file: string
  /** What was read the last time, by path; undefined for what could not be. */
  #texts = new Map<string, string | undefined>()
  #patterns = new Map<string, readonly string[]>()
  #secrets = new Set<string>()

  constructor(file: string) {
    this.file = file
  }

  /** The text of the file itself, from which everything starts anew. Throws when it cannot be read. */
  readMain(): string {
    const text = readText(this.file)
    this.#texts = new Map([[this.file, text]])
    this.#patterns = new Map()
    this.#secrets = new Set()
    return text
  }

  readImport(path: string): string {
    this.#texts.set(path, undefined)
    const text = readText(path)
    this.#texts.set(path, text)
    return text
  }

  /** Followed like the rest, but no part of the hash: that is shown to everybody, and a weak password could be guessed from it. */
  readSecret(path: string): string {
    this.#secrets.add(path)
    return this.readImport(path)
  }

  glob(pattern: string): readonly string[] {
    const paths = globSync(pattern).toSorted()
    this.#patterns.set(pattern, paths)
    return paths
  }

  /** SHA-512 over everything read but secrets; of the file's text alone where it imports nothing. */
  hash(): string {
    const hash = createHash('sha512')
    for (const [path, text = ''] of this.#texts)
      if (!this.#secrets.has(path)) hash.update(path === this.file ? text : `\0${path}\0${text}`)
    return hash.digest('hex')
  }

  /** Whether reading it again would give something else. What is missing just now may be on its way. */
  changed(): boolean {
    for (const [path, before] of this.#texts) {
      const now = textOf(path)
      if (now !== undefined && now !== before) return true
    }
    for (const [pattern, before] of this.#patterns)
      if (globSync(pattern).toSorted().join('\0') !== before.join('\0')) return true
    return false
  }

  /** Paths whose change matters, and directories in which any change does. */
  places(): { readonly paths: ReadonlySet<string>; readonly directories: ReadonlySet<string> } {
    return {
      paths: new Set([...this.#texts.keys()].flatMap(pathsLeadingTo)),
      directories: new Set(Array.from(this.#patterns.keys(), withoutPattern)),
    }
  }
}

export interface ConfigWatchOptions {
  /** The safety net under inotify. */
  readonly intervalMs: number
  /** Reads the source again. Resolves when that is done, well or not. */
  readonly reload: () => Promise<void>
  readonly onProblem: (message: string) => void
}

export class ConfigWatch {
  readonly #source: ConfigSource
  readonly #options: ConfigWatchOptions
  readonly #watch: DirectoryWatch
  readonly #interval: NodeJS.Timeout
  #settling: NodeJS.Timeout | undefined
  #reloading = false
  #closed = false

  constructor(source: ConfigSource, options: ConfigWatchOptions) {
    const intervalMs = Math.max(SHORTEST_INTERVAL_MS, options.intervalMs)
    this.#source = source
    this.#options = options
    this.#watch = new DirectoryWatch({
      onQuiet: (paths, lost) => this.#heard(paths, lost),
      onFailure: (directory, reason) =>
        options.onProblem(
          `Cannot watch "${directory}": ${reason}; changes of the configuration are found every ${intervalMs / 1000} s instead of at once`,
        ),
    })
    this.#interval = setInterval(() => void this.#look(), intervalMs)
    void this.#look() // it may have changed while zones were loaded
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#settling)
    clearInterval(this.#interval)
    this.#watch.close()
  }

  #heard(changed: readonly string[], lost: boolean): void {
    const { paths, directories } = this.#source.places()
    if (!lost && !changed.some((path) => paths.has(path) || directories.has(dirname(path)))) return
    this.#lookSoon()
  }

  #lookSoon(): void {
    clearTimeout(this.#settling)
    this.#settling = setTimeout(() => void this.#look(), SETTLE_MS)
  }

  async #look(): Promise<void> {
    this.#rewatch()
    if (this.#reloading || !this.#source.changed()) return
    this.#reloading = true
    await this.#options.reload()
    this.#reloading = false
    if (!this.#closed) this.#lookSoon()
  }

  /** Imports may be others than before, and links lead elsewhere. */
  #rewatch(): void {
    const { paths, directories } = this.#source.places()
    const wanted = new Set([...Array.from(paths, (path) => dirname(path)), ...directories])
    this.#watch.retain(wanted)
    for (const directory of wanted) this.#watch.add(directory)
  }
}

function readText(file: string): string {
  try {
    const stats = statSync(file)
    if (!stats.isFile() || stats.size > MOST_BYTES) throw new Error(`not a text file of at most ${MOST_BYTES} bytes`)
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
    if (text.includes('\0')) throw new Error('not a text file: it has NUL bytes')
    return text
  } catch (thrown) {
    throw new HoldfastError('FileUnreadable', `Cannot read "${file}": ${reasonOf(thrown)}`, { cause: thrown })
  }
}

function reasonOf(thrown: unknown): string {
  const { errno } = thrown as NodeJS.ErrnoException
  return errno === undefined ? messageOf(thrown) : getSystemErrorMessage(errno)
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

/** The directory in which a pattern starts to match. */
function withoutPattern(pattern: string): string {
  return dirname(resolve(pattern.slice(0, pattern.search(/[*?[{]/u)) + '_'))
}
