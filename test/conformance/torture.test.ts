// The zones of torture-zones.ts, asked of ours, NSD, Knot and BIND as in conformance.test.ts: every difference needs a
// rule. Signed copies of a zone get every third question; HOLDFAST_CONFORMANCE=full asks all of them in every shape.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseName } from '../../src/dns/name.ts'
import { bind, holdfast, knot, nsd } from '../support/name-servers.ts'
import type { Rule } from './compare.ts'
import { type Query, questionsOf } from './queries.ts'
import { rulesFor } from './rules.ts'
import { formatVerdicts, judge, transcribe, type Verdict } from './run.ts'
import { torturePlans } from './torture-zones.ts'
import { writeZones } from './zones.ts'

const mode = process.env.HOLDFAST_CONFORMANCE
const ALL_MS = mode === 'full' ? 900_000 : 300_000
const SHOWN = 8

let directory: string
let queries: Query[]
let rules: Rule[]
let verdicts: Verdict[]

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-torture-'))
  const zones = await writeZones(directory, torturePlans())
  queries = zones.flatMap((zone) => {
    const all = questionsOf([zone], mode === 'full')
    return mode === 'full' || zone.origin === 'plain.tld.' ? all : all.filter((_, index) => index % 3 === 0)
  })
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

describe('zones that ask much', () => {
  it('are answered as NSD, Knot and BIND do but where a rule permits a difference', () => {
    expect(queries.length).toBeGreaterThan(3000)
    const unexplained = verdicts.flatMap((verdict) =>
      verdict.unexplained.length === 0
        ? []
        : [`${verdict.unexplained.length} unexplained\n${verdict.unexplained.slice(0, SHOWN).join('\n')}`],
    )
    expect(unexplained.join('\n')).toBe('')
  })

  it('are answered as at least one of them does', () => {
    const alone = queries.filter((_, index) => !verdicts.some((verdict) => verdict.agreed.has(index)))
    // Names of this length fill a message, and how much of it depends on compression.
    expect(alone.map(({ label }) => label).filter((label) => !/l{63}|\.long\./u.test(label))).toEqual([])
  })
})
