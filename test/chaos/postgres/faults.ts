// What can happen to the machines of a lab while clients use it. A fault does not wait for the last one to be over, nor for
// what it takes to recover. Whatever was stopped continues when the fault is over.

import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { commandOf } from '../../../src/targets/local/supervisor/process-table.ts'
import type { Random } from '../../fuzz/random.ts'
import { until } from '../../support/until.ts'
import type { MemberLab } from '../../support/member-lab.ts'
import type { Journal } from '../journal.ts'
import type { ListHistory } from './list-history.ts'

export interface FaultScene {
  readonly lab: MemberLab
  readonly random: Random
  readonly journal: Journal
  readonly history: ListHistory
  /** By address. */
  readonly machines: ReadonlyMap<string, string>
  readonly signal: AbortSignal
}

type Fault = (scene: FaultScene) => Promise<void>
type Process = 'patroni' | 'postgres'

/** Patroni's TTL in a stack that has no other. */
const TTL_MS = 20_000
const REWIND_TIMEOUT_MS = 60_000
const QUIET_MS = 60_000
const LOOK_MS = 20

/** The machine that acknowledged the last append; any, before there was one. */
function primary({ history, machines, lab, random }: FaultScene): string {
  return machines.get(history.last?.node ?? '') ?? random.pick(lab.members.postgres)
}

function replica(scene: FaultScene): string {
  const leader = primary(scene)
  return scene.random.pick(scene.lab.members.postgres.filter((name) => name !== leader))
}

type Victims = (scene: FaultScene) => readonly string[]
const thePrimary: Victims = (scene) => [primary(scene)]
const aReplica: Victims = (scene) => [replica(scene)]
const anEtcd: Victims = ({ lab, random }) => [random.pick(lab.members.etcd)]
const twoEtcd: Victims = ({ lab, random }) => random.shuffle([...lab.members.etcd]).slice(0, 2)

function killMachines(victims: Victims): Fault {
  return async (scene) => {
    for (const machine of victims(scene)) {
      scene.journal.note(`kill -9 all of ${machine}`)
      scene.lab.signalMachine(machine, 'SIGKILL')
    }
  }
}

function killProcess(victims: Victims, name: Process): Fault {
  return async (scene) => {
    for (const machine of victims(scene)) {
      const pid = (await scene.lab.pids())[`${machine}/${name}`]
      scene.journal.note(`kill -9 ${name} of ${machine}`)
      if (pid !== undefined) scene.lab.signal([pid], 'SIGKILL')
    }
  }
}

function stopMachines(victims: Victims, fromMs: number, toMs: number): Fault {
  return async (scene) => {
    const machines = victims(scene)
    const pids = machines.flatMap((machine) => scene.lab.machineProcesses(machine))
    await stopFor(scene, pids, machines.join(' and '), scene.random.between(fromMs, toMs))
  }
}

function stopProcess(victims: Victims, name: Process, fromMs: number, toMs: number): Fault {
  return async (scene) => {
    const [machine] = victims(scene)
    const pid = (await scene.lab.pids())[`${machine}/${name}`]
    const pauseMs = scene.random.between(fromMs, toMs)
    if (pid !== undefined) await stopFor(scene, [pid], `${name} of ${machine}`, pauseMs)
  }
}

async function stopFor({ lab, journal, signal }: FaultScene, pids: readonly number[], what: string, pauseMs: number) {
  journal.note(`${what} stops for ${pauseMs} ms`)
  lab.signal(pids, 'SIGSTOP')
  try {
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
  } finally {
    lab.signal(pids, 'SIGCONT')
  }
}

const killSupervisor: Fault = async ({ lab, journal }) => {
  const [, supervisor] = lab.supervisors()
  journal.note(`kill -9 the supervisor`)
  if (supervisor !== undefined) lab.signal([supervisor], 'SIGKILL')
}

/** The old primary is rewound; as soon as that has begun, one of the two is killed. */
function killDuringRewind(whom: 'source' | 'target'): Fault {
  return async (scene) => {
    const { lab, journal, signal, history } = scene
    // Without a primary that takes writes there is nothing to rewind.
    const before = history.acknowledgements
    await until('an append', () => signal.aborted || history.acknowledgements > before, QUIET_MS).catch(() => undefined)
    const old = primary(scene)
    const log = lab.path('machines', old, 'log/patroni.log')
    const rewinds = () => readFileSync(log, 'utf8').split('running pg_rewind from dbname').length
    const rewound = rewinds()
    const pids = lab.machineProcesses(old).filter(isPatroni)
    // Its fence as well: a PostgreSQL that is stopped in time has nothing that it would have to be rewound from.
    await stopFor(scene, pids, `Patroni of ${old}`, scene.random.between(TTL_MS + 5000, TTL_MS + 10_000))
    const deadline = performance.now() + REWIND_TIMEOUT_MS
    while (rewinds() <= rewound) {
      if (signal.aborted || performance.now() > deadline) return journal.note(`no pg_rewind at ${old}`)
      await sleep(LOOK_MS)
    }
    const victim = whom === 'target' ? old : primary(scene)
    journal.note(`pg_rewind runs at ${old}: kill -9 all of ${victim}`)
    lab.signalMachine(victim, 'SIGKILL')
  }
}

/** Or its fence. */
function isPatroni(pid: number): boolean {
  return commandOf(pid).some((word) => /\/(?:start-patroni|fence)\.py$/u.test(word))
}

function together(...faults: readonly Fault[]): Fault {
  return async (scene) => {
    await Promise.all(faults.map((fault) => fault(scene)))
  }
}

export const FAULTS = {
  'primary killed': killMachines(thePrimary),
  'Patroni of the primary killed': killProcess(thePrimary, 'patroni'),
  'PostgreSQL of the primary killed': killProcess(thePrimary, 'postgres'),
  'primary stopped': stopMachines(thePrimary, 2000, TTL_MS + 10_000),
  'Patroni of the primary stopped': stopProcess(thePrimary, 'patroni', TTL_MS, TTL_MS + 10_000),
  'PostgreSQL of the primary stopped': stopProcess(thePrimary, 'postgres', 2000, TTL_MS),
  'replica killed': killMachines(aReplica),
  'PostgreSQL of a replica killed': killProcess(aReplica, 'postgres'),
  'replica stopped': stopMachines(aReplica, 2000, TTL_MS + 10_000),
  'primary and a replica killed': together(killMachines(thePrimary), killMachines(aReplica)),
  'etcd member killed': killMachines(anEtcd),
  'etcd member stopped': stopMachines(anEtcd, 2000, 15_000),
  'two etcd members killed': killMachines(twoEtcd),
  'two etcd members stopped': stopMachines(twoEtcd, 2000, TTL_MS + 5000),
  'primary and an etcd member killed': together(killMachines(thePrimary), killMachines(anEtcd)),
  'Patroni of the primary and two etcd members killed': together(
    killProcess(thePrimary, 'patroni'),
    killMachines(twoEtcd),
  ),
  'supervisor killed': killSupervisor,
  'supervisor and primary killed': together(killSupervisor, killMachines(thePrimary)),
  'source killed during pg_rewind': killDuringRewind('source'),
  'target killed during pg_rewind': killDuringRewind('target'),
} satisfies Readonly<Record<string, Fault>>

export type FaultName = keyof typeof FAULTS
