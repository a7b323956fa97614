// Whether the NSEC3 records of a zone can be served: by the chain that NSEC3PARAM names, with cheap hashing.

import { formatName } from '../dns/name.ts'
import { TYPE } from '../dns/types.ts'
import { APEX } from './build.ts'
import type { ZoneBuilder } from './build.ts'
import type { Report } from './check.ts'

/** Validators treat more as unsigned, or worse (RFC 9276 section 3.2). */
const MOST_ITERATIONS = 150
const SHA1 = 1
/** Base32hex of a SHA-1 hash. */
const HASH_CHARACTERS = 32

export function checkNsec3(zone: ZoneBuilder, error: Report): void {
  const parameters = zone.findRecord(APEX, TYPE.NSEC3PARAM)
  if (parameters >= 0) checkParameters(zone, parameters, error)
  if (!zone.recordType.subarray(0, zone.recordCount).includes(TYPE.NSEC3)) return
  const origin = formatName(zone.origin)
  for (let record = 0; record < zone.recordCount; record++) {
    const name = zone.recordName[record]
    if (zone.recordType[record] !== TYPE.NSEC3 || zone.findRecord(name, TYPE.NSEC3) !== record) continue
    if (parameters < 0) return error(record, `NSEC3 records, but no NSEC3PARAM at ${origin}; they cannot be served`)
    if (!isHashedName(zone, name))
      error(
        record,
        `NSEC3 at ${formatName(zone.name(name))}; its owner is a hash of 32 characters directly below ${origin}`,
      )
  }
}

function checkParameters(zone: ZoneBuilder, parameters: number, error: Report): void {
  const rdata = zone.rdata(parameters)
  const iterations = (rdata[2] << 8) | rdata[3]
  if (rdata[0] !== SHA1) error(parameters, `NSEC3PARAM with hash algorithm ${rdata[0]}; only 1 (SHA-1) exists`)
  if (iterations > MOST_ITERATIONS)
    error(
      parameters,
      `NSEC3PARAM with ${iterations} iterations; validators accept at most ${MOST_ITERATIONS} (RFC 9276)`,
    )
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
