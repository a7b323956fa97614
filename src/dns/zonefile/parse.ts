// Reads a zone file (RFC 1035 5) record by record into a sink. Nothing is kept but what the format itself
// remembers from one entry to the next: origin, owner, TTLs. An entry with an error is reported and skipped; the
// caller decides what a file with errors is worth.

import { encodeNameText, formatName, isSubdomain, nameProblem } from '../name.ts'
import type { RdataBuffer } from '../rdata/field.ts'
import { newRdataBuffer, parseRdata } from '../rdata/rdata.ts'
import { readPeriod } from '../rdata/fields/number.ts'
import { readU32 } from '../rdata/field.ts'
import { ExpectedError, Tokens } from '../tokens.ts'
import { finish, Pace, type Steps } from '../steps.ts'
import { CLASS, className, classNumber, TYPE, typeFromBytes } from '../types.ts'
import { parseGenerate } from './generate.ts'
import { GeneratedCount, LimitExceeded, tooManyRecords } from './limits.ts'
import { Problems, shorten, type ZoneFileProblem } from './problem.ts'
import { type ByteSource, Window } from './window.ts'

export { formatProblem, type ZoneFileProblem } from './problem.ts'
export type { ByteSource } from './window.ts'

export interface RecordSink {
  /** The records that follow are from this file: the zone file itself, an included one, and the including one again. */
  file?(name: string): void
  /** Views are only valid during the call. The owner is uncompressed wire in its original case. */
  record(
    owner: Uint8Array,
    ownerLength: number,
    type: number,
    klass: number,
    ttl: number,
    rdata: Uint8Array,
    rdataLength: number,
    line: number,
  ): void
}

export interface ParseOptions {
  /** What to call the file in problems. */
  readonly file: string
  /** The zone's name: the first origin, and what every owner must be at or below. */
  readonly origin: Uint8Array
  /** Opens the file `path` named by an $INCLUDE in `from`; without it $INCLUDE is refused. */
  readonly openInclude?: (path: string, from: string) => ByteSource
  /** Parsing stops after so many errors; as many warnings are kept. MAX_PROBLEMS unless given. */
  readonly maxProblems?: number
  /** Records that the zone may have, included files counted; no limit unless given. Reading stops at the next one. */
  readonly maxRecords?: number
  /** Memory for one record at a time, which readers may share; the reader makes its own unless given. */
  readonly rdata?: RdataBuffer
}

export const MAX_PROBLEMS = 20
const MAX_INCLUDE_DEPTH = 10
const MAX_TTL = 0x7fffffff
/** Before there was a TTL. */
export const UNKNOWN_TTL = -1
/** The length of an owner that was refused (and reported once). */
const REFUSED = -1

/** What the format remembers from one entry to the next. */
export interface ReaderState {
  readonly origin: Uint8Array
  /** The current owner; empty when there is none yet. */
  readonly owner: Uint8Array
  /** $TTL, and the last TTL written in a record; UNKNOWN_TTL before there was one. */
  readonly defaultTtl: number
  readonly lastTtl: number
  readonly warnedOfLastTtl: boolean
}

/** Never throws on bad input; what the sink throws passes through. */
export function parseZoneFile(source: ByteSource, options: ParseOptions, sink: RecordSink): ZoneFileProblem[] {
  return finish(parseZoneFileSteps(source, options, sink))
}

/** The same in steps. */
export function* parseZoneFileSteps(
  source: ByteSource,
  options: ParseOptions,
  sink: RecordSink,
): Steps<ZoneFileProblem[]> {
  const problems = new Problems(options.maxProblems ?? MAX_PROBLEMS)
  yield* new ZoneFileReader(options, sink, problems).readFile(source, source.file ?? options.file)
  return problems.list
}

/** Reads a file, or single entries of one from any place where the state is known. */
export class ZoneFileReader {
  readonly #problems: Problems
  readonly #options: ParseOptions
  readonly #sink: RecordSink
  readonly #rdata: RdataBuffer
  /** The files being read, outermost first. */
  readonly #files: string[] = []

