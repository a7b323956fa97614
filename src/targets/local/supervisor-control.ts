// Starting, finding, awaiting and ending the supervisor from the outside. Nothing is said to it but by files; whether
// it has done what they ask for is seen in what it writes.

import { realpathSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { HoldfastError } from '../../lib/errors.ts'
import type { BootUnit } from './boot-unit.ts'
import { type Layout, layoutOf } from './layout.ts'
import { findKeeper, findSupervisor, startKeeper } from './supervisor/keeper.ts'
import type { ObservedMachine } from './supervisor/observed.ts'
import { commandOf } from './supervisor/process-table.ts'
import { findObserved } from './wanted.ts'

const LOOK_MS = 20
/** It may have ended, for want of work, just before it was given some. */
const ENSURE_MS = 100
/** A keeper without a supervisor may be about to start one. */
const KEEPER_ALONE_MS = 1000
const END_TIMEOUT_MS = 15_000

export interface Expectation {
  readonly machine: string
  /** Completes "Cannot …". */
  readonly what: string
  readonly timeoutMs: number
  readonly isMet: (observed: ObservedMachine) => boolean
}

/** How a supervisor is started. */
export interface SupervisorStart {
  /** Gives the words that start our own program. */
  readonly program: () => Promise<readonly string[]>
  /** Undefined where systemd is not to start it. */
  readonly bootUnit: BootUnit | undefined
}

export async function ensureSupervisor(layout: Layout, { program, bootUnit }: SupervisorStart): Promise<void> {
  if (findKeeper(layout) !== undefined) return
  const words = await program()
  await bootUnit?.install(words)
  await bootUnit?.start()
  // The keeper of the unit may not have written its id yet; a second one ends by itself.
  if (findKeeper(layout) === undefined) startKeeper(layout, superviseCommand(layout, words))
}

/** As the unit of systemd does it, whose command ends in three words of ours: with the program that runs now. */
export function startSupervisor(directory: string): void {
  const layout = layoutOf(realpathSync(directory))
  startKeeper(layout, superviseCommand(layout, commandOf('self').slice(0, -3)))
}

/** Takes over from a supervisor of another version of the program. Services do not notice. */
export async function renewSupervisor(layout: Layout, program: readonly string[]): Promise<void> {
  const running = findKeeper(layout)?.command
  if (running === undefined || running.join('\0') === superviseCommand(layout, program).join('\0')) return
  await endSupervisor(layout)
}

/** Resolves when the supervisor has done what is expected of it. */
export async function awaitSupervisor(
  layout: Layout,
  start: SupervisorStart,
  { machine, what, timeoutMs, isMet }: Expectation,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  for (let ensureAt = 0; ; ) {
    const now = performance.now()
    if (now >= ensureAt) {
      await ensureSupervisor(layout, start)
      ensureAt = now + ENSURE_MS
    }
    const observed = findObserved(layout, machine)
    if (observed !== undefined && isMet(observed)) return
    if (now > deadline) throw silent(layout, what, timeoutMs)
    await sleep(LOOK_MS)
  }
}

/** Ends it and its keeper; what runs goes on running. */
export async function endSupervisor(layout: Layout): Promise<void> {
  const told = new Set<number>()
  const start = performance.now()
  for (let aloneSince = start; ; ) {
    const now = performance.now()
    const supervisor = findSupervisor(layout)
    const keeper = findKeeper(layout)?.pid
    if (supervisor === undefined && keeper === undefined) return
    if (now - start > END_TIMEOUT_MS) throw silent(layout, 'end the supervisor', END_TIMEOUT_MS)
    if (supervisor !== undefined) aloneSince = now
    const pid = supervisor ?? (now - aloneSince > KEEPER_ALONE_MS ? keeper : undefined)
    if (pid !== undefined && !told.has(pid)) {
      told.add(pid)
      terminate(pid)
    }
    await sleep(LOOK_MS)
  }
}

function superviseCommand({ directory }: Layout, program: readonly string[]): string[] {
  return [...program, 'supervise', directory]
}

function terminate(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM')
  } catch {
    // It has ended meanwhile.
  }
}

function silent({ log }: Layout, what: string, timeoutMs: number): HoldfastError {
  return new HoldfastError(
    'SupervisorSilent',
    `Cannot ${what}: the supervisor has not done it within ${timeoutMs / 1000} s`,
    {
      hint: `its log is ${log}`,
      retryable: true,
    },
  )
}
