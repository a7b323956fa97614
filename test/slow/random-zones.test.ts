// Random zones and the questions that follow from them, asked of ours, NSD, Knot and BIND as in test/conformance/conformance.test.ts:
// every difference needs a rule. HOLDFAST_SEED chooses other zones; HOLDFAST_CONFORMANCE=full makes many of them.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseName } from '../../src/dns/name.ts'
import { Random } from '../fuzz/random.ts'
import { bind, holdfast, knot, nsd } from '../support/name-servers.ts'
import type { Rule } from '../conformance/compare.ts'
import { type Query, questionsOf } from '../conformance/queries.ts'
import { randomPlans } from '../conformance/random-zones.ts'
import { rulesFor } from '../conformance/rules.ts'
import { formatVerdicts, judge, transcribe, type Verdict } from '../conformance/run.ts'
import { writeZones } from '../conformance/zones.ts'

const mode = process.env.HOLDFAST_CONFORMANCE
const SEED = Number(process.env.HOLDFAST_SEED ?? 1)
const ZONES = mode === 'full' ? 40 : 12
/** Every so many questions are asked. */
const SHARE = mode === 'full' ? 1 : 4
const ALL_MS = 900_000
const SHOWN = 8

let directory: string
let queries: Query[]
let rules: Rule[]
let verdicts: Verdict[]

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-random-'))
  const zones = await writeZones(directory, randomPlans(new Random(SEED), ZONES))
  queries = questionsOf(zones, false).filter((_, index) => index % SHARE === 0)
  rules = rulesFor(zones.map((zone) => parseName(zone.origin)))
  const [ours, ...peers] = await Promise.all(
    [holdfast, nsd, knot, bind].map((server) => transcribe(server, zones, queries)),
  )
  verdicts = peers.map((peer) => judge(queries, ours, peer, rules))
  if (mode) console.info(formatVerdicts(verdicts, rules, queries.length))
}, ALL_MS)

afterAll(async () => {
  await rm(directory, { recursive: true, force: true })
})

describe(`random zones (HOLDFAST_SEED=${SEED})`, () => {
  it('are answered as NSD, Knot and BIND do but where a rule permits a difference', () => {
    expect(queries.length).toBeGreaterThan(2000)
    const unexplained = verdicts.flatMap((verdict) =>
      verdict.unexplained.length === 0
        ? []
        : [`${verdict.unexplained.length} unexplained\n${verdict.unexplained.slice(0, SHOWN).join('\n')}`],
    )
    expect(unexplained.join('\n')).toBe('')
  })

  it('are answered as at least one of them does, but for proofs that only ours completes', () => {
    const alone = queries.filter((_, index) => !verdicts.some((verdict) => verdict.agreed.has(index)))
    // A wildcard that is an empty non-terminal, behind a DNAME: test/conformance/denials.test.ts has validators judge these.
    expect(alone.filter((query) => !query.do).map(({ label }) => label)).toEqual([])
    expect(alone.length).toBeLessThan(queries.length / 200)
  })
})
