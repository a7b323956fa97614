// From nothing to a healthy lab, phase by phase, as `up` itself tells them; and away with it again.

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { MemberLab, Members } from '../../test/support/member-lab.ts'
import { withLab } from './lab.ts'

/** Seconds since the command was given, by what has been reached. */
export type Start = Readonly<Record<Moment, number>>

export const MOMENTS = {
  planned: 'plan and credentials: the first machine is started',
  etcd: 'etcd: all members ready',
  access: 'users and roles: name servers and PostgreSQL are started',
  names: 'names: both servers answer',
  leader: 'PostgreSQL: a primary',
  standby: 'PostgreSQL: a synchronous standby',
  complete: 'PostgreSQL: all members stream',
  total: '`up` has ended, everything ready',
  gone: '`down --purge`, from its start',
} as const

type Moment = keyof typeof MOMENTS

const LAUNCHER = join(import.meta.dirname, '../../bin/holdfast')

export async function startRounds(rounds: number, progress: (line: string) => void): Promise<Start[]> {
  const starts: Start[] = []
  for (let round = 1; round <= rounds; round++) {
    const start = await startOnce()
    starts.push(start)
    progress(`start ${round}/${rounds}: ${start.total.toFixed(1)} s`)
  }
  return starts
}

function startOnce(): Promise<Start> {
  return withLab(async (lab) => {
    const reached = await bringUp(lab)
    const downAt = performance.now()
    await lab.done('down', '--purge', '--yes')
    return { ...reached, gone: (performance.now() - downAt) / 1000 }
  })
}

async function bringUp(lab: MemberLab): Promise<Omit<Start, 'gone'>> {
  const start = performance.now()
  const up = spawn(LAUNCHER, ['up', '--yes', '--detach', '--state', lab.state], {
    cwd: lab.directory,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const watch = new MomentWatch(lab.members, () => (performance.now() - start) / 1000)
  const told = readLines(up, (line) => watch.take(line))
  const [code] = (await once(up, 'exit')) as [number | null]
  const total = (performance.now() - start) / 1000
  await told
  if (code !== 0) throw new Error(`up ended with ${code}: ${watch.lastLine}`)
  return { ...watch.reached(), total }
}

async function readLines(child: ChildProcessByStdio<null, null, Readable>, take: (line: string) => void) {
  for await (const line of createInterface(child.stderr)) take(line)
}

/** Reads the progress of `up`: lines such as `   3.1 s  etcd-2: leader`. */
class MomentWatch {
  readonly #members: Members
  readonly #clock: () => number
  readonly #states = new Map<string, string>()
  readonly #reached = new Map<Moment, number>()
  lastLine = ''

  constructor(members: Members, clock: () => number) {
    this.#members = members
    this.#clock = clock
  }

  take(line: string): void {
    this.lastLine = line
    const [, machine, state] = /^\s*[\d.]+ s {2}(\S+): (.*)$/u.exec(line) ?? []
    if (machine === undefined) return
    this.#states.set(machine, state)
    const { etcd, dns, postgres } = this.#members
    if (etcd.includes(machine) && state === 'starting') this.#note('planned')
    if (this.#are(etcd, ['leader', 'follower'])) this.#note('etcd')
    if (!etcd.includes(machine) && state === 'starting') this.#note('access')
    if (this.#are(dns, ['server'])) this.#note('names')
    if (state === 'primary') this.#note('leader')
    if (state === 'sync standby') this.#note('standby')
    if (this.#reached.has('standby') && this.#are(postgres, ['primary', 'sync standby', 'replica']))
      this.#note('complete')
  }

  reached(): Omit<Start, 'gone' | 'total'> {
    const at = (moment: Moment) => {
      const seconds = this.#reached.get(moment)
      if (seconds === undefined) throw new Error(`up has not told of "${MOMENTS[moment]}"`)
      return seconds
    }
    return {
      planned: at('planned'),
      etcd: at('etcd'),
      access: at('access'),
      names: at('names'),
      leader: at('leader'),
      standby: at('standby'),
      complete: at('complete'),
    }
  }

  #are(machines: readonly string[], states: readonly string[]): boolean {
    return machines.every((machine) => states.includes(this.#states.get(machine) ?? ''))
  }

  /** The first time counts. */
  #note(moment: Moment): void {
    if (!this.#reached.has(moment)) this.#reached.set(moment, this.#clock())
  }
}
