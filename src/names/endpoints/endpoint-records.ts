// Endpoints as records to be served: targets are text, as in a zone file, but for TXT without the need for quotes.

import { NameError, parseName, ROOT } from '../../dns/name.ts'
import { readIpv4, readIpv6 } from '../../dns/rdata/fields/address.ts'
import { newRdataBuffer, parseRdata } from '../../dns/rdata/rdata.ts'
import { ExpectedError, Tokens } from '../../dns/tokens.ts'
import { TYPE, typeNumber } from '../../dns/types.ts'
import type { SourceRecord } from '../part.ts'
import type { Endpoint } from './endpoint.ts'

const LONGEST_STRING = 255

/** Throws NameError or ExpectedError for a target that its type cannot have. */
export function endpointRecords(endpoint: Endpoint, ttlSeconds: number): SourceRecord[] {
  const { recordType, targets, recordTTL = 0 } = endpoint
  const type = typeNumber(recordType)
  if (type === undefined) throw new ExpectedError(0, `no record type "${recordType}"`)
  const ttl = recordTTL > 0 ? recordTTL : ttlSeconds
  return targets.map((target) => ({ type, ttl, rdata: rdataOf(type, target) }))
}

/** Undefined for a name that no record can have. */
export function ownerOf(name: string): Uint8Array | undefined {
  try {
    return parseName(name, ROOT)
  } catch (error) {
    if (error instanceof NameError) return undefined
    throw error
  }
}

function rdataOf(type: number, target: string): Uint8Array {
  if (type === TYPE.TXT && !/^".*"$/su.test(target)) return textStrings(target)
  const text = Buffer.from(target)
  if (type === TYPE.A || type === TYPE.AAAA) return addressOf(type, text)
  const tokens = new Tokens(text)
  tokens.origin = ROOT
  const end = tokens.readEntry(0, text.length, true)
  if (tokens.fault !== '' || end < text.length) throw new ExpectedError(0, `"${target}" is not one record`)
  const out = newRdataBuffer()
  parseRdata(type, tokens, out)
  return out.bytes.slice(0, out.length)
}

/** Nearly all targets are addresses, and need no more than this. */
function addressOf(type: number, text: Uint8Array): Uint8Array {
  const rdata = new Uint8Array(type === TYPE.A ? 4 : 16)
  const read = type === TYPE.A ? readIpv4 : readIpv6
  if (read(text, 0, text.length, rdata, 0)) return rdata
  throw new ExpectedError(0, `"${Buffer.from(text).toString()}" is no address that a record of its type can have`)
}

function textStrings(text: string): Uint8Array {
  const bytes = Buffer.from(text)
  const strings: Buffer[] = []
  for (let at = 0; at === 0 || at < bytes.length; at += LONGEST_STRING) {
    const part = bytes.subarray(at, at + LONGEST_STRING)
    strings.push(Buffer.of(part.length), part)
  }
  return Buffer.concat(strings)
}
