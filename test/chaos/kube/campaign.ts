// One run: rounds of changes and events, and after each round calm, in which everything has to become right everywhere
// and then stay as it is.

import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../../src/lib/errors.ts'
import { Random } from '../../fuzz/random.ts'
import { until } from '../../support/until.ts'
import { Journal } from '../journal.ts'
import { runEvents } from '../schedule.ts'
import { EVENTS, type EventName, type Scene } from './events.ts'
import { type Ownership, setStage, type Stage, strike } from './stage.ts'
import { HOSTS, machineNames, STEADY, steadyHost, SUBJECTS } from './world.ts'
import { Writer } from './writer.ts'

export interface CampaignOptions {
  readonly seed: number
  /** How long events go on, where they have no order. */
  readonly seconds: number
  readonly order?: readonly EventName[]
  readonly ownership: Ownership
  /** Least and longest time between the beginnings of events. */
  readonly pauseMs: readonly [number, number]
  /** For how long nothing may be written once everything is right. */
  readonly stillMs: number
  readonly say: (line: string) => void
  /** Ends the run early. */
  readonly signal?: AbortSignal
}

export interface CampaignResult {
  readonly changes: number
  readonly checks: number
  readonly violations: readonly string[]
  readonly summary: readonly string[]
  /** Where the logs are, when there was something to look into. */
  readonly kept: string | undefined
}

const ROUND_SECONDS = 75
/** A watch that fell silent is given up after 90 seconds. */
const SETTLE_MS = 120_000
const MACHINES = SUBJECTS.filter(({ kind }) => kind === 'vmi').flatMap((each) => machineNames(each, ['nic1', 'nic2']))
const RECORDS = [...HOSTS, ...STEADY.map(steadyHost)]
const ALL_NAMES = [...RECORDS, ...MACHINES]

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const journal = new Journal(options.say)
  const stage = await setStage(journal, options.ownership)
  const ending = new AbortController()
  try {
    await play(stage, journal, options, ending)
  } catch (error) {
    journal.violation(`the run itself failed: ${messageOf(error)}`)
  }
  ending.abort()
  const { history, served, answered, stored, file } = stage
  const logs = await strike(stage)
  const kept = journal.violations.length > 0 ? journal.keep(logs) : undefined
  const outputs = [served, answered, stored, file].map(({ output }) => output)
  const summary = [
    ...journal.counts(),
    `changes written  ${history.count}`,
    ...outputs.map(({ name, checked }) => `${name.padEnd(8)} checked ${checked} times`),
    `violations       ${journal.violations.length}`,
  ]
  const checks = outputs.reduce((sum, { checked }) => sum + checked, 0)
  return { changes: history.count, checks, violations: journal.violations, summary, kept }
}

async function play(stage: Stage, journal: Journal, options: CampaignOptions, ending: AbortController): Promise<void> {
  const { cluster, history, programs, served, answered, stored, file } = stage
  const { seed, seconds, order, pauseMs, stillMs } = options
  const { signal } = ending
  const writer = new Writer(cluster, history, new Random(seed, 1), signal)
  await writer.prepare()
  journal.note('objects are there')
  await Promise.all(programs.map((program) => program.start()))
  const watching = [
    stored.follow(signal),
    served.askForEver(ALL_NAMES, seed, signal),
    answered.askForEver(RECORDS, seed, signal),
    file.readForEver(MACHINES, signal),
  ]
  const random = new Random(seed)
  const endAt = performance.now() + (order === undefined ? seconds * 1000 : 0)
  const rounds = async () => {
    await settle(stage, journal, 0)
    do {
      const writing = new AbortController()
      const scene: Scene = { ...stage, random, journal, signal }
      const left = (endAt - performance.now()) / 1000
      await Promise.all([
        writer.run(writing.signal),
        runEvents(EVENTS, scene, {
          ...{ seconds: Math.min(ROUND_SECONDS, left), pauseMs },
          ...(order !== undefined && { order }),
        }).finally(() => writing.abort()),
      ])
      await settle(stage, journal, stillMs)
    } while (performance.now() < endAt)
  }
  try {
    await Promise.race([rounds(), journal.hopeless, interrupted(options.signal), ...watching])
  } finally {
    ending.abort()
    await Promise.allSettled(watching)
  }
}

/** Everything is right within a time, and nobody writes any more. */
async function settle(stage: Stage, journal: Journal, stillMs: number): Promise<void> {
  const { stored } = stage
  const beganAt = performance.now()
  let wrong: readonly string[] = []
  const isRight = async () => {
    wrong = await wrongNames(stage)
    return wrong.length === 0
  }
  await until('everything right', isRight, SETTLE_MS).catch(() => undefined)
  const seconds = ((performance.now() - beganAt) / 1000).toFixed(1)
  if (wrong.length > 0) journal.violation(`after ${seconds} s of calm:\n${wrong.slice(0, 10).join('\n')}`)
  else journal.note(`everything is right after ${seconds} s`)
  for (const key of stored.superfluous()) journal.violation(`left in etcd: ${key}`)
  const { revision } = stored
  await sleep(stillMs)
  if (stored.revision !== revision)
    journal.violation(`etcd was written to with nothing to write: ${stored.revision - revision} times`)
}

async function wrongNames({ history, served, answered, stored, file }: Stage): Promise<string[]> {
  const found = [
    ['served', await served.read(ALL_NAMES)],
    ['answered', await answered.read(RECORDS)],
    ['stored', stored.read(RECORDS)],
    ['file', file.read(MACHINES)],
  ] as const
  return found.flatMap(([output, names]) =>
    Array.from(names).flatMap(([name, addresses]) => {
      const wanted = history.wanted(name)
      const has = new Set(addresses)
      const isRight = wanted.length === 0 ? has.size === 0 : wanted.some((each) => isSame(each, has))
      const told = wanted.map((each) => [...each].join(' ')).join(' or ')
      return isRight
        ? []
        : [`${output} has for ${name}: ${addresses.join(' ') || 'nothing'}; expected ${told || 'nothing'}`]
    }),
  )
}

function isSame(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && a.isSubsetOf(b)
}

function interrupted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(new Error('interrupted')), { once: true })
  })
}
