// Whether the NSEC3 records of a zone can be served: by a chain that an NSEC3PARAM names, with cheap hashing.

import { formatName } from '../dns/name.ts'
import { STEP_SIZE, type Steps } from '../dns/steps.ts'
import { TYPE } from '../dns/types.ts'
import { APEX } from './build.ts'
import type { ZoneBuilder } from './build.ts'
import type { Report } from './check.ts'
import { hasKnownHash, isUsable, iterationsOf, MOST_ITERATIONS, nsec3Parameters } from './nsec3-chain.ts'

/** Base32hex of a SHA-1 hash. */
const HASH_CHARACTERS = 32

export function* checkNsec3(zone: ZoneBuilder, error: Report, warning: Report): Steps<void> {
  const parameters = nsec3Parameters(zone)
  const isProved = parameters.some((record) => isUsable(zone.rdata(record)))
  if (!isProved) for (const record of parameters) reportUnusable(zone, record, error)
  if (!zone.recordType.subarray(0, zone.recordCount).includes(TYPE.NSEC3)) return
  const origin = formatName(zone.origin)
  let isReported = isProved || parameters.length > 0 || zone.findRecord(APEX, TYPE.NSEC) >= 0
  const seen = new Uint8Array(zone.nameCount)
  for (let record = 0; record < zone.recordCount; record++) {
    if (record % STEP_SIZE === 0) yield
    const name = zone.recordName[record]
    if (zone.recordType[record] !== TYPE.NSEC3 || seen[name] === 1) continue
    seen[name] = 1
    if (!isReported)
      warning(record, `NSEC3 records, but no NSEC3PARAM with flags 0 at ${origin}; denials are answered without proof`)
    isReported = true
    if (hasKnownHash(zone.rdata(record)) && !isHashedName(zone, name))
      error(
        record,
        `NSEC3 at ${formatName(zone.name(name))}; its owner is a hash of 32 characters directly below ${origin}`,
      )
  }
}

function reportUnusable(zone: ZoneBuilder, record: number, error: Report): void {
  const parameters = zone.rdata(record)
  const iterations = iterationsOf(parameters)
  if (!hasKnownHash(parameters)) error(record, `NSEC3PARAM with hash algorithm ${parameters[0]}; only 1 (SHA-1) exists`)
  if (iterations > MOST_ITERATIONS)
    error(record, `NSEC3PARAM with ${iterations} iterations; validators accept at most ${MOST_ITERATIONS} (RFC 9276)`)
}

function isHashedName(zone: ZoneBuilder, name: number): boolean {
  const wire = zone.name(name)
  if (wire[0] !== HASH_CHARACTERS || wire.length !== 1 + HASH_CHARACTERS + zone.origin.length) return false
  for (let i = 1; i <= HASH_CHARACTERS; i++) {
    const c = wire[i] | 0x20
    if (!((wire[i] >= 0x30 && wire[i] <= 0x39) || (c >= 0x61 && c <= 0x76))) return false
  }
  return true
}
