// One run: a lab of three etcd members, two name servers and three PostgreSQL servers, clients that append to lists and read
// them, and faults, one after the other. At the end every member has to be back without help, all have the same, and the
// history of the clients has to be right.

import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../../src/lib/errors.ts'
import { Random } from '../../fuzz/random.ts'
import { MemberLab } from '../../support/member-lab.ts'
import { filesBelow } from '../../support/stack-lab.ts'
import { until } from '../../support/until.ts'
import { columns, Journal } from '../journal.ts'
import { FAULTS, type FaultName, type FaultScene } from './faults.ts'
import { ListClients } from './list-clients.ts'
import type { Verdict } from './list-history.ts'

export interface CampaignOptions {
  readonly seed: number
  /** Any faults until this time is over, unless they have an order. */
  readonly seconds: number
  readonly order: readonly FaultName[]
  readonly say: (line: string) => void
  /** Ends the run early. */
  readonly signal: AbortSignal
}

export interface CampaignResult {
  readonly violations: readonly string[]
  readonly summary: readonly string[]
  readonly acknowledged: number
  /** Where the logs are, when there was something to look into. */
  readonly kept: string | undefined
}

/** From the last fault until every member is back without help. */
export const RECOVERY_LIMIT_MS = 300_000
const DIGEST_LIMIT_MS = 60_000
const LOOK_MS = 500
const PAUSE_MS = [1000, 12_000] as const
const AFTERWARDS_MS = 2000
/** More of one kind would show nothing new. */
const MOST_TOLD = 5

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const journal = new Journal(options.say)
  const lab = new MemberLab(`chaos-${process.pid}`)
  const clients = new ListClients(lab, options.seed)
  const { history } = clients
  let [verdict, faults, recoveryMs, gapMs]: [Verdict | undefined, number, number, number] = [undefined, 0, 0, 0]
  try {
    await lab.up()
    journal.note('the lab is up')
    await clients.start()
    await until('the first append', () => history.acknowledgements > 0, RECOVERY_LIMIT_MS)
    const addresses = await lab.addresses()
    const machines = new Map(Array.from(addresses, ([name, address]) => [address, name]))
    const random = new Random(options.seed)
    const beganAt = performance.now()
    const scene = { lab, random, journal, history, machines, signal: options.signal }
    faults = await runFaults(scene, options)
    const endedAt = performance.now()
    await untilBack(lab)
    recoveryMs = performance.now() - endedAt
    journal.note(`every member is back after ${(recoveryMs / 1000).toFixed(1)} s`)
    const before = history.acknowledgements
    await until('appends are acknowledged', () => history.acknowledgements > before, RECOVERY_LIMIT_MS)
    gapMs = history.longestGap(beganAt, performance.now())
    await sleep(AFTERWARDS_MS)
  } catch (error) {
    journal.violation(messageOf(error))
  }
  await clients.stop()
  try {
    verdict = history.check(await clients.stored())
    tell(journal, verdict)
    await compareMembers(lab, clients, journal)
  } catch (error) {
    journal.violation(`the lists cannot be checked: ${messageOf(error)}`)
  }
  const kept = journal.violations.length > 0 ? journal.keep(await logsOf(lab)) : undefined
  await lab.close()
  const summary = table({ ...options, faults, gapMs, recoveryMs }, verdict)
  return {
    violations: journal.violations,
    summary: [...journal.counts(), '', ...summary],
    acknowledged: verdict?.acknowledged ?? 0,
    kept,
  }
}

async function runFaults(scene: FaultScene, { order, seconds, signal }: CampaignOptions): Promise<number> {
  const { random, journal } = scene
  const endAt = performance.now() + seconds * 1000
  let count = 0
  for (const name of schedule()) {
    journal.note(`${name} …`)
    journal.began(name)
    await FAULTS[name](scene)
    count++
    await sleep(random.between(...PAUSE_MS), undefined, { signal }).catch(() => undefined)
  }
  return count

  /** All of them before any comes again. */
  function* schedule(): Generator<FaultName> {
    if (order.length > 0) {
      for (const name of order) if (!signal.aborted) yield name
      return
    }
    for (;;)
      for (const name of random.shuffle(Object.keys(FAULTS) as FaultName[])) {
        if (signal.aborted || performance.now() > endAt) return
        yield name
      }
  }
}

