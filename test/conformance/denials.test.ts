// Validators ask ours and BIND for what signed zones do not have: Unbound for every name, delv and unbound-host for
// some. No proof may be bogus, and each is worth as much as BIND's.
// HOLDFAST_CONFORMANCE=full makes the top-level domain a large one.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodeMessage, type Message } from '../../src/dns/message.ts'
import { RCODE } from '../../src/dns/types.ts'
import { Random } from '../fuzz/random.ts'
import { exchangeUdp } from '../support/dns-client.ts'
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
import { type DenialZone, writeDenialZones } from './denial-zones.ts'
import { opt, query } from './queries.ts'

const DELEGATIONS = process.env.HOLDFAST_CONFORMANCE === 'full' ? 20_000 : 3000
const SEED = Number(process.env.HOLDFAST_SEED ?? 1)
const ALL_MS = 300_000
const TYPES = ['A', 'TXT', 'DS']
/** A validator may have to wait for a busy machine; it is not asked again while it does. */
const PATIENT = { window: 32, timeoutMs: 30_000, attempts: 2 }
const SAMPLES = 24

interface Question {
  readonly zone: DenialZone
  readonly name: string
  readonly type: string
}

let directory: string
let zones: DenialZone[]
/** Those that the zones themselves have the answer to. */
let questions: Question[]
let ours: Security[]
let theirs: Security[]
let samples: { question: Question; expected: Security; delv: Security; host: Security }[]

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-denials-'))
  zones = await writeDenialZones(directory, DELEGATIONS, new Random(SEED))
  const all = zones
    .flatMap((zone) => zone.names.flatMap((name) => TYPES.map((type) => ({ zone, name, type }))))
    // The parent has the DS of a zone, and there is none here.
    .filter(({ zone, name, type }) => type !== 'DS' || name !== zone.origin)
  const [mine, peers] = await Promise.all([judged(holdfast, all), judged(bind, all)])
  const kept = all.map((_, i) => i).filter((i) => mine.isAnswer[i])
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

async function judged(server: NameServer, all: readonly Question[]): Promise<Judged> {
  const running = await server.start(zones)
  try {
    const direct = await ask(running.port, all, { rd: false })
    const isAnswer = direct.map((message) => message?.aa === true)
    const resolver = await unbound(running.port, zones).start(zones)
    try {
      const answers = await ask(
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

async function ask(port: number, all: readonly Question[], flags: { rd: boolean }): Promise<(Message | undefined)[]> {
  const packets = all.map(({ name, type }) => query(name, type, { ...flags, edns: opt({ do: true }) }).bytes)
  const answers = await exchangeUdp(port, packets, PATIENT)
  return answers.map((bytes) => {
    const message = bytes === undefined ? undefined : decodeMessage(bytes)
    return typeof message === 'object' ? message : undefined
  })
}

function securityOf(message: Message | undefined): Security {
  if (message === undefined || (message.rcode !== RCODE.NOERROR && message.rcode !== RCODE.NXDOMAIN)) return 'bogus'
  return message.ad ? 'secure' : 'insecure'
}

/** Some questions of every zone, to the other two validators. */
async function sample(
  port: number,
  all: readonly Question[],
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

const label = ({ name, type }: Question): string => `${name} ${type}`

describe(`denials of signed zones (HOLDFAST_SEED=${SEED})`, () => {
  it('leave out empty non-terminals, or nothing here is tested', async () => {
    const text = await readFile(zones.find(({ origin }) => origin === 'optout.test.')!.file, 'utf8')
    // The apex, ns, www, alias, gone, moved, both and its host, signed, ent2 and s, and the wildcards with their parents.
    expect(text.split('\n').filter((line) => / IN NSEC3\s/u.test(line)).length).toBeLessThan(25)
    expect(questions.length).toBeGreaterThan(2000)
    expect(new Set(questions.map(({ zone }) => zone.origin)).size).toBe(zones.length)
  })

  it('are bogus for none of them', () => {
    expect(questions.filter((_, i) => ours[i] === 'bogus').map(label)).toEqual([])
  })

  it("are worth as much as BIND's, where those are not bogus", () => {
    const differing = questions.flatMap((question, i) =>
      ours[i] === theirs[i] || theirs[i] === 'bogus' ? [] : [`${label(question)}: ${ours[i]}, from BIND ${theirs[i]}`],
    )
    expect(differing).toEqual([])
    expect(new Set(ours)).toEqual(new Set(['secure', 'insecure']))
    // BIND does not prove that the wildcard itself is not covered when it is an empty non-terminal of a zone with NSEC.
    const bogus = questions.filter((_, i) => theirs[i] === 'bogus').map(label)
    expect(bogus.filter((question) => !/entwild2?\.nsec\.test\./u.test(question))).toEqual([])
  })

  it('convince delv and unbound-host, too', () => {
    expect(samples.length).toBe(SAMPLES)
    for (const { question, expected, delv, host } of samples) {
      expect(delv, label(question)).not.toBe('bogus')
      expect(host, label(question)).toBe(expected)
    }
  })
})
