// Images as people read them.

import type { Image } from '../image/image.ts'
import { formatTable } from './table.ts'

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const
const HEADING: readonly string[] = ['NAME', 'HASH', 'SUITE', 'PACKAGES', 'SIZE', 'AGE']
const DAY_MS = 86_400_000

export function formatImages(images: readonly Image[], nowMs: number): string {
  const rows = images.map(({ name, hash, suite, packages, sizeBytes, created }) => [
    name,
    hash,
    suite,
    String(Object.keys(packages).length),
    formatBytes(sizeBytes),
    formatAge(nowMs - Date.parse(created)),
  ])
  return formatTable(HEADING, rows, ['PACKAGES', 'SIZE', 'AGE'])
}

/** `812 MiB`, `1.2 GiB` */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1)
  const amount = bytes / 1024 ** power
  return `${amount < 10 && power > 0 ? amount.toFixed(1) : Math.round(amount)} ${UNITS[power]}`
}

/** `5 min`, `3 h`, `12 d` */
function formatAge(ms: number): string {
  if (ms < 3_600_000) return `${Math.max(0, Math.floor(ms / 60_000))} min`
  return ms < DAY_MS ? `${Math.floor(ms / 3_600_000)} h` : `${Math.floor(ms / DAY_MS)} d`
}
