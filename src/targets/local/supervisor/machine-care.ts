// Makes what runs on a machine what should run. One pass looks at everything and does the next thing there is to do;
// when something happens, another pass follows. It does not matter how things came to be as they are.

import { messageOf } from '../../../lib/errors.ts'
import type { Service } from '../../../machine/machine.ts'
import { Accounts } from '../accounts.ts'
import { rootOf } from '../layout.ts'
import type { DesiredMachine, DesiredService } from './desired.ts'
import { type ServiceFinder, topsOf, type Whose } from './machine-processes.ts'
import type { ObservedMachine } from './observed.ts'
import type { ProcessId } from './process-table.ts'
import { ServiceCare, type Surroundings } from './service-care.ts'

/** For what is left when all services have ended: PostgreSQL without its Patroni writes a checkpoint first. */
const LEFTOVER_TIMEOUT_MS = 10_000
/** Leftovers are looked at this often. */
const LEFTOVER_LOOK_MS = 50

export interface MachineSurroundings extends Omit<Surroundings, 'machine' | 'save'> {
  readonly ownUid: number
  readonly bootId: string
}

export class MachineCare {
  readonly #around: MachineSurroundings
  readonly #name: string
  readonly #services = new Map<string, ServiceCare>()
  #desired: DesiredMachine
  #isStopped = false
  #leftovers: { readonly killAt: number; lookAt: number } | undefined
  #saved = ''
  #hasComplained = false