  #origin: Uint8Array
  #originInZone = true
  /** The current owner; a length of 0 is none yet. */
  #owner = new Uint8Array(256)
  #ownerLength = 0
  /** $TTL, and the last TTL written in a record. */
  #defaultTtl = UNKNOWN_TTL
  #lastTtl = UNKNOWN_TTL
  #warnedOfLastTtl = false
  readonly #maxRecords: number
  #records = 0
  readonly #generated = new GeneratedCount()

  constructor(options: ParseOptions, sink: RecordSink, problems: Problems) {
    this.#options = options
    this.#sink = sink
    this.#problems = problems
    this.#origin = options.origin
    this.#rdata = options.rdata ?? newRdataBuffer()
    this.#maxRecords = options.maxRecords ?? Infinity
  }

  *readFile(source: ByteSource, file: string): Steps<void> {
    const window = new Window(source)
    const { tokens } = window
    this.#files.push(file)
    this.#sink.file?.(file)
    const pace = new Pace()
    while (!this.#problems.full && window.next()) {
      const more = this.readEntry(tokens)
      if (more !== undefined) yield* more
      else if (pace.isDue(this.#rdata.length)) yield
    }
    this.#files.pop()
    const including = this.#files.at(-1)
    if (including !== undefined) this.#sink.file?.(including)
  }

  /** Returns what is left to do where an entry stands for many, as $GENERATE and $INCLUDE do; before the next entry. */
  readEntry(tokens: Tokens): Steps<void> | undefined {
    if (tokens.fault !== '') {
      this.#problems.add('error', this.#file, tokens, tokens.faultAt, '', tokens.fault)
      return undefined
    }
    if (tokens.count === 0) return undefined
    tokens.origin = this.#origin
    try {
      if (tokens.bytes[tokens.starts[0]] === 0x24 && !tokens.blankStart) {
        const more = this.#readDirective(tokens)
        return more && this.#reportFaults(tokens, more)
      }
      this.#readRecord(tokens, tokens.line)
    } catch (error) {
      this.#reportFault(tokens, error)
    }
    return undefined
  }

  *#reportFaults(tokens: Tokens, steps: Steps<void>): Steps<void> {
    try {
      yield* steps
    } catch (error) {
      this.#reportFault(tokens, error)
    }
  }

  #reportFault(tokens: Tokens, error: unknown): void {
    if (!(error instanceof ExpectedError)) throw error
    this.#report('error', tokens, error.index, error.message)
    if (error instanceof LimitExceeded) this.#problems.stop()
  }

  /** Goes on where the state is this one. */
  resume(state: ReaderState): void {
    this.#setOrigin(state.origin)
    this.#owner.set(state.owner)
    this.#ownerLength = state.owner.length
    this.#defaultTtl = state.defaultTtl
    this.#lastTtl = state.lastTtl
    this.#warnedOfLastTtl = state.warnedOfLastTtl
  }

  get origin(): Uint8Array {
    return this.#origin
  }

  /** The current owner, valid until the next entry is read. */
  get owner(): Uint8Array {
    return this.#owner.subarray(0, this.#ownerLength)
  }

  get defaultTtl(): number {
    return this.#defaultTtl
  }

  get lastTtl(): number {
    return this.#lastTtl
  }

  get warnedOfLastTtl(): boolean {
    return this.#warnedOfLastTtl
  }

