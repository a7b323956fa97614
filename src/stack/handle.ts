// A stack by its directory alone: what can be done with it without its file, which may be gone or broken by now.

import { randomUUID } from 'node:crypto'
import { rm, rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { oneOf } from '../lib/closest.ts'
import { HoldfastError } from '../lib/errors.ts'
import type { MachineKind } from '../machine/machine.ts'
import { hasLocalMachines } from '../targets/local/has-local-machines.ts'
import type { Target } from '../targets/target.ts'
import { allOrFirstFailure } from './all-or-first-failure.ts'
import { type StackDirectory, stackDirectory } from './directory.ts'
import { elsewhere, isForeign, leftover, otherMachines } from './down-errors.ts'
import { hypervisorsOf } from './homes.ts'
import { withLock } from './lock.ts'
import { openPlace } from './places/open-place.ts'
import type { Place, PlaceContext } from './places/place.ts'
import type { Progress } from './progress.ts'
import { forgetHypervisors, type StackRecord, writeRecord } from './record.ts'
import { changedMeanwhile, isLost, isSame, placeUnknown, recall, recordOf, type Remembered } from './remembered.ts'
import type { Stack, TargetName } from './stack.ts'

export interface HandleContext extends Pick<PlaceContext, 'isRoot' | 'env' | 'stopSignal'> {
  /** Where all stacks are kept. */
  readonly state: string
  /** Of the stack. */
  readonly name: string
  /** Machines of a stack of that name that was made from another place are taken for its own. */
  readonly takesForeign?: boolean
  /** Hypervisors that are gone for good, and are not asked any more. */
  readonly without?: readonly string[]
}

/** Where the machines are. */
export interface Placing extends Pick<PlaceContext, 'stackId' | 'hypervisors' | 'homes' | 'hardware'> {
  readonly target: TargetName
  /** What that was decided by. */
  readonly remembered: Remembered
}

/** `stop`: processes only. `keep-data`: the machines, but not their data. `purge`: everything. */
export type DownHow = 'stop' | 'keep-data' | 'purge'
const ENDED = { stop: 'stopped', 'keep-data': 'removed, its data are kept', purge: 'removed' } as const

/**
 * Who needs others goes before them. Members of etcd go one by one: a leader hands over before it goes, and would wait in vain for
 * one that is just going, too.
 */
const STOP_ORDER: readonly MachineKind[] = ['haproxy', 'postgres', 'dns', 'etcd']

export class StackHandle {
  readonly name: string
  readonly directory: StackDirectory
  readonly place: Place
  #progress: Progress | undefined
  #remembered: Remembered

  /** By what was remembered of it; where that is lost, by its machines in its directory. */
  static async find(context: HandleContext): Promise<StackHandle> {
    const directory = stackDirectory(context.state, context.name)
    const remembered = await recall(directory)
    const kept = recordOf(remembered)
    if (kept === undefined && !hasLocalMachines(directory.path)) throw placeUnknown(context.name, directory, remembered)
    const record = withoutGone(kept, context.without)
    const { target = 'local', hypervisors = [], id: stackId = randomUUID() } = record ?? {}
    const homes = new Map(Object.entries(record?.homes ?? {}))
    return new StackHandle(context, { target, stackId, hypervisors, homes, hardware: new Map(), remembered })
  }

  /**
   * By its file, where nothing is remembered of it, or that is lost. Its machines are in its directory, else where the file says; there,
   * nothing tells them from those of another stack of that name.
   */
  static async findByFile(stack: Stack, context: Omit<HandleContext, 'name'>): Promise<StackHandle> {
    const { name } = stack
    const directory = stackDirectory(context.state, name)
    const remembered = await recall(directory)
    const isHere = hasLocalMachines(directory.path)
    if (!isHere && isLost(remembered, directory) && context.takesForeign !== true)
      throw placeUnknown(name, directory, remembered)
    const target = isHere ? 'local' : stack.target
    const hypervisors = withoutThose(hypervisorsOf(stack), context.without)
    const stackId = randomUUID()
    return new StackHandle({ ...context, name }, { target, stackId, hypervisors, hardware: new Map(), remembered })
  }

  constructor({ state, name, ...context }: HandleContext, { target, remembered, ...machines }: Placing) {
    this.name = name
    this.#remembered = remembered
    this.directory = stackDirectory(state, name)
    this.place = openPlace(target, {
      ...context,
      ...machines,
      stack: name,
      directory: this.directory,
      report: (event) => this.#progress?.(event),
    })
  }

  /** From now on, what machines are at is told there. */
  protected listen(progress: Progress): void {
    this.#progress = progress
  }

  /** Rejects while another command is changing the stack. */
  async refuseLocked(): Promise<void> {
    await withLock(this.directory.path, () => Promise.resolve())
  }

  /**
   * Nobody else changes the stack while the work is done; and nobody has done so since it was opened, which may be long ago: the user was
   * asked in between. The work gets what is remembered.
   */
  protected alone(work: (record: StackRecord | undefined) => Promise<void>): Promise<void> {
    return withLock(this.directory.path, async () => {
      const now = await recall(this.directory)
      if (!isSame(this.#remembered, now)) throw changedMeanwhile(this.name)
      await work(recordOf(now))
    })
  }

  protected async remember(record: StackRecord): Promise<void> {
    await writeRecord(this.directory.record, record)
    this.#remembered = record
  }

  get target(): Target {
    return this.place.target
  }

  /** Its machines, as far as they can be told. Rejects when there are none but those of another stack of that name. */
  async found(): Promise<ReadonlyMap<string, MachineKind | undefined>> {
    const machines = await this.target.machines()
    const foreign = this.target.unread().find(isForeign)
    if (machines.size === 0 && foreign !== undefined) throw elsewhere(this.name, foreign)
    return machines
  }

  /**
   * Needs nothing of what machines can spoil: neither their files nor ours about them. `confirmed`: the machines that the user has
   * confirmed; others are an error. Undefined when the user was not asked.
   */
  async down(how: DownHow, progress: Progress, confirmed?: readonly string[]): Promise<void> {
    this.listen(progress)
    await this.alone(async (record) => {
      const machines = [...(await this.found())]
      const names = machines.map(([name]) => name)
      if (confirmed !== undefined && !isDeepStrictEqual(names.toSorted(), confirmed.toSorted()))
        throw otherMachines(this.name, names)
      if (how !== 'purge') await this.#rememberStop(record)
      const unread = this.target.unread()
      const left = unread.filter((each) => !isForeign(each))
      for (const { where } of unread.filter(isForeign)) {
        const message = `${where} belongs to another stack of that name; it is left alone`
        progress({ machine: undefined, state: 'warning', message })
      }
      // Of one whose kind was lost, what is to be removed and what is its data was lost, too.
      const lost = machines.filter(([, kind]) => kind === undefined)
      await allOrFirstFailure(lost.map(([name]) => this.#stop(name, 'stop', progress)))
      for (const each of STOP_ORDER) {
        const stops = machines
          .filter(([, kind]) => kind === each)
          .map(
            ([name]) =>
              () =>
                this.#stop(name, how, progress),
          )
        if (each === 'etcd') for (const stop of stops) await stop()
        else await allOrFirstFailure(stops.map((stop) => stop()))
      }
      await this.target.shutdown()
      if (left.length > 0) throw leftover(this.name, left)
      if (how === 'purge') await this.#removeDirectory()
    })
  }

  /** So that `status` can tell a stack that was stopped from one that fails. A full disk does not keep it running. */
  async #rememberStop(record: StackRecord | undefined): Promise<void> {
    if (record === undefined) return
    await this.remember({ ...record, stoppedAt: new Date().toISOString() }).catch(() => undefined)
  }

  async #stop(name: string, how: DownHow, progress: Progress): Promise<void> {
    progress({ machine: name, state: 'working', message: how === 'stop' ? 'stopping' : 'removing' })
    if (how === 'stop') await this.target.stop(name)
    else await this.target.remove(name, { keepData: how === 'keep-data' })
    progress({ machine: name, state: 'ready', message: ENDED[how] })
  }

  /** With the directories above it, as far as they were made for it alone. */
  async #removeDirectory(): Promise<void> {
    const { path } = this.directory
    await rm(path, { recursive: true, force: true })
    this.#remembered = undefined
    const stacks = dirname(path)
    await rmdir(stacks)
      .then(() => rmdir(dirname(stacks)))
      .catch(() => undefined)
  }
}

/** What was remembered, but for hypervisors that are gone for good. */
export function withoutGone(record: StackRecord | undefined, gone: readonly string[] = []): StackRecord | undefined {
  withoutThose(record?.hypervisors ?? [], gone)
  return record && forgetHypervisors(record, gone)
}

function withoutThose(known: readonly string[], gone: readonly string[] = []): readonly string[] {
  const unknown = gone.find((uri) => !known.includes(uri))
  if (unknown !== undefined)
    throw new HoldfastError(
      'Usage',
      `Cannot continue without "${unknown}": the stack is not known to have machines there; expected ${oneOf(known)}`,
    )
  return known.filter((uri) => !gone.includes(uri))
}