  /** Continues from what an earlier supervisor has left: its records, and the processes it has started. */
  constructor(
    around: MachineSurroundings,
    desired: DesiredMachine,
    before: ObservedMachine | undefined,
    finder: Pick<ServiceFinder, 'find'>,
  ) {
    this.#around = around
    this.#name = desired.machine
    this.#desired = desired
    const isSameBoot = before?.bootId === around.bootId
    const records = new Map(before?.services.map((record) => [record.startedAs.service.name, record]))
    const wanted = desired.services.filter(({ service }) => !records.has(service.name))
    const accounts = new Accounts()
    for (const startedAs of [...[...records.values()].map((record) => record.startedAs), ...wanted]) {
      const record = records.get(startedAs.service.name)
      const care = new ServiceCare(this.#surroundings(), startedAs, record)
      const known =
        isSameBoot && record?.process !== undefined && around.system.isRunning(record.process)
          ? record.process
          : undefined
      const process = known ?? this.#find(finder, startedAs, accounts)
      if (process !== undefined) care.adopt(process)
      else if (isSameBoot) care.lose()
      else care.settle()
      this.#services.set(care.name, care)
    }
  }

  set desired(desired: DesiredMachine) {
    this.#desired = desired
  }

  /** Nothing runs, and nothing should. */
  get isIdle(): boolean {
    return this.#desired.wanted === 'stopped' && this.#isStopped
  }

  get services(): string[] {
    return [...this.#services.keys()]
  }

  /** When the next pass is due, whatever happens before; on the clock of System.now(). */
  get dueAt(): number {
    return Math.min(this.#leftovers?.lookAt ?? Infinity, ...[...this.#services.values()].map(({ dueAt }) => dueAt))
  }

  /** What was written down is gone. */
  saveAgain(): void {
    this.#saved = ''
  }

  pass(now: number): void {
    for (const care of this.#services.values()) care.look()
    if (this.#desired.wanted === 'running') this.#run(now)
    else if (!this.#isStopped) this.#stop(now)
    this.#save()
  }

  #run(now: number): void {
    this.#isStopped = false
    this.#leftovers = undefined
    this.#dropOthers(now)
    // What comes after a step waits for it.
    let isHeldUp = false
    for (const wanted of this.#desired.services) {
      const care = this.#careFor(wanted)
      if (care.isAlive && care.isUpToDate(wanted)) care.reload(wanted)
      else if (isHeldUp) continue
      else if (care.isAlive) care.stop(now)
      else if (!care.isDone(wanted) && care.isDue(wanted, now)) care.start(wanted)
      isHeldUp ||= wanted.service.once === true && !care.isDone(wanted)
    }
  }

  /** In the opposite order, one at a time. */
  #stop(now: number): void {
    const order = this.#desired.services.map(({ service }) => service.name)
    const last = [...this.#services.values()]
      .filter(({ isAlive }) => isAlive)
      .toSorted((a, b) => order.indexOf(b.name) - order.indexOf(a.name))
      .at(0)
    if (last !== undefined) return last.stop(now)
    for (const care of this.#services.values()) care.settle()
    this.#endLeftovers(now)
  }

  /**
   * What services have started and left behind. SIGINT is PostgreSQL's fast shutdown, which a SIGTERM after it does not
   * change; what a shell has started in the background ignores SIGINT.
   */
  #endLeftovers(now: number): void {
    const { system } = this.#around
    const left = system.processesOf(this.#whose())
    if (left.length === 0) {
      this.#leftovers = undefined
      this.#isStopped = true
      return
    }
    if (this.#leftovers === undefined) {
      this.#leftovers = { killAt: now + LEFTOVER_TIMEOUT_MS, lookAt: 0 }
      for (const process of topsOf(left))
        for (const signal of ['SIGINT', 'SIGTERM'] as const) system.sendSignal(process, signal)
      this.#around.log(`${this.#name}: ending what its services left behind: ${left.map(({ pid }) => pid).join(', ')}`)
    } else if (now >= this.#leftovers.killAt) {
      for (const process of left) system.sendSignal(process, 'SIGKILL')
    }
    this.#leftovers.lookAt = now + LEFTOVER_LOOK_MS
  }

  /** Services that the machine has no longer. */
  #dropOthers(now: number): void {
    for (const [name, care] of this.#services) {
      if (this.#desired.services.some(({ service }) => service.name === name)) continue
      if (care.isAlive) care.stop(now)
      else this.#services.delete(name)
    }
  }

  #careFor(wanted: DesiredService): ServiceCare {
    const { name } = wanted.service
    const care = this.#services.get(name) ?? new ServiceCare(this.#surroundings(), wanted)
    this.#services.set(name, care)
    return care
  }

  #surroundings(): Surroundings {
    return { ...this.#around, machine: this.#name, save: () => this.#save() }
  }

  get #root(): string {
    return rootOf(this.#around.layout, this.#name)
  }

  #find(finder: Pick<ServiceFinder, 'find'>, { service }: DesiredService, accounts: Accounts): ProcessId | undefined {
    const user = this.#userOf(service, accounts)
    return user === undefined ? undefined : finder.find(this.#root, user, service)
  }

  #whose(): Whose {
    const accounts = new Accounts()
    const started = [...this.#services.values()].map(({ startedAs }) => startedAs)
    const users = [...this.#desired.services, ...started].flatMap(
      ({ service }) => this.#userOf(service, accounts) ?? [],
    )
    return { root: this.#root, users: new Set(users) }
  }

  /** Undefined when there is no such user any more. */
  #userOf({ user }: Service, accounts: Accounts): number | undefined {
    const { isRoot, ownUid } = this.#around
    return isRoot ? accounts.uidOf(user) : ownUid
  }

  /** A disk that is full must not keep anything from being done: it is tried again with the next pass. */
  #save(): void {
    const observed: ObservedMachine = {
      machine: this.#name,
      revision: this.#desired.revision,
      bootId: this.#around.bootId,
      isStopped: this.#isStopped,
      services: [...this.#services.values()].map((care) => care.observed),
    }
    const text = JSON.stringify(observed)
    if (text === this.#saved) return
    try {
      this.#around.system.save(this.#around.layout, observed)
      this.#saved = text
      this.#hasComplained = false
    } catch (error) {
      if (!this.#hasComplained) this.#around.log(messageOf(error))
      this.#hasComplained = true
    }
  }
}
