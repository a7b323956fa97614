// A TTL as people annotate it: seconds, or a duration as Go writes it (`1h30m`, `20.5s`), of which the fraction of a
// second is dropped.

export const MAX_TTL = 2 ** 31 - 1
const UNIT_NANOSECONDS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
}
const DURATION = /^\+?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/u
const DURATION_PARTS = /([\d.]+)(\D+?)(?=[\d.]|$)/gu

/** Undefined for what is no TTL between 1 second and 2³¹-1. */
export function parseTtl(text: string): number | undefined {
  const seconds = /^\+?\d+$/u.test(text) ? Number(text) : parseDuration(text)
  return seconds !== undefined && seconds >= 1 && seconds <= MAX_TTL ? seconds : undefined
}

function parseDuration(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined
  let nanoseconds = 0
  for (const [, amount, unit] of text.matchAll(DURATION_PARTS)) nanoseconds += Number(amount) * UNIT_NANOSECONDS[unit]
  // Rounded, because 0.1 has no exact binary form.
  return Math.trunc(Math.round(nanoseconds) / 1e9)
}
