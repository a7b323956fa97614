// One run: a lab of three etcd members, two name servers and three PostgreSQL servers, a writer that goes by the name of the
// primary, and events, one after the other. After each, everything has to come back by itself, once; at the end, every
// acknowledged write has to be there, and nothing is to be left when the stack is taken away.

import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../../src/lib/errors.ts'
import { readProcess } from '../../../src/targets/local/supervisor/process-table.ts'
import { Random } from '../../fuzz/random.ts'
import { MemberLab } from '../../support/member-lab.ts'
import { PrimaryNames } from '../../support/primary-names.ts'
import { type Outcome, PrimaryWriter } from '../../support/primary-writer.ts'
import { filesBelow } from '../../support/stack-lab.ts'
import { untilRecovered } from '../../support/recovery.ts'
import { Journal } from '../journal.ts'
import { EVENTS, type EventName } from './events.ts'
import { FigureTable } from './figures.ts'
import type { Scene } from './scene.ts'

export interface CampaignOptions {
  readonly seed: number
  /** Every event once, then any, until this time is over; unless they have an order. */
  readonly seconds: number
  readonly order: readonly EventName[]
  readonly say: (line: string) => void
  /** Ends the run early. */
  readonly signal: AbortSignal
}

export interface CampaignResult {
  readonly violations: readonly string[]
  readonly summary: readonly string[]
  /** Where the logs are, when there was something to look into. */
  readonly kept: string | undefined
}

/** After an election, for the name to follow. */
const NAME_LIMIT_MS = 1000

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const journal = new Journal(options.say)
  const lab = new MemberLab('chaos')
  const table = new FigureTable(lab.members.dns)
  const writer = new PrimaryWriter(lab)
  const names = new PrimaryNames(lab)
  const scene: Scene = { lab, random: new Random(options.seed), journal, writer, names, signal: options.signal }
  let outcome: Outcome | undefined
  try {
    await lab.up()
    journal.note('the lab is up')
    await Promise.all([writer.start(), names.start()])
    await runEvents(scene, options, table)
    await Promise.all([writer.stop(), names.stop()])
    outcome = await checkEnd(scene)
  } catch (error) {
    journal.violation(`the run itself failed: ${messageOf(error)}`)
  }
  const kept = journal.violations.length > 0 ? journal.keep(await logsOf(lab)) : undefined
  await checkNothingLeft(scene)
  await lab.close()
  const { acknowledged = 0, unknown = 0, lost = [], doubled = [] } = outcome ?? {}
  const summary = [
    ...table.lines(),
    `writes acknowledged  ${acknowledged} (and ${unknown} of unknown outcome)`,
    `lost                 ${lost.length}`,
    `stored twice         ${doubled.length}`,
    `violations           ${journal.violations.length}`,
  ]
  return { violations: journal.violations, summary, kept }
}

function* schedule({ random, signal }: Scene, { order, seconds }: CampaignOptions): Generator<EventName> {
  const endAt = performance.now() + seconds * 1000
  const all = Object.keys(EVENTS) as EventName[]
  const first = order.length > 0 ? order : random.shuffle([...all])
  for (const event of first) if (!signal.aborted) yield event
  while (order.length === 0 && performance.now() < endAt && !signal.aborted) yield random.pick(all)
}

/** There is no going on with a stack that did not recover; what was written to it is looked at all the same. */
async function runEvents(scene: Scene, options: CampaignOptions, table: FigureTable): Promise<void> {
  for (const event of schedule(scene, options)) {
    try {
      await runEvent(scene, event, table)
    } catch (error) {
      return scene.journal.violation(`no way on after "${event}": ${messageOf(error)}`)
    }
  }
}

async function runEvent(scene: Scene, event: EventName, table: FigureTable): Promise<void> {
  const { lab, journal, writer, names, random } = scene
  journal.note(`${event} …`)
  journal.began(event)
  const beganAt = performance.now()
  await EVENTS[event](scene)
  const doneAt = performance.now()
  await untilRecovered(lab, writer)
  const recoverySeconds = (performance.now() - doneAt) / 1000
  await names.learnAddresses()
  const elections = names.electionsSince(beganAt)
  for (const { member, delays } of elections)
    for (const [server, ms] of delays)
      if (ms > NAME_LIMIT_MS)
        journal.violation(`${server} answered with ${member} ${Math.round(ms)} ms after it was elected`)
  const gapSeconds = writer.gapSince(beganAt)
  table.add(event, { lastedSeconds: (doneAt - beganAt) / 1000, recoverySeconds, gapSeconds, elections })
  journal.note(`ready after ${recoverySeconds.toFixed(1)} s, longest write gap ${gapSeconds.toFixed(1)} s`)
  for (const wrong of await lab.miscounted()) journal.violation(`after "${event}" there are ${wrong}`)
  await sleep(random.between(500, 3000))
}

async function checkEnd({ lab, journal, writer }: Scene): Promise<Outcome> {
  const outcome = await writer.outcome()
  for (const number of outcome.lost) journal.violation(`the write ${number} was acknowledged and is lost`)
  for (const number of outcome.doubled) journal.violation(`the write ${number} was stored twice`)
  const { code, stdout } = await lab.run('status')
  if (code !== 0) journal.violation(`status ends with ${code}\n${stdout}`)
  const changes = await lab.effects()
  if (changes.length > 0) journal.violation(`up would change something: ${changes.join(', ')}`)
  return outcome
}

async function checkNothingLeft({ lab, journal }: Scene): Promise<void> {
  const before = [...lab.supervisors(), ...lab.processes()]
  const { code, stderr } = await lab.run('down', '--purge', '--yes')
  if (code !== 0) journal.violation(`down ends with ${code}: ${stderr}`)
  const left = before.filter((pid) => readProcess(pid) !== undefined)
  if (left.length > 0) journal.violation(`processes left by down: ${left.join(', ')}`)
  if (existsSync(lab.path())) journal.violation(`down has left ${filesBelow(lab.path()).join(', ')}`)
}

async function logsOf(lab: MemberLab): Promise<Map<string, string>> {
  const status = await lab.run('status')
  const machines = existsSync(lab.path('machines')) ? filesBelow(lab.path('machines')) : []
  const logs = [lab.path('supervisor/supervisor.log'), ...machines].filter((file) => /\.log(?:\.\d)?$/u.test(file))
  const nameOf = (file: string) => file.slice(lab.path().length + 1).replaceAll('/', '_')
  return new Map([
    ['status.txt', status.stdout + status.stderr],
    ...logs.filter(existsSync).map((file) => [nameOf(file) || basename(file), readFileSync(file, 'utf8')] as const),
  ])
}
