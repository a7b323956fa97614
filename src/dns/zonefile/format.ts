// Records as text: one line each, absolute names, every field written out (what `named-compilezone -s full` means
// by its columns), and the way back for a single record.

import { formatName } from '../name.ts'
import { formatRdata } from '../rdata/rdata.ts'
import { typeName } from '../types.ts'
import { type ByteSource, parseZoneFile } from './parse.ts'
import { formatProblem } from './problem.ts'

export interface ZoneRecord {
  readonly owner: Uint8Array
  readonly ttl: number
  readonly type: number
  readonly rdata: Uint8Array
}

/** `owner TTL IN type rdata`, separated by single blanks. */
export function formatRecord(owner: Uint8Array, ttl: number, type: number, rdata: Uint8Array): string {
  return `${formatName(owner)} ${ttl} IN ${typeName(type)} ${formatRdata(type, rdata)}`
}

/** Reads one record, whose names may be relative to `origin`; throws an Error that says what is wrong. */
export function parseRecord(text: string, origin: Uint8Array): ZoneRecord {
  const records: ZoneRecord[] = []
  const problems = parseZoneFile(
    textSource(text),
    { file: 'record', origin },
    {
      record(owner, ownerLength, type, _klass, ttl, rdata, rdataLength) {
        records.push({ owner: owner.slice(0, ownerLength), ttl, type, rdata: rdata.slice(0, rdataLength) })
      },
    },
  )
  const error = problems.find((problem) => problem.severity === 'error')
  if (error !== undefined) throw new Error(formatProblem(error))
  if (records.length !== 1) throw new Error(`expected one record, found ${records.length}`)
  return records[0]
}

/** A source for text that is already in memory. */
export function textSource(text: string | Uint8Array, file?: string): ByteSource {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  let from = 0
  return {
    ...(file === undefined ? {} : { file }),
    read(into, at) {
      const chunk = bytes.subarray(from, from + into.length - at)
      into.set(chunk, at)
      from += chunk.length
      return chunk.length
    },
  }
}
