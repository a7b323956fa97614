// How times and addresses are written, in every file that is ours. Each reader returns undefined for a text that is
// not one; the caller knows the place and says what was wanted.

import { isIP } from 'node:net'

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}
const DURATION = /^(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/u

/** Go's notation (`1h30m`, `500ms`, `0`), in milliseconds. */
export function parseDuration(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined
  let ms = 0
  for (const [, amount, unit] of text.matchAll(/([\d.]+)([^\d.]+)/gu)) ms += Number(amount) * UNIT_MS[unit]
  return ms
}

/** A member of an etcd cluster: `http://HOST:PORT`, `https://HOST:PORT` or `HOST:PORT`. */
export function parseEndpoint(text: string): string | undefined {
  const match = /^((?:https?:\/\/)?(?:\[([^\]]+)\]|[\w.-]+):(\d{1,5}))\/?$/iu.exec(text)
  if (match === null) return undefined
  const [, endpoint, address, port] = match
  const valid = (address === undefined || isIP(address) === 6) && Number(port) > 0 && Number(port) <= 65535
  return valid ? endpoint.toLowerCase() : undefined
}
