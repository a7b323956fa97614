// How much room a file system has: read from the system, and in words when it is short of it.

import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DiskSpace } from './target.ts'

const MIB = 2 ** 20
const GIB = 2 ** 30
/** Less than this is full: PostgreSQL cannot begin another segment of its log. */
const FULL_BYTES = 16 * MIB
/** Nearly full: less than this share and less than that many bytes. */
const LOW_SHARE = 0.05
const LOW_BYTES = 10 * GIB

/** The fullest of the file systems that these paths are in; paths that cannot be read are left out. */
export function fullestDisk(paths: readonly string[]): DiskSpace | undefined {
  const disks = paths.flatMap((path) => spaceAt(path) ?? [])
  return disks.toSorted((a, b) => a.freeBytes / a.totalBytes - b.freeBytes / b.totalBytes).at(0)
}

/** Undefined when there is room. */
export function diskProblem(disk: DiskSpace | undefined): string | undefined {
  if (disk === undefined) return undefined
  const { path, freeBytes, totalBytes } = disk
  const left = `${Math.floor(freeBytes / MIB)} of ${Math.floor(totalBytes / MIB)} MiB free`
  if (freeBytes < FULL_BYTES) return `the disk at ${path} is full: ${left}`
  const isLow = freeBytes < totalBytes * LOW_SHARE && freeBytes < LOW_BYTES
  return isLow ? `the disk at ${path} is nearly full: ${left}` : undefined
}

function spaceAt(path: string): DiskSpace | undefined {
  try {
    const { bavail, blocks, bsize } = statfsSync(path)
    if (blocks === 0) return undefined
    return { path: mountPoint(path), freeBytes: bavail * bsize, totalBytes: blocks * bsize }
  } catch {
    return undefined
  }
}

/** The topmost directory of the file system. */
function mountPoint(path: string): string {
  const { dev } = statSync(path)
  let top = path
  for (let above = dirname(top); above !== top && statSync(above).dev === dev; above = dirname(top)) top = above
  return top
}
