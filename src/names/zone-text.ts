// A zone as the text it is written in, kept so that a new version of the text costs what is new in it: the differing
// bytes are found, the entries around them read, and their records put in the place of the old ones. Verdict, problems
// and records are those of reading the whole text, which is done whenever a change reaches further than its lines.

import { finish, type Steps } from '../dns/steps.ts'
import { MAX_PROBLEMS } from '../dns/zonefile/parse.ts'
import type { ZoneFileProblem } from '../dns/zonefile/problem.ts'
import type { ZoneBuilder } from '../zone/build.ts'
import { type CheckOptions, checkZoneSteps } from '../zone/check.ts'
import { applyEdits, commitEdits, mergedProblems, revertEdits, touchedNames } from './zone-text-apply.ts'
import { differingNames } from './zone-text-compare.ts'
import { readEdits, type TextEdit } from './zone-text-edits.ts'
import { findHunks } from './zone-text-hunks.ts'
import { type TextLimits, ZoneTextIndex } from './zone-text-index.ts'

export interface ZoneTextOptions extends CheckOptions, TextLimits {
  /** What to call the text in problems: its etcd key or file. */
  readonly label: string
  /** Why a zone that is in order cannot be accepted; undefined when it can. */
  readonly refusal?: (zone: ZoneBuilder) => string | undefined
}

export interface ZoneTextChange {
  readonly accepted: boolean
  readonly problems: readonly ZoneFileProblem[]
  /**
   * Names whose records may have changed, as numbers of the current builder; those that are gone have no records
   * there. Undefined: everything.
   */
  readonly touched: readonly number[] | undefined
}

/** A change is looked for in the text of a smaller zone at once; a larger zone is read as a whole, in steps. */
const MOST_EDITED_RECORDS = 100_000

export class ZoneText {
  #index: ZoneTextIndex
  /** How many names and how much rdata there may be before what is no longer used is taken out. */
  #mostNames = 0
  #mostRdata = 0

  private constructor(index: ZoneTextIndex) {
    this.#index = index
    this.#setLimits()
  }

  /** The text must not be changed by the caller afterwards. */
  static *load(
    bytes: Uint8Array,
    origin: Uint8Array,
    options: ZoneTextOptions,
  ): Steps<{ accepted: boolean; problems: readonly ZoneFileProblem[]; text: ZoneText | undefined }> {
    const index = yield* ZoneTextIndex.read(bufferOf(bytes), origin, options.label, options)
    const problems = yield* withFindings(index.problems, index.builder, options)
    const accepted = problems.every(isWarning)
    return { accepted, problems, text: accepted ? new ZoneText(index) : undefined }
  }

  /** The records of the last accepted text. Names without any may be left from earlier ones. */
  get builder(): ZoneBuilder {
    return this.#index.builder
  }

  /** Memory held. */
  get bytes(): number {
    return this.#index.bytes
  }

  /**
   * Takes a new text, or leaves everything as it is when that is not accepted or the steps are given up. The records
   * change within one step.
   */
  *update(bytes: Uint8Array, options: ZoneTextOptions): Steps<ZoneTextChange> {
    const text = bufferOf(bytes)
    const { builder } = this
    if (builder.recordCount > MOST_EDITED_RECORDS) return yield* this.#reload(text, options)
    this.#clean()
    const mark = builder.mark()
    const edits = this.#readEdits(text, options)
    if (edits === undefined) {
      builder.rewind(mark)
      return yield* this.#reload(text, options)
    }
    const replaced = applyEdits(builder, edits)
    const problems = finish(withFindings(mergedProblems(this.#index.problems, edits), builder, options))
    const accepted = problems.every(isWarning)
    if (!accepted) {
      revertEdits(builder, edits, replaced)
      builder.rewind(mark)
      return { accepted, problems, touched: [] }
    }
    const touched = [...touchedNames(builder, edits, replaced)]
    commitEdits(this.#index, text, edits)
    return { accepted, problems, touched }
  }

  #readEdits(text: Buffer, { label, maxRecords = Infinity }: ZoneTextOptions): TextEdit[] | undefined {
    const { mixedCase, problems, builder } = this.#index
    // The reader keeps only so many problems, so there may have been more.
    if (mixedCase || problems.length >= MAX_PROBLEMS) return undefined
    const hunks = findHunks(this.#index.text, text)
    const edits = hunks && readEdits(this.#index, text, hunks, label)
    if (edits === undefined || mergedProblems(problems, edits).length > MAX_PROBLEMS) return undefined
    const records = edits.reduce((count, { from, to, rows }) => count - (to - from) + rows.count, builder.recordCount)
    return records > maxRecords ? undefined : edits
  }

  *#reload(text: Buffer, options: ZoneTextOptions): Steps<ZoneTextChange> {
    const { builder } = this
    const index = yield* ZoneTextIndex.read(text, builder.origin, options.label, options)
    const problems = yield* withFindings(index.problems, index.builder, options)
    const accepted = problems.every(isWarning)
    if (!accepted) return { accepted, problems, touched: [] }
    const touched = yield* differingNames(builder, index.builder)
    this.#index = index
    this.#setLimits()
    return { accepted, problems, touched }
  }

  /** Edits leave names without records and rdata without a record behind. */
  #clean(): void {
    const { builder } = this
    if (builder.nameCount <= this.#mostNames && builder.mark().rdataTop <= this.#mostRdata) return
    builder.dropEmptyNames()
    builder.packRdata()
    this.#setLimits()
  }

  #setLimits(): void {
    const { names, rdataTop } = this.builder.mark()
    this.#mostNames = 2 * names + 256
    this.#mostRdata = 2 * rdataTop + 4096
  }
}

/** What holds between records is only worth saying once every record could be read. */
function* withFindings(
  problems: readonly ZoneFileProblem[],
  zone: ZoneBuilder,
  options: ZoneTextOptions,
): Steps<readonly ZoneFileProblem[]> {
  if (!problems.every(isWarning)) return problems
  const at = { file: options.label, line: 0, column: 0, token: '' }
  const findings = yield* checkZoneSteps(zone, options)
  const all = [...problems, ...findings.map((finding) => ({ ...at, ...finding, file: options.label }))]
  const refusal = all.every(isWarning) ? options.refusal?.(zone) : undefined
  return refusal === undefined ? all : [...all, { ...at, message: refusal, severity: 'error' }]
}

function isWarning({ severity }: ZoneFileProblem): boolean {
  return severity === 'warning'
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
