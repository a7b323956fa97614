// The same zones and the same thousands of queries to ours, NSD, Knot and BIND. Every difference must be covered by a
// named rule with its RFC (rules.ts, rules-odd.ts), and every answer of ours must agree with at least one of the three
// but where the RFCs leave a choice.
// HOLDFAST_CONFORMANCE=report prints the table of differences; =full also asks every question in every shape.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseName } from '../../src/dns/name.ts'
import { bind, holdfast, knot, nsd } from '../support/name-servers.ts'
import type { Rule } from './compare.ts'
import { oddities } from './odd-queries.ts'
import { type Query, questionsOf } from './queries.ts'
import { rulesFor } from './rules.ts'
import { formatVerdicts, judge, type Transcript, transcribe, type Verdict } from './run.ts'
import { type ConformanceZone, writeZones } from './zones.ts'

const mode = process.env.HOLDFAST_CONFORMANCE
const START_AND_ASK_MS = mode === 'full' ? 600_000 : 60_000
const SHOWN = 8

let directory: string
let zones: ConformanceZone[]
let queries: Query[]
let rules: Rule[]
let peers: Transcript[]

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-conformance-'))
  zones = await writeZones(directory)
  queries = [...questionsOf(zones, mode === 'full'), ...oddities()]
  rules = rulesFor(zones.map((zone) => parseName(zone.origin)))
  peers = await Promise.all([nsd, knot, bind].map((server) => transcribe(server, zones, queries)))
}, START_AND_ASK_MS)

afterAll(async () => {
  await rm(directory, { recursive: true, force: true })
})

function report(verdicts: readonly Verdict[]): void {
  if (mode) console.info(formatVerdicts(verdicts, rules, queries.length))
}

function unexplained(verdicts: readonly Verdict[]): string {
  return verdicts
    .filter((verdict) => verdict.unexplained.length > 0)
    .map((verdict) => `${verdict.unexplained.length} unexplained\n${verdict.unexplained.slice(0, SHOWN).join('\n')}`)
    .join('\n')
}

describe('NSD, Knot and BIND', () => {
  it(
    'differ from each other only as a rule permits',
    () => {
      const [first, second, third] = peers
      const verdicts = [
        judge(queries, first, second, rules),
        judge(queries, first, third, rules),
        judge(queries, second, third, rules),
      ]
      report(verdicts)
      expect(queries.length).toBeGreaterThan(10_000)
      expect(unexplained(verdicts)).toBe('')
    },
    START_AND_ASK_MS,
  )
})

describe('holdfast', () => {
  let verdicts: Verdict[]
  let alone: Query[]

  beforeAll(async () => {
    const ours = await transcribe(holdfast, zones, queries)
    verdicts = peers.map((peer) => judge(queries, ours, peer, rules))
    alone = queries.filter((_, index) => !verdicts.some((verdict) => verdict.agreed.has(index)))
    report(verdicts)
    if (mode) console.info(`agrees with none of them on ${alone.map((query) => query.label).join('; ')}`)
  }, START_AND_ASK_MS)

  it('differs from each of them only as a rule permits', () => {
    expect(unexplained(verdicts)).toBe('')
  })

  it('agrees with at least one of them on every ordinary question', () => {
    expect(alone.filter((query) => !query.odd).map((query) => query.label)).toEqual([])
  })
})
