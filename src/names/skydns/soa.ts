// The SOA record of a zone that is made of keys in etcd, which have none of their own: the one CoreDNS would give,
// unless more is known.

import { parseName } from '../../dns/name.ts'
import { TYPE } from '../../dns/types.ts'
import type { SourceRecord } from '../part.ts'

const REFRESH_SECONDS = 7200
const RETRY_SECONDS = 1800
const EXPIRE_SECONDS = 86_400
const MINIMUM_SECONDS = 30

interface SoaOptions {
  /** Absolute name of the first server. */
  readonly server?: string
  /** How long a denial may be remembered. */
  readonly ttlSeconds?: number
}

/** `origin` is absolute text. */
export function soaOf(origin: string, serial: number, options: SoaOptions = {}): SourceRecord {
  const zone = origin === '.' ? '' : origin
  const { server = `ns.dns.${zone}`, ttlSeconds = MINIMUM_SECONDS } = options
  const names = [parseName(server), parseName(`hostmaster.${zone}`)]
  const numbers = new DataView(new ArrayBuffer(20))
  for (const [i, value] of [serial, REFRESH_SECONDS, RETRY_SECONDS, EXPIRE_SECONDS, ttlSeconds].entries())
    numbers.setUint32(4 * i, value)
  const rdata = Uint8Array.of(...names[0], ...names[1], ...new Uint8Array(numbers.buffer))
  return { type: TYPE.SOA, ttl: ttlSeconds, rdata }
}
