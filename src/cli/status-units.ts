// Times and sizes of a status in their largest fitting unit: hours until next year are not counted.

export const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const TIMES: readonly (readonly [string, number])[] = [
  ['years', 365.25 * DAY_MS],
  ['months', 30.44 * DAY_MS],
  ['days', DAY_MS],
  ['hours', HOUR_MS],
]
const SIZES = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** `in 11 months`, `expired 3 days ago` */
export function formatExpiry(leftMs: number): string {
  const ms = Math.abs(leftMs)
  // At least two of a unit: 40 days are more than a month.
  const [unit, size] = TIMES.find(([, each]) => ms >= 2 * each) ?? ['min', 60_000]
  const time = `${Math.floor(ms / size)} ${unit}`
  return leftMs > 0 ? `in ${time}` : `expired ${time} ago`
}

const AGES: readonly (readonly [string, number])[] = [
  ['d', DAY_MS],
  ['h', HOUR_MS],
  ['min', 60_000],
]

/** `40 s`, `2 min`, `26 h`: how long ago, in the largest unit of which there are at least two. */
export function formatAge(time: string, nowMs: number): string {
  const ms = Math.max(0, nowMs - Date.parse(time))
  const [unit, size] = AGES.find(([, each]) => ms >= 2 * each) ?? ['s', 1000]
  return `${Math.floor(ms / size)} ${unit}`
}

/** As PostgreSQL has them: 1 kB is 1024 bytes. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(SIZES.length - 1, Math.floor(Math.log2(bytes) / 10))
  const number = bytes / 1024 ** power
  return `${power === 0 || number >= 10 ? Math.round(number) : number.toFixed(1)} ${SIZES[power]}`
}
