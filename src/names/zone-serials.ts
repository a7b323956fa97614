// The serial of a zone by what its content is made of: the version of its text and those of its parts.

import { type BinaryLike, createHash } from 'node:crypto'
import type { Steps } from '../dns/steps.ts'
import type { ZoneBuilder } from '../zone/build.ts'
import { chosenOf, type Entry, keyOfZone } from './catalog-entry.ts'
import type { ZoneSource } from './offer.ts'
import { nextSerial, type SerialStore } from './serials.ts'
import type { Serials } from './served-zone.ts'

/** Bytes that are hashed in one step. */
const HASHED_BYTES = 1 << 18

/** `fallback` is the serial of a zone without a text, unless that would go backwards. */
export function serialsOf(store: SerialStore, entry: Entry, fallback: number): Serials {
  const { space, origin, served, parts, versions } = entry
  const content = digest([JSON.stringify([chosenOf(entry), ...parts].map((each) => each && versions.get(each)))])
  return (written) => store.serialFor(keyOfZone(space, origin), content, nextSerial(served.serial, written || fallback))
}

/** A file's serial is its author's business, as long as nothing else makes the zone change. */
export function* textSerials(
  store: SerialStore,
  entry: Entry,
  source: ZoneSource,
  version: string | undefined,
  builder: ZoneBuilder,
): Steps<Serials> {
  if (version === undefined && entry.parts.length === 0) return (written) => written
  const content = version ?? (yield* contentVersion(builder))
  return (written) => {
    entry.versions.set(source, content)
    return serialsOf(store, entry, nowSeconds())(written)
  }
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

/** Differs for different records. */
function* contentVersion(builder: ZoneBuilder): Steps<string> {
  const hash = createHash('sha256')
  for (const { buffer } of [builder.nameBytes, builder.rdataBytes, ...builder.recordColumns()])
    for (let at = 0; at < buffer.byteLength; at += HASHED_BYTES) {
      hash.update(new Uint8Array(buffer, at, Math.min(HASHED_BYTES, buffer.byteLength - at)))
      yield
    }
  return hash.digest('base64url').slice(0, 16)
}

function digest(pieces: readonly BinaryLike[]): string {
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(piece)
  return hash.digest('base64url').slice(0, 16)
}
