// For tests of zone texts: a text whose every new version is compared with reading all of it.

import { expect } from 'vitest'
import { formatName, parseName } from '../../src/dns/name.ts'
import { finish } from '../../src/dns/steps.ts'
import { formatRecord, textSource } from '../../src/dns/zonefile/format.ts'
import { parseZoneFile } from '../../src/dns/zonefile/parse.ts'
import type { ZoneFileProblem } from '../../src/dns/zonefile/problem.ts'
import { ZoneBuilder } from '../../src/zone/build.ts'
import { checkZone } from '../../src/zone/check.ts'
import { ZoneText } from '../../src/names/zone-text.ts'

const ORIGIN = parseName('example.')
export const OPTIONS = { label: 'zones/example', previousSerial: 7 }

export interface Followed {
  readonly how: 'refused' | 'edited' | 'read'
  /** In order, as text in lower case. */
  readonly touched: readonly string[] | undefined
  readonly differing: readonly string[]
  readonly problems: readonly ZoneFileProblem[]
}

export class FollowedText {
  readonly text: ZoneText
  #bytes: Uint8Array

  private constructor(text: ZoneText, bytes: Uint8Array) {
    this.text = text
    this.#bytes = bytes
  }

  /** Undefined when the text is refused. */
  static load(bytes: Uint8Array): FollowedText | undefined {
    const { text, problems } = finish(ZoneText.load(bytes, ORIGIN, OPTIONS))
    const wanted = loadAlone(bytes)
    expect(problems).toEqual(wanted.problems)
    expect(text === undefined).toBe(problems.some(isError))
    if (text === undefined) return undefined
    expect(dump(text.builder)).toEqual(dump(wanted.zone))
    return new FollowedText(text, bytes)
  }

  /** The text last accepted. */
  get bytes(): Uint8Array {
    return this.#bytes
  }

  update(bytes: Uint8Array): Followed {
    const { builder } = this.text
    const [mark, records] = [builder.mark(), dump(builder)]
    const wanted = loadAlone(bytes)
    const { accepted, problems, touched } = finish(this.text.update(bytes, OPTIONS))
    expect(problems).toEqual(wanted.problems)
    expect(accepted).toBe(!problems.some(isError))
    if (!accepted) {
      expect(this.text.builder).toBe(builder)
      expect(builder.mark().names).toBeLessThanOrEqual(mark.names)
      expect(builder.mark().rdataTop).toBeLessThanOrEqual(mark.rdataTop)
      expect(dump(builder)).toEqual(records)
      expect(touched).toEqual([])
      return { how: 'refused', touched: [], differing: [], problems }
    }
    expect(dump(this.text.builder)).toEqual(dump(wanted.zone))
    const differing = differingNames(loadAlone(this.#bytes).zone, wanted.zone)
    const names = touched?.map((name) => formatName(this.text.builder.name(name)).toLowerCase()).sort()
    if (names !== undefined) expect(names).toEqual(expect.arrayContaining(differing))
    this.#bytes = bytes
    return { how: this.text.builder === builder ? 'edited' : 'read', touched: names, differing, problems }
  }
}

function loadAlone(text: Uint8Array): { zone: ZoneBuilder; problems: readonly ZoneFileProblem[] } {
  const zone = new ZoneBuilder(ORIGIN)
  const problems = parseZoneFile(textSource(text), { file: OPTIONS.label, origin: ORIGIN }, zone)
  if (problems.some(isError)) return { zone, problems }
  const findings = checkZone(zone, OPTIONS).map((finding) => ({
    ...finding,
    file: OPTIONS.label,
    column: 0,
    token: '',
  }))
  return { zone, problems: [...problems, ...findings] }
}

/** Everything about the records: in order of the text, and by name in order of its chain. */
export function dump(zone: ZoneBuilder): { records: string[]; names: Record<string, string[]> } {
  const lineOf = (r: number) => {
    const owner = zone.name(zone.recordName[r])
    return `${zone.recordLine[r]}: ${formatRecord(owner, zone.recordTtl[r], zone.recordType[r], zone.rdata(r))}`
  }
  const records = Array.from({ length: zone.recordCount }, (_, r) => lineOf(r))
  const names: [string, string[]][] = []
  for (let name = 0; name < zone.nameCount; name++) {
    const chain: number[] = []
    for (let r = zone.firstRecord[name]; r >= 0; r = zone.nextRecord[r]) chain.push(r)
    if (zone.lastRecord[name] !== (chain.at(-1) ?? -1)) throw new Error(`chain of name ${name}: wrong end`)
    if (zone.findName(zone.name(name), 0, zone.nameLength[name]) !== name) throw new Error(`name ${name} is not found`)
    if (chain.length > 0) names.push([formatName(zone.name(name)), chain.map(lineOf)])
  }
  return { records, names: Object.fromEntries(names.sort(([a], [b]) => (a < b ? -1 : 1))) }
}

/** Names whose records differ, whatever their lines. */
function differingNames(before: ZoneBuilder, after: ZoneBuilder): string[] {
  const plain = (zone: ZoneBuilder) => {
    const names = Object.entries(dump(zone).names)
    return new Map(
      names.map(([name, chain]) => [
        name.toLowerCase(),
        chain.map((record) => record.replace(/^\d+: \S+/u, '')).join('\n'),
      ]),
    )
  }
  const [a, b] = [plain(before), plain(after)]
  return [...new Set([...a.keys(), ...b.keys()])].filter((name) => a.get(name) !== b.get(name)).sort()
}

function isError({ severity }: ZoneFileProblem): boolean {
  return severity === 'error'
}
