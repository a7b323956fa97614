// The kinds of values that only names.yaml has, beside those of every file.

import { z } from 'zod'
import { flag, list, written } from '../../document/values.ts'
import { parseDomain, parseHttpAddress, parseListen, parseZones } from '../notation.ts'

/** Zone files may have any byte in a name. Here, another one than these is a slip. */
const VISIBLE = /^[!-~]+$/u

export const listenAddress = written(
  parseListen,
  'ADDRESS:PORT',
  'an address',
  'ADDRESS:PORT, such as 127.0.0.1:53, "[::1]:53" or :53',
)
export const httpAddress = written(parseHttpAddress, 'ADDRESS:PORT', 'an address', 'ADDRESS:PORT or :PORT')
export const domain = written(
  (text) => (VISIBLE.test(text) && !/[/:]/u.test(text) ? parseDomain(text) : undefined),
  'domain name',
  'a domain name',
  'a name such as example.org',
)
export const zone = written(
  (text) => (VISIBLE.test(text) ? parseZones(text) : undefined),
  'zone',
  'a zone',
  'a name such as example.org, or a network such as 10.0.0.0/8',
)

export const zones = list(zone, 'a list of zones, such as [example.org]').transform((found) => [
  ...new Set(found.flat()),
])

/** `true` for every name, or the zones below which names fall through. */
export const fallthrough = z
  .union([flag, zones], { error: 'true, false or a list of zones' })
  .transform((value): readonly string[] => (value === true ? ['.'] : value === false ? [] : value))
