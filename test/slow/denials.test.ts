// delv judges every denial of signed zones, where test/conformance/denials.test.ts has it judge some: a process for each
// question, two at a time. HOLDFAST_CONFORMANCE=full makes the top-level domain a large one.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  areAnswers,
  askDenials,
  denialLabel,
  type DenialQuestion,
  denialQuestions,
  securityOf,
} from '../conformance/denial-questions.ts'
import { type DenialZone, writeDenialZones } from '../conformance/denial-zones.ts'
import { Random } from '../fuzz/random.ts'
import { holdfast } from '../support/name-servers.ts'
import { askDelv, type Security, unbound, writeDelvAnchor } from '../support/validators.ts'

const DELEGATIONS = process.env.HOLDFAST_CONFORMANCE === 'full' ? 20_000 : 3000
const SEED = Number(process.env.HOLDFAST_SEED ?? 1)
/** Only a run that hangs reaches it. */
const ALL_MS = 7_200_000
const PROCESSES = 2

let directory: string
let questions: DenialQuestion[]
let byDelv: Security[]
let byUnbound: Security[]

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-delv-'))
  const zones = await writeDenialZones(directory, DELEGATIONS, new Random(SEED))
  const running = await holdfast.start(zones)
  try {
    const all = denialQuestions(zones)
    const isAnswer = await areAnswers(running.port, all)
    questions = all.filter((_, i) => isAnswer[i])
    const resolver = await unbound(running.port, zones).start(zones)
    try {
      byUnbound = (await askDenials(resolver.port, questions, { rd: true })).map(securityOf)
    } finally {
      await resolver.stop()
    }
    byDelv = await judgeAll(running.port, zones)
  } finally {
    await running.stop()
  }
}, ALL_MS)

afterAll(async () => {
  await rm(directory, { recursive: true, force: true })
})

async function judgeAll(port: number, zones: readonly DenialZone[]): Promise<Security[]> {
  const anchors = new Map<DenialZone, string>()
  for (const zone of zones) anchors.set(zone, await writeDelvAnchor(directory, zone))
  const result: Security[] = []
  let next = 0
  const judge = async (): Promise<void> => {
    while (next < questions.length) {
      const at = next++
      const { zone, name, type } = questions[at]
      result[at] = await askDelv(port, anchors.get(zone)!, zone.origin, name, type)
    }
  }
  await Promise.all(Array.from({ length: PROCESSES }, judge))
  return result
}

describe(`delv and the denials of signed zones (HOLDFAST_SEED=${SEED})`, () => {
  it('is asked about all of them', () => {
    expect(questions.length).toBeGreaterThan(2000)
    expect(byDelv.length).toBe(questions.length)
    expect(new Set(questions.map(({ zone }) => zone.origin)).size).toBe(8)
  })

  it('finds none bogus', () => {
    expect(questions.filter((_, i) => byDelv[i] === 'bogus').map(denialLabel)).toEqual([])
  })

  // Unbound takes a denial with opt-out for insecure, delv for validated: what it denies is proven, but for delegations.
  it('is as sure of each as Unbound', () => {
    const lessSure = questions.filter((_, i) => byDelv[i] !== 'secure' && byUnbound[i] === 'secure')
    expect(lessSure.map(denialLabel)).toEqual([])
    console.info(summary())
  })
})

/** A line for each zone, for the report of a run. */
function summary(): string {
  const zones = Map.groupBy(questions.keys(), (i) => questions[i].zone.origin)
  const count = (at: readonly number[], security: Security) => at.filter((i) => byDelv[i] === security).length
  return Array.from(
    zones,
    ([origin, at]) =>
      `${origin} ${at.length} questions: ${count(at, 'secure')} secure, ${count(at, 'insecure')} insecure, ${count(at, 'bogus')} bogus`,
  ).join('\n')
}
