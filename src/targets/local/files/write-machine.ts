// Puts a machine's directories and files in place. What is as it should be is not touched; a file that differs is made
// aside, with owner and mode, and moved into place as a whole. What the machine had and has no longer is removed.

import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  type Stats,
  unlinkSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { HoldfastError, reasonOf } from '../../../lib/errors.ts'
import { reveal } from '../../../machine/content.ts'
import type { Machine, MachineDirectory, MachineFile } from '../../../machine/machine.ts'
import { type Account, Accounts } from '../accounts.ts'
import { LOG_DIRECTORY, type Layout, rootOf } from '../layout.ts'
import { isMissing, writeWhole } from '../state-file.ts'
import { HeldDirectories } from './held-directories.ts'
import { loadManifest, type Manifest, manifestOf, saveManifest, union } from './manifest.ts'

/** Services of other users pass through it, and cannot look around. */
const PASSAGE_MODE = 0o711
const MODE_BITS = 0o7777
const OTHERS_PASS = 0o001

interface Owned {
  readonly account: Account | undefined
  readonly mode: number
}

export function writeMachine(layout: Layout, machine: Machine, isRoot: boolean): void {
  const owner = ownersOf(machine, isRoot)
  if (isRoot) checkPassage(layout.machines)
  const before = loadManifest(layout, machine.name)
  const after = manifestOf(machine)
  const root = makeRoot(layout, machine.name)
  saveManifest(layout, before === undefined ? after : union(before, after))
  using held = new HeldDirectories(root)
  for (const each of machine.directories) placeDirectory(held, each, owner(each.owner))
  for (const each of machine.files) placeFile(layout, held, each, owner(each.owner))
  if (before === undefined) return
  removeOthers(held, before, after)
  saveManifest(layout, after)
}

/** All of them are looked up before anything is touched. */
function ownersOf(
  { name, directories, files, services }: Machine,
  isRoot: boolean,
): (owner: string) => Account | undefined {
  if (!isRoot) return () => undefined
  const accounts = new Accounts()
  const purpose = `make the machine "${name}"`
  const owners = [...directories, ...files].map(({ owner }) => owner)
  const users = services.map(({ user }) => user)
  if (users.includes('root')) throw new Error(`${name}: services never run as root`)
  const known = new Map([...owners, ...users].map((owner) => [owner, accounts.find(owner, purpose)]))
  return (owner) => known.get(owner)
}

function makeRoot(layout: Layout, machine: string): string {
  const root = rootOf(layout, machine)
  const log = join(root, LOG_DIRECTORY)
  try {
    makePassage(root)
    for (const directory of [log, layout.staging]) {
      mkdirSync(directory, { recursive: true })
      chmodSync(directory, 0o700)
    }
  } catch (error) {
    throw unwritable(root, error)
  }
  return root
}

/** What was there before keeps its mode. */
function makePassage(directory: string): void {
  const first = mkdirSync(directory, { recursive: true })
  if (first === undefined) return
  for (let at = directory; at.length >= first.length; at = dirname(at)) chmodSync(at, PASSAGE_MODE)
}

/** Else every service would fail, each with words of its own. */
function checkPassage(directory: string): void {
  const mode = statSync(directory, { throwIfNoEntry: false })?.mode
  if (mode !== undefined && (mode & OTHERS_PASS) === 0) {
    const is = `its mode is 0${(mode & MODE_BITS).toString(8)}, and their users have to pass`
    throw new HoldfastError(
      'StateUnreachable',
      `Cannot run services below "${directory}": ${is}; expected 0711, or another directory`,
    )
  }
  if (directory !== '/') checkPassage(dirname(directory))
}

function placeDirectory(held: HeldDirectories, { path, mode }: MachineDirectory, account: Account | undefined): void {
  try {
    own(held.make(path), { account, mode })
  } catch (error) {
    throw unwritable(held.shown(path), error)
  }
}

function placeFile(layout: Layout, held: HeldDirectories, file: MachineFile, account: Account | undefined): void {
  const { path, mode, content, isInitial = false } = file
  const wanted = { account, mode }
  const existing = held.readFile(path)
  const text = isInitial && existing !== undefined ? existing.text : reveal(content)
  if (existing !== undefined && existing.text === text && isAsWanted(existing.stats, wanted)) return
  const temporary = join(layout.staging, randomBytes(6).toString('hex'))
  try {
    held.make(parentOf(path))
    const fd = openSync(temporary, 'wx', 0o600)
    try {
      writeWhole(fd, Buffer.from(text))
      own(fd, wanted)
      // What is empty after a power cut would be left alone for ever, if only the first start reads it.
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    const entry = held.entry(path)
    if (entry === undefined) throw new Error('its directory vanished')
    renameSync(temporary, entry)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw unwritable(held.shown(path), error)
  }
}

function removeOthers(held: HeldDirectories, before: Manifest, after: Manifest): void {
  const gone = (old: readonly { readonly path: string }[], now: readonly { readonly path: string }[]) =>
    old.filter(({ path }) => !now.some((each) => each.path === path)).map(({ path }) => path)
  for (const path of gone(before.files, after.files)) removeEntry(held, path, unlinkSync)
  // Only when nothing is left in them: a service may have put things there.
  for (const path of gone(before.directories, after.directories).toReversed()) removeEntry(held, path, rmdirSync)
}

function removeEntry(held: HeldDirectories, path: string, remove: (entry: string) => void): void {
  const entry = held.entry(path)
  if (entry === undefined) return
  try {
    remove(entry)
  } catch (error) {
    if (!isMissing(error) && (error as NodeJS.ErrnoException).code !== 'ENOTEMPTY')
      throw unwritable(held.shown(path), error)
  }
}

function own(fd: number, wanted: Owned): void {
  const stats = fstatSync(fd)
  if (isAsWanted(stats, wanted)) return
  if (wanted.account !== undefined) fchownSync(fd, wanted.account.uid, wanted.account.gid)
  fchmodSync(fd, wanted.mode)
}

function isAsWanted(stats: Stats, { account, mode }: Owned): boolean {
  const isOwned = account === undefined || (stats.uid === account.uid && stats.gid === account.gid)
  return isOwned && (stats.mode & MODE_BITS) === mode
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')))
}

function unwritable(path: string, error: unknown): HoldfastError {
  if (error instanceof HoldfastError) return error
  return new HoldfastError('FileUnwritable', `Cannot write "${path}": ${reasonOf(error)}`, { cause: error })
}
