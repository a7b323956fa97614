// One walk through a zone directory, in the order of CoreDNS's: names sorted, depth first. Links are followed,
// each real directory is entered once. Hidden directories are left out: version control keeps its files there,
// and Kubernetes the files that the visible links lead to.

import { type Dirent, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../lib/errors.ts'
import { kindOf } from './zone-directory-links.ts'

export interface Scan {
  /** Everything that is not a directory, in path order. */
  readonly files: readonly string[]
  readonly directories: ReadonlySet<string>
  /** Those of both that are symbolic links. */
  readonly links: readonly string[]
  readonly unreadable: readonly { readonly directory: string; readonly reason: string }[]
}

/** `onDirectory` is told of each directory before it is read, so that watching leaves no gap. */
export function scanDirectory(root: string, onDirectory: (directory: string) => void): Scan {
  const files: string[] = []
  const directories = new Set<string>()
  const links: string[] = []
  const unreadable: { directory: string; reason: string }[] = []
  const entered = new Set<string>()

  function enter(directory: string): void {
    onDirectory(directory)
    let entries: Dirent[]
    try {
      const { dev, ino } = statSync(directory, { bigint: true })
      if (entered.has(`${dev}:${ino}`)) return
      entered.add(`${dev}:${ino}`)
      entries = readdirSync(directory, { withFileTypes: true })
    } catch (error) {
      // Below the root this one may just have been deleted, after its name was read.
      if (directory === root || kindOf(directory) !== 'missing')
        unreadable.push({ directory, reason: messageOf(error) })
      return
    }
    directories.add(directory)
    entries.sort((a, b) => (a.name < b.name ? -1 : 1))
    for (const entry of entries) {
      const path = join(directory, entry.name)
      const link = entry.isSymbolicLink()
      const isDirectory = link ? leadsToDirectory(path) : entry.isDirectory()
      if (isDirectory && entry.name.startsWith('.')) continue
      if (link) links.push(path)
      if (isDirectory) enter(path)
      else files.push(path)
    }
  }

  enter(root)
  return { files, directories, links, unreadable }
}

/** False also for a link into nothing: it is then a file that cannot be read. */
function leadsToDirectory(link: string): boolean {
  try {
    return statSync(link, { throwIfNoEntry: false })?.isDirectory() ?? false
  } catch {
    return false
  }
}
