// The same zones and the same thousands of queries to ours, NSD, Knot and BIND. Every difference must be covered by a
// named rule with its RFC (rules.ts, rules-odd.ts), and every answer of ours must agree with at least one of the three
// but where the RFCs leave a choice. Odd queries get what expected.ts says.
// HOLDFAST_CONFORMANCE=report prints the table of differences; =full also asks every question in every shape.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseName } from '../../src/dns/name.ts'
import { bind, holdfast, knot, nsd } from '../support/name-servers.ts'
import { isMessage, type Rule } from './compare.ts'
import { expectationFor } from './expected.ts'
import { oddities } from './odd-queries.ts'
import { type Query, questionsOf } from './queries.ts'
import { outcome } from './rules-odd.ts'
import { rulesFor } from './rules.ts'
import { formatVerdicts, judge, type Transcript, transcribe, type Verdict } from './run.ts'
import { type ConformanceZone, writeZones } from './zones.ts'

const mode = process.env.HOLDFAST_CONFORMANCE
const START_AND_ASK_MS = mode === 'full' ? 900_000 : 300_000
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
  let ours: Transcript
  let verdicts: Verdict[]
  let alone: Query[]

  beforeAll(async () => {
    ours = await transcribe(holdfast, zones, queries)
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

  const odd = oddities()

  it('answers every odd query as its RFC says, and hardly ever alone', () => {
    const wrong = odd.flatMap((query) => {
      const index = queries.findIndex(({ label, odd }) => odd && label === query.label)
      const expected = expectationFor(query.label)
      const own = outcome(ours.responses[index])
      const others = peers.filter(({ responses }) => outcome(responses[index]) === own)
      if (own !== expected?.outcome) return [`${query.label}: ${own}, but ${expected?.outcome} by ${expected?.rfc}`]
      return others.length > 0 || expected.alone !== undefined ? [] : [`${query.label}: ${own}, and no other does so`]
    })
    expect(wrong).toEqual([])
  })

  it('copies RD and CD from a query, and nothing for another opcode', () => {
    const wrong = queries.filter(({ bytes }, index) => {
      const response = ours.responses[index]
      if (!isMessage(response)) return false
      const isQuery = (bytes[2] & 0x78) === 0
      return response.rd !== (isQuery && (bytes[2] & 1) !== 0) || response.cd !== (isQuery && (bytes[3] & 0x10) !== 0)
    })
    expect(wrong.map(({ label }) => label)).toEqual([])
  })
})
