// What a path depends on: the path it leads to and every symbolic link on the way, or the first part that does
// not exist. A change of any of these may change what is read there; so does the swap of Kubernetes' ..data link.

import { lstatSync, readlinkSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'

/** As the kernel: a longer way is a loop. */
const MAX_LINKS = 40

export function pathsLeadingTo(path: string): string[] {
  const found: string[] = []
  let parts = resolve(path).split(sep).slice(1)
  let at: string = sep
  while (parts.length > 0) {
    const [part, ...rest] = parts
    const next = join(at, part)
    const target = found.length < MAX_LINKS ? linkTarget(next) : undefined
    if (target !== undefined) {
      found.push(next)
      parts = [...resolve(dirname(next), target).split(sep).slice(1), ...rest].filter((each) => each !== '')
      at = sep
    } else if (kindOf(next) === 'missing') {
      return [...found, next]
    } else {
      at = next
      parts = rest
    }
  }
  return [...found, at]
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

/** What stands at a path, links not followed; `unknown` where the system does not say. */
export function kindOf(path: string): 'file' | 'directory' | 'other' | 'missing' | 'unknown' {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return 'missing'
    if (stats.isFile()) return 'file'
    return stats.isDirectory() ? 'directory' : 'other'
  } catch {
    return 'unknown'
  }
}