/** Nothing is done but to wait. */
async function untilBack(lab: MemberLab): Promise<void> {
  let problems: readonly string[] = []
  const look = async () => {
    problems = await lab.problems().catch((error: unknown) => [messageOf(error)])
    if (problems.length > 0) await sleep(LOOK_MS)
    return problems.length === 0
  }
  await until('every member is back', look, RECOVERY_LIMIT_MS).catch((cause: unknown) => {
    throw new Error(`not every member came back: ${messageOf(cause)}; ${problems.join('; ')}`, { cause })
  })
  const wrong = await lab.miscounted()
  if (wrong.length > 0) throw new Error(`there are ${wrong.join(', ')}`)
}

/** Replicas have what the primary has; so has one that was rewound or copied. */
async function compareMembers(lab: MemberLab, clients: ListClients, journal: Journal): Promise<void> {
  const addresses = await lab.addresses()
  let digests: (string | undefined)[] = []
  const isSame = async () => {
    digests = await Promise.all(lab.members.postgres.map((name) => clients.digest(addresses.get(name) ?? '')))
    return digests[0] !== undefined && new Set(digests).size === 1
  }
  await until('the same lists on every member', isSame, DIGEST_LIMIT_MS).catch(() => {
    const found = lab.members.postgres.map((name, index) => `${name} ${digests[index] ?? 'does not answer'}`)
    journal.violation(`the members have different lists: ${found.join(', ')}`)
  })
}

function tell(journal: Journal, verdict: Verdict): void {
  for (const kind of ['lost', 'misplaced', 'doubled', 'phantoms', 'dirty', 'backward', 'splitBrain'] as const) {
    const found = verdict[kind]
    if (found.length === 0) continue
    const more = found.length > MOST_TOLD ? ` and ${found.length - MOST_TOLD} more` : ''
    journal.violation(`${kind}: ${found.slice(0, MOST_TOLD).join('; ')}${more}`)
  }
}

interface Run {
  readonly seed: number
  readonly seconds: number
  readonly faults: number
  readonly gapMs: number
  readonly recoveryMs: number
}

function table({ seed, seconds, faults, gapMs, recoveryMs }: Run, verdict: Verdict | undefined): string[] {
  const count = (found: readonly string[] | undefined) => String(found?.length ?? '–')
  const text = (number: number | undefined) => String(number ?? '–')
  const cells: readonly (readonly [string, string])[] = [
    ['seed', text(seed)],
    ['seconds', text(seconds)],
    ['faults', text(faults)],
    ['acknowledged', text(verdict?.acknowledged)],
    ['unknown', text(verdict?.unknown)],
    ['lost', count(verdict?.lost)],
    ['misplaced', count(verdict?.misplaced)],
    ['twice', count(verdict?.doubled)],
    ['phantom', count(verdict?.phantoms)],
    ['reads', text(verdict?.reads)],
    ['dirty', count(verdict?.dirty)],
    ['not monotonic', count(verdict?.backward)],
    ['stale at an old primary', text(verdict?.stale)],
    ['split brain', count(verdict?.splitBrain)],
    ['longest write gap s', (gapMs / 1000).toFixed(1)],
    ['all back after s', recoveryMs === 0 ? 'never' : (recoveryMs / 1000).toFixed(1)],
  ]
  return columns(cells)
}

async function logsOf(lab: MemberLab): Promise<Map<string, string>> {
  const status = await lab.run('status')
  const logs = [lab.path('supervisor'), lab.path('machines')]
    .filter(existsSync)
    .flatMap(filesBelow)
    .filter((file) => /\.log(?:\.\d)?$/u.test(file))
  const nameOf = (file: string) => file.slice(lab.path().length + 1).replaceAll('/', '_')
  return new Map([
    ['status.txt', status.stdout + status.stderr],
    ...logs.map((file) => [nameOf(file), readFileSync(file, 'utf8')] as const),
  ])
}
