// A directory of small secret files, read at once and kept in memory: nobody but its owner may look into it (0700, files
// 0600), and files are replaced as a whole. Nothing is written, nor the directory made, before the first write.

import { readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdir, rm } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { flushDirectory, isLeftover, replaceFile } from '../lib/atomic-file.ts'
import { HoldfastError, reasonOf } from '../lib/errors.ts'

export class SecretFiles {
  readonly #directory: string
  readonly #texts: Map<string, string>
  readonly #leftovers: readonly string[]
  /** Directories in which names came or went since the last flush. */
  readonly #touched = new Set<string>()

  /** The directory need not exist. */
  static read(path: string): SecretFiles {
    const directory = resolve(path)
    const paths = filesBelow(directory)
    const [leftovers, files] = [true, false].map((is) => paths.filter((file) => isLeftover(basename(file)) === is))
    const texts = new Map(files.map((file) => [relative(directory, file), readText(file)]))
    return new SecretFiles(directory, texts, leftovers)
  }

  private constructor(directory: string, texts: Map<string, string>, leftovers: readonly string[]) {
    this.#directory = directory
    this.#texts = texts
    this.#leftovers = leftovers
  }

  /** `ca.pem`, `etcd-1/server.key`. */
  get names(): readonly string[] {
    return [...this.#texts.keys()]
  }

  get(name: string): string | undefined {
    return this.#texts.get(name)
  }

  path(name: string): string {
    return join(this.#directory, name)
  }

  async write(name: string, text: string): Promise<void> {
    const path = this.path(name)
    await this.#change(path, async () => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await replaceFile(path, text, 0o600)
    })
    this.#texts.set(name, text)
  }

  async remove(name: string): Promise<void> {
    if (!this.#texts.has(name)) return
    await this.#change(this.path(name), () => rm(this.path(name), { force: true }))
    this.#texts.delete(name)
  }

  /** Makes the directory, and removes what interrupted writes left behind. */
  async prepare(): Promise<void> {
    await attempt(this.#directory, async () => {
      await mkdir(dirname(this.#directory), { recursive: true })
      await mkdir(this.#directory, { recursive: true, mode: 0o700 })
      await chmod(this.#directory, 0o700)
      for (const path of this.#leftovers) await rm(path, { force: true })
    })
  }

  /** From here on a power cut undoes nothing of what was written and removed. */
  async flush(): Promise<void> {
    const touched = [...this.#touched]
    this.#touched.clear()
    for (const path of touched) await attempt(path, () => flushDirectory(path))
  }

  async #change(path: string, act: () => Promise<void>): Promise<void> {
    await attempt(path, act)
    for (let at = dirname(path); at.length >= this.#directory.length; at = dirname(at)) this.#touched.add(at)
  }
}

function filesBelow(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true, recursive: true })
    return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw unreadable(directory, error)
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw unreadable(path, error)
  }
}

function unreadable(path: string, error: unknown): HoldfastError {
  const hint = 'These are the secrets of a stack: run the command as the user who made it'
  return new HoldfastError('FileUnreadable', `Cannot read "${path}": ${reasonOf(error)}`, { hint, cause: error })
}

async function attempt(path: string, act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    throw new HoldfastError('FileUnwritable', `Cannot write "${path}": ${reasonOf(error)}`, { cause: error })
  }
}