  get #file(): string {
    return this.#files[this.#files.length - 1] ?? this.#options.file
  }

  #readRecord(tokens: Tokens, line: number): void {
    if (!tokens.blankStart) this.#readOwner(tokens, tokens.next++)
    else if (this.#ownerLength === 0) throw new ExpectedError(0, 'expected an owner name, as there is none before')
    if (this.#ownerLength === REFUSED) return
    const explicitTtl = this.#readTtlAndClass(tokens)
    const typeIndex = tokens.take('a record type')
    const type = typeFromBytes(tokens.bytes, tokens.starts[typeIndex], tokens.ends[typeIndex])
    if (type < 0) throw new ExpectedError(typeIndex, 'unknown RR type: expected a record type, such as A or TYPE123')
    if (isMetaType(type)) throw new ExpectedError(typeIndex, 'expected a type of data, not a meta type')
    const rdata = this.#rdata
    parseRdata(type, tokens, rdata)
    if (++this.#records > this.#maxRecords) throw tooManyRecords(this.#maxRecords)
    const ttl = explicitTtl === UNKNOWN_TTL ? this.#impliedTtl(type, tokens, typeIndex) : explicitTtl
    this.#sink.record(this.#owner, this.#ownerLength, type, CLASS.IN, ttl, rdata.bytes, rdata.length, line)
  }

  #readOwner(tokens: Tokens, index: number): void {
    const end = tokens.ends[index]
    this.#ownerLength = REFUSED
    const length = encodeNameText(tokens.bytes, tokens.starts[index], end, tokens.origin, this.#owner, 0)
    if (length < 0) throw new ExpectedError(index, `expected an owner name: ${nameProblem(length)}`)
    // What does not end in a dot is relative, and below the origin whatever it is.
    const isRelative = tokens.bytes[end - 1] !== 0x2e
    if (!(isRelative && this.#originInZone) && !isSubdomain(this.#owner.subarray(0, length), this.#options.origin)) {
      throw new ExpectedError(index, `out of zone: expected a name at or below ${formatName(this.#options.origin)}`)
    }
    this.#ownerLength = length
  }

  /** Both are optional and stand in either order (RFC 1035 5.1). Returns the TTL, or UNKNOWN_TTL. */
  #readTtlAndClass(tokens: Tokens): number {
    let ttl = UNKNOWN_TTL
    let sawClass = false
    while (tokens.next < tokens.count) {
      const index = tokens.next
      const start = tokens.starts[index]
      const length = tokens.ends[index] - start
      const first = tokens.bytes[start]
      if (first >= 0x30 && first <= 0x39 && ttl === UNKNOWN_TTL) {
        ttl = this.#lastTtl = this.#readTtl(tokens, index)
      } else if (!sawClass && length === 2 && (first & 0xdf) === 0x49 && (tokens.bytes[start + 1] & 0xdf) === 0x4e) {
        sawClass = true
      } else if (sawClass || !this.#isClass(tokens, index)) return ttl
      else sawClass = true
      tokens.next++
    }
    return ttl
  }

  /** For everything but a plain `IN`; a zone of another class is refused. */
  #isClass(tokens: Tokens, index: number): boolean {
    const letter = tokens.bytes[tokens.starts[index]] & 0xdf
    if (letter !== 0x43 && letter !== 0x48) return false
    const klass = classNumber(tokens.text(index))
    if (klass === undefined || klass === CLASS.IN) return klass === CLASS.IN
    throw new ExpectedError(index, `expected class IN, as ${className(klass)} zones are not served`)
  }

  /** RFC 2181 8: a TTL has 31 bits; what is larger counts as zero. */
  #readTtl(tokens: Tokens, index: number): number {
    const ttl = readPeriod(tokens.bytes, tokens.starts[index], tokens.ends[index])
    if (ttl < 0) throw new ExpectedError(index, 'expected a TTL: seconds, or a period such as 1h30m')
    if (ttl <= MAX_TTL) return ttl
    this.#report('warning', tokens, index, `expected a TTL of at most ${MAX_TTL}; taken as 0`)
    return 0
  }

  /** RFC 2308 4: $TTL; before there was one, the last TTL written (RFC 1035); before that, the SOA's minimum. */
  #impliedTtl(type: number, tokens: Tokens, typeIndex: number): number {
    if (this.#defaultTtl !== UNKNOWN_TTL) return this.#defaultTtl
    if (this.#lastTtl !== UNKNOWN_TTL) {
      if (!this.#warnedOfLastTtl) {
        this.#report('warning', tokens, typeIndex, 'expected a TTL or $TTL; the last TTL is used (RFC 1035)')
      }
      this.#warnedOfLastTtl = true
      return this.#lastTtl
    }
    if (type !== TYPE.SOA) throw new ExpectedError(typeIndex, 'no TTL specified: expected a TTL, or $TTL before')
    this.#report('warning', tokens, typeIndex, 'expected a TTL or $TTL; the minimum of the SOA is used')
    this.#defaultTtl = Math.min(readU32(this.#rdata.bytes, this.#rdata.length - 4), MAX_TTL)
    return this.#defaultTtl
  }

  #readDirective(tokens: Tokens): Steps<void> | undefined {
    tokens.next = 1
    switch (tokens.text(0).toUpperCase()) {
      case '$ORIGIN':
        this.#setOrigin(this.#takeName(tokens, 'an origin'))
        expectEnd(tokens)
        return undefined
      case '$TTL':
        this.#defaultTtl = this.#readTtl(tokens, tokens.take('a TTL'))
        expectEnd(tokens)
        return undefined
      case '$INCLUDE':
        return this.#include(tokens)
      case '$GENERATE':
        return this.#generate(tokens)
      default:
        throw new ExpectedError(0, 'expected $ORIGIN, $TTL, $INCLUDE or $GENERATE')
    }
  }

  #takeName(tokens: Tokens, noun: string): Uint8Array {
    const index = tokens.take(noun)
    const name = new Uint8Array(256)
    const length = encodeNameText(tokens.bytes, tokens.starts[index], tokens.ends[index], this.#origin, name, 0)
    if (length < 0) throw new ExpectedError(index, `expected ${noun}: ${nameProblem(length)}`)
    return name.slice(0, length)
  }

  #setOrigin(origin: Uint8Array): void {
    this.#origin = origin
    this.#originInZone = isSubdomain(origin, this.#options.origin)
  }

  /** The included file starts with the current owner; after it, origin and owner are what they were before. */
  *#include(tokens: Tokens): Steps<void> {
    const index = tokens.take('a file name')
    const path = tokens.text(index)
    const origin = tokens.next < tokens.count ? this.#takeName(tokens, 'an origin') : this.#origin
    expectEnd(tokens)
    const source = this.#openInclude(path, index)
    const saved = { origin: this.#origin, owner: this.#owner.slice(), ownerLength: this.#ownerLength }
    this.#setOrigin(origin)
    yield* this.readFile(source, source.file ?? path)
    this.#setOrigin(saved.origin)
    this.#owner = saved.owner
    this.#ownerLength = saved.ownerLength
  }

  #openInclude(path: string, index: number): ByteSource {
    const open = this.#options.openInclude
    if (open === undefined) throw new ExpectedError(index, 'expected no $INCLUDE: files cannot be included here')
    if (this.#files.length > MAX_INCLUDE_DEPTH) {
      throw new ExpectedError(index, `expected at most ${MAX_INCLUDE_DEPTH} files that include each other`)
    }
    let source: ByteSource
    try {
      source = open(path, this.#files[this.#files.length - 1])
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new ExpectedError(index, `expected a file that can be opened: ${reason}`)
    }
    if (this.#files.includes(source.file ?? path)) {
      throw new ExpectedError(index, 'expected a file that does not include itself')
    }
    return source
  }

  /** Problems of a generated line are reported where the directive stands, the first one only. */
  *#generate(tokens: Tokens): Steps<void> {
    const generator = parseGenerate(tokens)
    const { start, stop, step, line } = generator
    this.#generated.add(generator)
    const encoder = new TextEncoder()
    const made = new Tokens(new Uint8Array(0))
    made.origin = this.#origin
    const pace = new Pace()
    for (let value = start; value <= stop; value += step) {
      if (pace.isDue(made.bytes.length + this.#rdata.length)) yield
      this.#problems.generating = tokens
      made.bytes = encoder.encode(line(value))
      made.readEntry(0, made.bytes.length, true)
      try {
        if (made.fault !== '') throw new ExpectedError(0, made.fault)
        this.#readRecord(made, tokens.line)
        this.#generated.addRecord(this.#ownerLength + this.#rdata.length)
      } catch (error) {
        if (!(error instanceof ExpectedError) || error instanceof LimitExceeded) throw error
        const text = new TextDecoder().decode(made.bytes)
        throw new ExpectedError(0, `in the generated line "${shorten(text)}": ${error.message}`)
      } finally {
        this.#problems.generating = undefined
      }
    }
  }

  #report(severity: 'error' | 'warning', tokens: Tokens, index: number, message: string): void {
    this.#problems.addToken(severity, this.#file, tokens, index, message)
  }
}

function expectEnd(tokens: Tokens): void {
  if (tokens.next < tokens.count) throw new ExpectedError(tokens.next, 'expected the end of the line')
}

/** Types that exist in queries and messages only (RFC 6895 3.1), and the reserved number 0. */
function isMetaType(type: number): boolean {
  return type === 0 || type === TYPE.OPT || (type >= 128 && type <= 255)
}
