// Files below a directory, reached without ever following a symbolic link: a service may write in parts of its machine,
// and what it plants there must not lead us (who may be root) anywhere else. Each directory on the way is opened from
// the one before it and held, through /proc/self/fd, which is what openat(2) does: renaming parts of the path meanwhile
// changes nothing.

import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  type Stats,
} from 'node:fs'
import { posix } from 'node:path'
import { HoldfastError, reasonOf } from '../../../lib/errors.ts'
import { isMissing } from '../state-file.ts'

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
/** A pipe must not keep us waiting. */
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
/** Of directories that nobody asked for by name. */
const BETWEEN_MODE = 0o755
/** Far above what any file of ours has, and what still can be read at once. */
const MOST_BYTES = 256 << 20

export class HeldDirectories {
  readonly #root: string
  readonly #fds = new Map<string, number>()

  /** `root` itself is ours, and so is the way there. */
  constructor(root: string) {
    this.#root = root
    this.#fds.set('/', openSync(root, DIRECTORY))
  }

  /** Undefined when there is no such directory. */
  static open(root: string): HeldDirectories | undefined {
    try {
      return new HeldDirectories(root)
    } catch (error) {
      if (isMissing(error)) return undefined
      throw new HoldfastError('FileUnreadable', `Cannot read "${root}": ${reasonOf(error)}`, { cause: error })
    }
  }

  [Symbol.dispose](): void {
    for (const fd of this.#fds.values()) closeSync(fd)
    this.#fds.clear()
  }

  /** For messages. */
  shown(path: string): string {
    return posix.join(this.#root, path)
  }

  /** The descriptor of a directory; undefined when it is not there. */
  find(path: string): number | undefined {
    return this.#reach(inside(path), false)
  }

  /** Makes it and what is missing on the way. */
  make(path: string): number {
    const fd = this.#reach(inside(path), true)
    if (fd === undefined) throw this.#unsafe(path, 'it vanished while it was made')
    return fd
  }

  /** A path for system calls on an entry that itself must not be followed: rename, unlink, lstat. */
  entry(path: string): string | undefined {
    const at = inside(path)
    const fd = this.find(posix.dirname(at))
    return fd === undefined ? undefined : `/proc/self/fd/${fd}/${posix.basename(at)}`
  }

  /** Undefined when it is not there. */
  readFile(path: string): { readonly text: string; readonly stats: Stats } | undefined {
    const entry = this.entry(path)
    if (entry === undefined) return undefined
    let fd: number
    try {
      fd = openSync(entry, FILE)
    } catch (error) {
      if (isMissing(error)) return undefined
      throw this.#unsafe(path, whatIs(entry) ?? reasonOf(error), 'a regular file')
    }
    try {
      const stats = fstatSync(fd)
      if (!stats.isFile()) throw this.#unsafe(path, whatIs(entry) ?? 'no regular file', 'a regular file')
      if (stats.size > MOST_BYTES) throw this.#unsafe(path, `it has ${stats.size} bytes`, 'a file of Holdfast')
      return { text: readFileSync(fd, 'utf8'), stats }
    } finally {
      closeSync(fd)
    }
  }

  #reach(path: string, make: boolean): number | undefined {
    const held = this.#fds.get(path)
    if (held !== undefined) return held
    const parent = this.#reach(posix.dirname(path), make)
    if (parent === undefined) return undefined
    const entry = `/proc/self/fd/${parent}/${posix.basename(path)}`
    const isNew = make && makeIfMissing(entry)
    try {
      const fd = openSync(entry, DIRECTORY)
      this.#fds.set(path, fd)
      if (isNew) fchmodSync(fd, BETWEEN_MODE)
      return fd
    } catch (error) {
      if (isMissing(error)) return undefined
      throw this.#unsafe(path, whatIs(entry) ?? reasonOf(error), 'a directory')
    }
  }

  #unsafe(path: string, what: string, wanted?: string): HoldfastError {
    const rest = wanted === undefined ? '' : `; expected ${wanted} there`
    return new HoldfastError('MachineTampered', `Cannot use "${this.shown(path)}": ${what}${rest}`, {
      hint: 'Holdfast does not put it there: look who did, then remove it',
    })
  }
}

/** Paths in a machine are absolute; none may lead out of it. */
function inside(path: string): string {
  if (path.startsWith('/') && posix.normalize(path) === path) return path
  throw new Error(`"${path}" is no path in a machine: expected an absolute one without "." and ".."`)
}

function makeIfMissing(entry: string): boolean {
  try {
    mkdirSync(entry, { mode: 0o700 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Only for the message: by now it may be something else. */
function whatIs(entry: string): string | undefined {
  const stats = lstatSync(entry, { throwIfNoEntry: false })
  if (stats?.isSymbolicLink()) return 'it is a symbolic link'
  if (stats?.isDirectory()) return 'it is a directory'
  if (stats?.isFile()) return 'it is a file'
  return stats === undefined ? undefined : 'it is a pipe, a socket or a device'
}
