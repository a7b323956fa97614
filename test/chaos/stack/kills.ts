// Processes that are killed or stopped: one, all of a machine, all of a kind, all there are, and those who look after them.

import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { filesBelow } from '../../support/stack-lab.ts'
import { until } from '../../support/until.ts'
import type { MemberLab, Members } from '../../support/member-lab.ts'
import type { StackEvent } from './scene.ts'

/** Patroni's TTL in a stack that does not say otherwise. */
const TTL_MS = 20_000
const ELECTION_TIMEOUT_MS = 120_000
/** Over a connection from before it was replaced; more would show nothing new. */
const MOST_LATE_WRITES = 100

export const killProcess: StackEvent = async ({ lab, random, journal }) => {
  const machine = random.pick(lab.machines)
  const pid = random.pick(lab.machineProcesses(machine))
  journal.note(`kill -9 ${pid} of ${machine}`)
  lab.signal([pid], 'SIGKILL')
}

export const killService: StackEvent = async ({ lab, random, journal }) => {
  const [service, pid] = random.pick(Object.entries(await lab.pids()))
  journal.note(`kill -9 ${pid}, ${service}`)
  lab.signal([pid], 'SIGKILL')
}

export const killMachine: StackEvent = async ({ lab, random, journal }) => {
  const machine = random.pick(lab.machines)
  journal.note(`kill -9 all of ${machine}`)
  lab.signalMachine(machine, 'SIGKILL')
}

export const killPrimary: StackEvent = async ({ lab, journal }) => {
  const machine = await lab.primary()
  journal.note(`kill -9 all of ${machine}`)
  lab.signalMachine(machine, 'SIGKILL')
}

export const killPrimaryServer: StackEvent = async ({ lab, journal }) => {
  const machine = await lab.primary()
  const pid = (await lab.pids())[`${machine}/postgres`]
  journal.note(`kill -9 ${pid}, PostgreSQL of ${machine}`)
  lab.signal([pid], 'SIGKILL')
}

export function killKind(kind: keyof Members): StackEvent {
  return async ({ lab }) =>
    lab.signal(
      lab.members[kind].flatMap((machine) => lab.machineProcesses(machine)),
      'SIGKILL',
    )
}

/** Until another one leads. */
export const losePrimary: StackEvent = async ({ lab, journal }) => {
  const machine = await lab.primary()
  journal.note(`kill -9 all of ${machine}, which nobody starts again`)
  await lab.withoutMachine(machine, () => anotherLeads(lab, machine))
}

/** It comes back believing that it leads, and somebody is still connected to it who goes on writing. */
export const pausePrimary: StackEvent = async ({ lab, random, journal, writer, signal }) => {
  const machine = await lab.primary()
  const session = await writer.connect((await lab.addresses()).get(machine) ?? '')
  const pauseMs = TTL_MS + random.between(2000, 15_000)
  journal.note(`${machine} stops for ${pauseMs} ms`)
  lab.signalMachine(machine, 'SIGSTOP')
  try {
    await sleep(pauseMs, undefined, { signal })
    await anotherLeads(lab, machine)
  } finally {
    lab.signalMachine(machine, 'SIGCONT')
  }
  if (session === undefined) return
  let accepted = 0
  while (accepted < MOST_LATE_WRITES && (await writer.insert(session))) accepted++
  session.end()
  journal.note(`the old primary acknowledged ${accepted} more: ${session.errors.split('\n', 1)[0]}`)
}

export const pauseMachine: StackEvent = async ({ lab, random, journal, signal }) => {
  const machine = random.pick(lab.machines)
  const pauseMs = random.between(500, TTL_MS)
  journal.note(`${machine} stops for ${pauseMs} ms`)
  lab.signalMachine(machine, 'SIGSTOP')
  try {
    await sleep(pauseMs, undefined, { signal })
  } finally {
    lab.signalMachine(machine, 'SIGCONT')
  }
}

export const killSupervisor: StackEvent = async (scene) => {
  const { lab, random } = scene
  const [, supervisor] = lab.supervisors()
  lab.signal([supervisor], 'SIGKILL')
  // What ends while nobody looks is started by the next one.
  if (random.chance(0.5)) await killService(scene)
}

export const killKeeper: StackEvent = async ({ lab }) => {
  const [keeper] = lab.supervisors()
  lab.signal([keeper], 'SIGKILL')
}

/** One after the other; both at once would leave nobody, which is what a power cut does. */
export const killKeeperThenSupervisor: StackEvent = async ({ lab }) => {
  const [keeper, supervisor] = lab.supervisors()
  lab.signal([keeper], 'SIGKILL')
  await until('a new keeper', () => {
    const [found, ...others] = lab.supervisors()
    return others.length === 1 && found !== keeper
  })
  lab.signal([supervisor], 'SIGKILL')
}

export const losePower: StackEvent = async ({ lab }) => {
  await until('the end of all', () => {
    const left = [...lab.supervisors(), ...lab.processes()]
    lab.signal(left, 'SIGKILL')
    return left.length === 0
  })
  await lab.up()
}

/** Who is started next writes a new one. */
export const deleteLogs: StackEvent = async (scene) => {
  const { lab } = scene
  const logs = [lab.path('supervisor'), ...lab.machines.map((machine) => lab.path('machines', machine, 'log'))]
    .flatMap(filesBelow)
    .filter((file) => /\.log(?:\.\d)?$/u.test(file))
  for (const file of logs) rmSync(file)
  await killService(scene)
  await lab.done('logs', lab.machines[0], '--file', lab.name)
}

async function anotherLeads(lab: MemberLab, machine: string): Promise<void> {
  const isOther = async () => (await lab.primary().catch(() => machine)) !== machine
  await until(`another primary than ${machine}`, isOther, ELECTION_TIMEOUT_MS)
}
