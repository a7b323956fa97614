// Validators ask ours and BIND for what signed zones do not have: Unbound for every name, delv and unbound-host for
// some. No proof may be bogus, and each is worth as much as BIND's. test/slow/denials.test.ts asks delv for every name.
// HOLDFAST_CONFORMANCE=full makes the top-level domain a large one.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Random } from '../fuzz/random.ts'
import type { NameServer } from '../support/name-server.ts'
import { bind, holdfast } from '../support/name-servers.ts'
import {
  askDelv,
  askUnboundHost,
  type Security,
  unbound,
  writeDelvAnchor,
  writeUnboundConfig,
} from '../support/validators.ts'
import {
  areAnswers,
  askDenials,
  denialLabel,
  type DenialQuestion,
  denialQuestions,
  securityOf,
} from './denial-questions.ts'
import { type DenialZone, writeDenialZones } from './denial-zones.ts'

const DELEGATIONS = process.env.HOLDFAST_CONFORMANCE === 'full' ? 20_000 : 3000
const SEED = Number(process.env.HOLDFAST_SEED ?? 1)
const ALL_MS = 300_000
const SAMPLES = 24

/**
 * A DNAME that leads below a wildcard without records, in a zone with NSEC: Unbound 1.17 takes any proof of that for
 * bogus behind an alias, and the same records for secure when it is asked directly. delv validates both.
 */
const BEYOND_UNBOUND = /moved2\.nsec\.test\./u

let directory: string
let zones: DenialZone[]
/** Those that the zones themselves have the answer to. */
let questions: DenialQuestion[]
let ours: Security[]
let theirs: Security[]
let samples: { question: DenialQuestion; expected: Security; delv: Security; host: Security }[]

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-denials-'))
  zones = await writeDenialZones(directory, DELEGATIONS, new Random(SEED))
  const all = denialQuestions(zones)
  const [mine, peers] = await Promise.all([judged(holdfast, all), judged(bind, all)])
  const isBeyond = (i: number) => BEYOND_UNBOUND.test(all[i].name) && peers.securities[i] === 'bogus'
  const kept = all.map((_, i) => i).filter((i) => mine.isAnswer[i] && !isBeyond(i))
  questions = kept.map((i) => all[i])
  ours = kept.map((i) => mine.securities[i])
  theirs = kept.map((i) => peers.securities[i])
  samples = mine.samples
}, ALL_MS)

afterAll(async () => {
  await rm(directory, { recursive: true, force: true })
})

interface Judged {
  /** Not a referral. */
  readonly isAnswer: readonly boolean[]
  readonly securities: readonly Security[]
  readonly samples: typeof samples
}

async function judged(server: NameServer, all: readonly DenialQuestion[]): Promise<Judged> {
  const running = await server.start(zones)
  try {
    const isAnswer = await areAnswers(running.port, all)
    const resolver = await unbound(running.port, zones).start(zones)
    try {
      const answers = await askDenials(
        resolver.port,
        all.filter((_, i) => isAnswer[i]),
        { rd: true },
      )
      const each = answers.values()
      const securities = isAnswer.map((is) => (is ? securityOf(each.next().value) : 'bogus'))
      return { isAnswer, securities, samples: server === holdfast ? await sample(running.port, all, securities) : [] }
    } finally {
      await resolver.stop()
    }
  } finally {
    await running.stop()
  }
}

/** Some questions of every zone, to the other two validators. */
async function sample(
  port: number,
  all: readonly DenialQuestion[],
  securities: readonly Security[],
): Promise<typeof samples> {
  const config = await writeUnboundConfig(directory, port, zones)
  const random = new Random(SEED, 1)
  const result: typeof samples = []
  for (let i = 0; i < SAMPLES; i++) {
    const zone = zones[i % zones.length]
    const at = random.pick(
      all.flatMap((question, index) => (question.zone === zone && securities[index] !== 'bogus' ? [index] : [])),
    )
    const {
      name,
      type,
      zone: { origin },
    } = all[at]
    const anchor = await writeDelvAnchor(directory, zone)
    const [delv, host] = await Promise.all([
      askDelv(port, anchor, origin, name, type),
      askUnboundHost(config, name, type),
    ])
    result.push({ question: all[at], expected: securities[at], delv, host })
  }
  return result
}

describe(`denials of signed zones (HOLDFAST_SEED=${SEED})`, () => {
  it('leave out empty non-terminals, or nothing here is tested', async () => {
    const text = await readFile(zones.find(({ origin }) => origin === 'optout.test.')!.file, 'utf8')
    // The apex, ns, www, alias, gone, moved, moved2, both and its host, signed, ent2 and s, and the wildcards with their parents.
    expect(text.split('\n').filter((line) => / IN NSEC3\s/u.test(line)).length).toBeLessThan(25)
    expect(questions.length).toBeGreaterThan(2000)
    expect(new Set(questions.map(({ zone }) => zone.origin)).size).toBe(zones.length)
  })

  it('are bogus for none of them', () => {
    expect(questions.filter((_, i) => ours[i] === 'bogus').map(denialLabel)).toEqual([])
  })

  it("are worth as much as BIND's, where those are not bogus", () => {
    const differing = questions.flatMap((question, i) =>
      ours[i] === theirs[i] || theirs[i] === 'bogus'
        ? []
        : [`${denialLabel(question)}: ${ours[i]}, from BIND ${theirs[i]}`],
    )
    expect(differing).toEqual([])
    expect(new Set(ours)).toEqual(new Set(['secure', 'insecure']))
    // BIND does not prove that the wildcard itself is not covered when it is an empty non-terminal of a zone with NSEC.
    const bogus = questions.filter((_, i) => theirs[i] === 'bogus').map(denialLabel)
    expect(bogus.filter((question) => !/entwild2?\.nsec\.test\./u.test(question))).toEqual([])
  })

  it('convince delv and unbound-host, too', () => {
    expect(samples.length).toBe(SAMPLES)
    for (const { question, expected, delv, host } of samples) {
      expect(delv, denialLabel(question)).not.toBe('bogus')
      expect(host, denialLabel(question)).toBe(expected)
    }
  })
})
