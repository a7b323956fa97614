// Members whose PostgreSQL cannot start with the data they have, while another member leads: Patroni repeats the start for
// ever. Their data has to be copied again, which only a user can decide; a failed pg_rewind is replaced without that.

import { setTimeout as sleep } from 'node:timers/promises'
import { HoldfastError } from '../../lib/errors.ts'
import type { PatroniAccess } from './access.ts'
import { PatroniApi, type PatroniStatus } from './patroni-api.ts'
import type { PatroniSpec } from './spec.ts'
import { leaderOf, lookAt, type Sight } from './status.ts'

/** Not `crashed`: Patroni keeps that state while a crashed PostgreSQL recovers. */
const FAILED: readonly string[] = ['start failed', 'restart failed', 'restart failed (start failed)']
/** Between two attempts to start, and during a recovery, however long it takes. */
const STARTING = 'starting'
/** A start that fails at once takes some tenths of a second. */
const LOOK_MS = 250
/** Loops of Patroni. One start and its failure take at most two of them. */
const MOST_LOOPS = 6
const STARTING_MS = 60_000
const MIB = 1 << 20

export interface UnusableData {
  /** Machines whose data is copied again. */
  readonly unusable: ReadonlySet<string>
  /** Machines whose data cannot be kept next to a copy, with the bytes that are missing; undefined where Patroni does not report it. */
  readonly cramped: ReadonlyMap<string, number | undefined>
}

/** A cluster in which every member runs costs one look, otherwise some loops of Patroni. */
export async function membersWithUnusableData(
  patroni: PatroniAccess,
  { loopWait }: Pick<PatroniSpec, 'loopWait'>,
  signal: AbortSignal,
): Promise<UnusableData> {
  const sights = [await lookAt(patroni, signal)]
  const deadline = performance.now() + MOST_LOOPS * loopWait * 1000
  const isUndecided = (name: string) => !hasFailedTwice(name, sights)
  while (notStartedIn(sights).some(isUndecided) && performance.now() < deadline) {
    await sleep(LOOK_MS, undefined, { signal })
    sights.push(await lookAt(patroni, signal))
  }
  const last = sights[sights.length - 1]
  const found = unusableIn(sights).flatMap((patroniName) => {
    const status = statusOf(patroniName, last)
    const machine = patroni.members.find((member) => member.patroniName === patroniName)?.name
    return machine === undefined || status === undefined ? [] : [{ machine, status }]
  })
  return {
    unusable: new Set(found.filter(({ status }) => mayBeReplaced(status)).map(({ machine }) => machine)),
    cramped: new Map(
      found
        .filter(({ status }) => !mayBeReplaced(status))
        .map(({ machine, status }) => [machine, status.room_missing] as const),
    ),
  }
}

/** Begins to copy the data of the primary to a machine, unless it runs, recovers or gets a copy by now. */
export async function copyAgain(
  { members, credentials }: PatroniAccess,
  machine: { readonly name: string; readonly address: string },
  signal: AbortSignal,
): Promise<void> {
  if (!members.some(({ name }) => name === machine.name)) return
  const api = new PatroniApi(machine.address, credentials)
  const deadline = performance.now() + STARTING_MS
  let status = await api.status(signal)
  while (status.state === STARTING && performance.now() < deadline) {
    await sleep(LOOK_MS, undefined, { signal })
    status = await api.status(signal)
  }
  if (!FAILED.includes(status.state)) return
  if (!mayBeReplaced(status))
    throw new HoldfastError(
      'NoRoom',
      `Cannot copy the data of the primary to "${machine.name}": ${roomProblem(status.room_missing)}; expected room for both`,
      { hint: ROOM_HINT },
    )
  await api.reinitialize(signal)
}

export const ROOM_HINT =
  'make room and run "holdfast up" again; or see in the log why PostgreSQL does not start, and repair or remove the data by hand'

/** Follows the name of a machine and a colon. */
export function roomProblem(missing: number | undefined): string {
  return missing === undefined
    ? 'its Patroni does not report whether the old data can be kept'
    : `${Math.ceil(missing / MIB)} MiB are missing to keep the old data next to the copy`
}

/** Data that pg_rewind has left half way is of no use; all other data is kept. */
function mayBeReplaced({ rewind_failed, room_missing }: PatroniStatus): boolean {
  return rewind_failed === true || (room_missing !== undefined && room_missing <= 0)
}

/** Those that failed to start repeatedly, and did not run in any look, while another member led all the time. Pure. */
export function unusableIn(sights: readonly Sight[]): string[] {
  // PostgreSQL is not started with data that pg_rewind has left half way.
  const isMarked = (name: string) => sights.every((sight) => statusOf(name, sight)?.rewind_failed === true)
  return notStartedIn(sights).filter((name) => isMarked(name) || hasFailedTwice(name, sights))
}

/** It failed, was started again, and has failed again in the last look: a start that fails once may succeed the next time. */
function hasFailedTwice(name: string, sights: readonly Sight[]): boolean {
  const states = sights.map((sight) => statusOf(name, sight)?.state ?? '')
  const first = states.findIndex((state) => FAILED.includes(state))
  return first >= 0 && states.indexOf(STARTING, first) > first && FAILED.includes(states[states.length - 1])
}

/** Patroni tries again and again: between two failures a member is starting. */
function notStartedIn(sights: readonly Sight[]): string[] {
  const names = [...sights[0].statuses.keys()]
  return names.filter((name) =>
    sights.every((sight) => {
      const state = statusOf(name, sight)?.state ?? ''
      return isLedByAnother(name, sight) && (FAILED.includes(state) || state === STARTING)
    }),
  )
}

function isLedByAnother(name: string, sight: Sight): boolean {
  const leader = leaderOf(sight)
  const status = leader === undefined ? undefined : statusOf(leader.name, sight)
  return leader !== undefined && leader.name !== name && status?.state === 'running'
}

/** Undefined for one that does not answer. */
function statusOf(name: string, { statuses }: Sight): PatroniStatus | undefined {
  const status = statuses.get(name)
  return typeof status === 'string' ? undefined : status
}
