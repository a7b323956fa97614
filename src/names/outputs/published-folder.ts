// A directory kept equal to a set of named values. A file is replaced as a whole: written beside its place under a
// hidden name, flushed to disk, then renamed, so that no reader and no crash ever meets half of one. The hidden name
// begins with a dot and is therefore no domain name: even a server told that every file is a zone refuses it.

import { randomBytes } from 'node:crypto'
import { accessSync, constants, type Stats } from 'node:fs'
import { chmod, lstat, mkdir, open, readdir, readFile, rename, unlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { HoldfastError, reasonOf } from '../../lib/errors.ts'

const TEMPORARY = /^\.holdfast-[0-9a-f]+\.tmp$/u
const OWED = '.holdfast-owed'
const LONGEST_FILE_NAME = 255
const PERMISSION_BITS = 0o777
/** Of a write that others take for something left behind; there are directories in which no file can be made. */
const MOST_TRIES = 1000

export interface FolderOptions {
  readonly directory: string
  readonly fileMode: number
  readonly directoryMode: number
  /** Slashes in names make folders. */
  readonly nested: boolean
  /** Whether somebody is to be told of changes. */
  readonly notifies: boolean
}

export class PublishedFolder {
  readonly #options: FolderOptions
  /** Folders in which names came or went since the last flush. */
  readonly #touched = new Set<string>()
  /** Changes that nobody was told of yet; set while they are being remembered on disk, too. */
  #owed: Promise<void> | undefined

  constructor(options: FolderOptions) {
    this.#options = { ...options, directory: resolve(options.directory) }
  }

  /** Makes the directory, removes what an interrupted write has left behind, and returns the names of all files. */
  async open(): Promise<string[]> {
    const { directory, nested } = this.#options
    try {
      await this.#makeDirectory(directory)
      accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK)
      const entries = await readdir(directory, { withFileTypes: true, recursive: nested })
      const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
      const leftOver = files.filter((path) => TEMPORARY.test(basename(path)))
      await Promise.all(leftOver.map(unlinkIfThere))
      if (files.includes(join(directory, OWED))) this.#owed = Promise.resolve()
      const names = files.filter((path) => !leftOver.includes(path)).map((path) => relative(directory, path))
      return names.filter((name) => this.nameProblem(name) === undefined)
    } catch (error) {
      throw new HoldfastError('FileUnwritable', `Cannot write into "${directory}": ${reasonOf(error)}`, {
        cause: error,
      })
    }
  }

  /** Why a name cannot be that of a file here, or undefined. */
  nameProblem(name: string): string | undefined {
    const parts = this.#options.nested ? name.split('/') : [name]
    for (const part of parts) {
      if (part === '') return 'a part of it is empty'
      if (part === '.' || part === '..') return `"${part}" leads elsewhere`
      if (part.includes('/')) return 'it has a slash'
      if (part.includes('\0')) return 'it has a NUL byte'
      if (part.includes('\ufffd')) return 'it is not UTF-8'
      if (part.startsWith('.holdfast-')) return 'names that begin with .holdfast- are taken'
      if (Buffer.byteLength(part) > LONGEST_FILE_NAME) return `it is longer than ${LONGEST_FILE_NAME} bytes`
    }
    return undefined
  }

  /** False when the file has this content already: then it is left alone, time stamps and all. */
  async write(name: string, content: Uint8Array): Promise<boolean> {
    const path = join(this.#options.directory, name)
    if (await this.#holds(path, content)) return false
    await this.#owe()
    await this.#makeDirectory(dirname(path))
    await this.#replace(path, content)
    this.#touched.add(dirname(path))
    return true
  }

  /** Undefined when there is no such file. */
  async read(name: string): Promise<Uint8Array | undefined> {
    try {
      return await readFile(join(this.#options.directory, name))
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    }
  }

  /** False when there was no such file. */
  async remove(name: string): Promise<boolean> {
    const path = join(this.#options.directory, name)
    if ((await statIfThere(path)) === undefined) return false
    await this.#owe()
    await unlinkIfThere(path)
    this.#touched.add(dirname(path))
    return true
  }

  /** Makes sure that what was renamed and removed stays so through a power cut. */
  async flush(): Promise<void> {
    const touched = [...this.#touched]
    this.#touched.clear()
    for (const path of touched) {
      await using directory = await open(path)
      await directory.sync()
    }
  }

  /** Whether somebody has yet to be told of changes, of this process or of one that did not live to do it. */
  get owesNotification(): boolean {
    return this.#owed !== undefined
  }

  async settleNotification(): Promise<void> {
    this.#owed = undefined
    await unlinkIfThere(join(this.#options.directory, OWED))
  }

  /** Before the first change, so that a notification cannot be forgotten. */
  async #owe(): Promise<void> {
    if (!this.#options.notifies) return
    this.#owed ??= writeFile(join(this.#options.directory, OWED), '')
    try {
      await this.#owed
    } catch (error) {
      this.#owed = undefined
      throw error
    }
  }

  async #holds(path: string, content: Uint8Array): Promise<boolean> {
    const stats = await statIfThere(path)
    if (stats?.isFile() !== true || stats.size !== content.length) return false
    if (!(await readFile(path)).equals(content)) return false
    const { fileMode } = this.#options
    if ((stats.mode & PERMISSION_BITS) !== fileMode) await chmod(path, fileMode)
    return true
  }

  async #replace(path: string, content: Uint8Array): Promise<void> {
    for (let tries = 1; ; tries++) {
      const temporary = join(dirname(path), `.holdfast-${randomBytes(8).toString('hex')}.tmp`)
      try {
        const file = await open(temporary, 'wx', 0o600)
        try {
          await file.writeFile(content)
          await file.chmod(this.#options.fileMode)
          await file.sync()
        } finally {
          await file.close()
        }
        await rename(temporary, path)
        return
      } catch (error) {
        const removed = await unlinkIfThere(temporary).catch(() => true)
        // Another publisher, which has just started, took it for something left behind: write it again.
        const isTaken = codeOf(error) === 'ENOENT' && !removed && (await statIfThere(dirname(path))) !== undefined
        if (isTaken && tries < MOST_TRIES) continue
        throw error
      }
    }
  }

  /** With the mode asked for, whatever the umask is; directories that are there already stay as they are. */
  async #makeDirectory(path: string): Promise<void> {
    const first = await mkdir(path, { recursive: true })
    if (first === undefined) return
    for (let made = path; ; made = dirname(made)) {
      await chmod(made, this.#options.directoryMode)
      if (made === first) return
    }
  }
}

async function unlinkIfThere(path: string): Promise<boolean> {
  try {
    await unlink(path)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

async function statIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
