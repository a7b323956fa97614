// How many records a zone may have, and how large they may be. A zone that exceeds a limit is refused with the place,
// and the rest is not read.

import { STEP_SIZE, type Steps } from '../steps.ts'
import { ExpectedError, Tokens } from '../tokens.ts'
import { type Generator, parseGenerate } from './generate.ts'
import { Problems, type ZoneFileProblem } from './problem.ts'
import { byteOrderMarkLength } from './window.ts'

/** Records that all $GENERATE of a zone may make together. */
export const MAX_GENERATED = 1_000_000

/** Bytes that all $GENERATE of a zone may make together, as text and as records. */
export const MAX_GENERATED_BYTES = 256 << 20

/** Bytes of names and rdata of a zone in etcd. */
export const MAX_ZONE_BYTES = 256 << 20

/** Bytes of names and rdata of any zone: offsets are signed 32-bit integers. */
export const LARGEST_ZONE_BYTES = 0x7fff_0000

/** Records of a zone in etcd, unless the server is told otherwise. */
export const DEFAULT_MAX_RECORDS = 1_000_000

/** A zone exceeds a limit: reading ends. */
export class LimitExceeded extends ExpectedError {}

export function tooManyRecords(most: number): LimitExceeded {
  return new LimitExceeded(0, `too many records: expected at most ${most} in this zone`)
}

export function tooManyBytes(most: number): LimitExceeded {
  return new LimitExceeded(0, `too much data: expected at most ${most} bytes of names and rdata in this zone`)
}

/** Counts what is generated; throws once that is too much. */
export class GeneratedCount {
  #count = 0
  #textBytes = 0
  #recordBytes = 0

  /** Before anything is made: lines are about as long as the longer of the first and the last one. */
  add({ start, stop, step, line }: Generator): void {
    const lines = Math.floor((stop - start) / step) + 1
    this.#count += lines
    this.#textBytes += lines * Math.max(line(start).length, line(stop).length)
    if (this.#count > MAX_GENERATED) throw tooManyGenerated(`records: expected at most ${MAX_GENERATED}`)
    if (this.#textBytes > MAX_GENERATED_BYTES) throw tooManyGenerated(BYTES_EXPECTED)
  }

  /** A record has been made: short names of a line may be long ones on the wire. */
  addRecord(bytes: number): void {
    this.#recordBytes += bytes
    if (this.#recordBytes > MAX_GENERATED_BYTES) throw tooManyGenerated(BYTES_EXPECTED)
  }
}

const BYTES_EXPECTED = `bytes: expected at most ${MAX_GENERATED_BYTES}`

function tooManyGenerated(what: string): LimitExceeded {
  return new LimitExceeded(1, `too many ${what} from all $GENERATE of a zone together`)
}

/**
 * Whether a text generates too much, without generating anything: so a text of a few lines is refused as quickly as it
 * is read. Undefined when it does not; other problems are left to the reader.
 */
export function* generatedProblem(text: Uint8Array, file: string): Steps<ZoneFileProblem | undefined> {
  if (!hasDirective(text)) return undefined
  const tokens = new Tokens(text)
  const generated = new GeneratedCount()
  const problems = new Problems(1)
  let entries = 0
  for (let at = byteOrderMarkLength(text, text.length); at < text.length; ) {
    at = tokens.readEntry(at, text.length, true)
    if (++entries % STEP_SIZE === 0) yield
    if (tokens.fault !== '' || tokens.count === 0 || tokens.blankStart) continue
    if (tokens.bytes[tokens.starts[0]] !== 0x24 || tokens.text(0).toUpperCase() !== '$GENERATE') continue
    try {
      generated.add(parseGenerate(tokens))
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error
      if (!(error instanceof LimitExceeded)) continue
      problems.addToken('error', file, tokens, error.index, error.message)
      return problems.list[0]
    }
  }
  return undefined
}

/** Cheaper than reading entries, and enough for nearly all texts: whether `$G` or `$g` is anywhere in it. */
function hasDirective(text: Uint8Array): boolean {
  for (let at = text.indexOf(0x24); at >= 0; at = text.indexOf(0x24, at + 1))
    if ((text[at + 1] & 0xdf) === 0x47) return true
  return false
}
