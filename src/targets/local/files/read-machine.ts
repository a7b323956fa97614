// Reads a machine back from disk: of what it was made with, what is there now.

import { fstatSync } from 'node:fs'
import type { ExistingFile, ExistingMachine } from '../../target.ts'
import type { Accounts } from '../accounts.ts'
import { type Layout, rootOf } from '../layout.ts'
import { HeldDirectories } from './held-directories.ts'
import type { Manifest } from './manifest.ts'

const MODE_BITS = 0o7777

export type ExistingParts = Pick<ExistingMachine, 'files' | 'directories'>

/** `accounts` only where owners are real; else they are reported as they were asked for. */
export function readMachine(layout: Layout, manifest: Manifest, accounts: Accounts | undefined): ExistingParts {
  const files = new Map<string, ExistingFile>()
  const directories = new Map<string, { owner: string; mode: number; isData: boolean }>()
  using held = HeldDirectories.open(rootOf(layout, manifest.machine))
  if (held === undefined) return { files, directories }
  for (const { path, owner } of manifest.files) {
    const file = held.readFile(path)
    if (file === undefined) continue
    const { text, stats } = file
    files.set(path, { text, owner: accounts?.nameOf(stats.uid) ?? owner, mode: stats.mode & MODE_BITS })
  }
  for (const { path, owner, isData } of manifest.directories) {
    const fd = held.find(path)
    if (fd === undefined) continue
    const stats = fstatSync(fd)
    directories.set(path, { owner: accounts?.nameOf(stats.uid) ?? owner, mode: stats.mode & MODE_BITS, isData })
  }
  return { files, directories }
}
