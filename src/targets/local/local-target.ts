// The target `local`: a machine is a directory, its services are processes of this host. This writes files and says
// what should run; the supervisor, a process of its own, makes it so. Everything there is to know is on disk.

import { readdirSync, realpathSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Machine, MachineKind } from '../../machine/machine.ts'
import type {
  ExistingMachine,
  HardwareChange,
  LogLine,
  LogOptions,
  MachineState,
  Overseer,
  Target,
  Unread,
} from '../target.ts'
import { Accounts } from './accounts.ts'
import { BootUnit, hasSystemd } from './boot-unit.ts'
import { HeldDirectories } from './files/held-directories.ts'
import { loadManifest, type Manifest, manifestOf } from './files/manifest.ts'
import { readMachine } from './files/read-machine.ts'
import { removeMachine } from './files/remove-machine.ts'
import { writeMachine } from './files/write-machine.ts'
import { type Layout, layoutOf, rootOf } from './layout.ts'
import { readLogs } from './logs.ts'
import { machineState, pendingOf } from './machine-state.ts'
import { fullestDisk } from '../disk-space.ts'
import { installProgram, pruneProgram } from '../program.ts'
import { isMissing, machinesIn, stateFile } from './state-file.ts'
import {
  awaitSupervisor,
  endSupervisor,
  ensureSupervisor,
  type Expectation,
  renewSupervisor,
  type SupervisorStart,
} from './supervisor-control.ts'
import { type DesiredMachine, type DesiredService, isAsWanted } from './supervisor/desired.ts'
import { findKeeper, findSupervisor } from './supervisor/keeper.ts'
import type { ObservedMachine, ObservedService } from './supervisor/observed.ts'
import { findDesired, findManifest, findObserved, wantAgain, wantRunning, wantStopped } from './wanted.ts'

export interface LocalTargetOptions {
  /** Of the stack. */
  readonly directory: string
  /** Files and processes get their own users. */
  readonly isRoot: boolean
  /** The words that start our own program; unless given, a copy of it in the directory of the stack. */
  readonly program?: readonly string[]
  /** Starts the stack with the host; unless given, systemd's for root where systemd runs. */
  readonly bootUnit?: BootUnit
}

/** Beside what services take by themselves: for a busy host to start a supervisor and whatever it starts. */
const PATIENCE_MS = 30_000

export class LocalTarget implements Target {
  readonly #directory: string
  readonly #isRoot: boolean
  #program: Promise<readonly string[]> | undefined
  readonly #bootUnit: BootUnit | undefined

  constructor({ directory, isRoot, program, bootUnit }: LocalTargetOptions) {
    this.#directory = resolve(directory)
    this.#isRoot = isRoot
    this.#program = program === undefined ? undefined : Promise.resolve(program)
    // A caller with a program of its own, such as a test, does not want it to start with the host.
    const isManaged = program === undefined && isRoot && hasSystemd()
    this.#bootUnit = bootUnit ?? (isManaged ? new BootUnit({ directory: this.#layout.directory }) : undefined)
  }

  read(): Promise<ReadonlyMap<string, ExistingMachine>> {
    return soon(() => {
      const layout = this.#layout
      const accounts = this.#isRoot ? new Accounts() : undefined
      const manifests = machinesIn(layout.manifests).flatMap((machine) => loadManifest(layout, machine) ?? [])
      return new Map(manifests.map((manifest) => [manifest.machine, existing(layout, manifest, accounts)]))
    })
  }

  machines(): Promise<ReadonlyMap<string, MachineKind | undefined>> {
    return soon(() => {
      const layout = this.#layout
      const names = [...machinesIn(layout.manifests), ...machinesIn(layout.desired)]
      return new Map(names.map((name) => [name, findManifest(layout, name)?.kind]))
    })
  }

  /** Processes share the hardware of this host. */
  compareHardware(): Promise<ReadonlyMap<string, readonly HardwareChange[]>> {
    return Promise.resolve(new Map())
  }

  write(machine: Machine): Promise<void> {
    return soon(() => writeMachine(this.#layout, machine, this.#isRoot))
  }

  async start(machine: Machine): Promise<void> {
    await renewSupervisor(this.#layout, await this.#words())
    const { name } = machine
    const { revision, services } = wantRunning(this.#layout, name, manifestOf(machine).services)
    await this.#expect({
      machine: name,
      what: `start "${name}"`,
      timeoutMs: PATIENCE_MS + stopTimeMs(services),
      isMet: (observed) => observed.revision >= revision && isStarted(services, observed),
    })
  }

  async reload(machine: string, service: string): Promise<void> {
    const wanted = wantAgain(this.#layout, { machine, service, what: 'reload' })
    await this.#expect({
      machine,
      what: `reload "${service}" of "${machine}"`,
      timeoutMs: PATIENCE_MS,
      isMet: ({ services }) => {
        const record = recordOf(services, service)
        return record !== undefined && (record.startedAs.reloads >= wanted.reloads || record.state === 'waiting')
      },
    })
  }

  async restart(machine: string, service: string): Promise<void> {
    const wanted = wantAgain(this.#layout, { machine, service, what: 'restart' })
    await this.#expect({
      machine,
      what: `restart "${service}" of "${machine}"`,
      timeoutMs: PATIENCE_MS + stopTimeMs([wanted]),
      isMet: ({ services }) => isTried(wanted, recordOf(services, service)),
    })
  }

  async stop(machine: string): Promise<void> {
    const wanted = wantStopped(this.#layout, machine)
    if (wanted === undefined) return
    await this.#expect({
      machine,
      what: `stop "${machine}"`,
      timeoutMs: PATIENCE_MS + stopTimeMs(wanted.services),
      isMet: ({ revision, isStopped }) => revision >= wanted.revision && isStopped,
    })
  }

  async remove(machine: string, { keepData }: { readonly keepData: boolean }): Promise<void> {
    await this.stop(machine)
    const layout = this.#layout
    rmSync(stateFile(layout.desired, machine), { force: true })
    rmSync(stateFile(layout.observed, machine), { force: true })
    await removeMachine(layout, machine, keepData ? loadManifest(layout, machine) : undefined)
  }

  isFilled(machine: string, path: string): Promise<boolean> {
    return soon(() => {
      using held = HeldDirectories.open(rootOf(this.#layout, machine))
      const fd = held?.find(path)
      return fd !== undefined && readdirSync(`/proc/self/fd/${fd}`).length > 0
    })
  }

  observe(): Promise<ReadonlyMap<string, MachineState>> {
    return soon(() => {
      const layout = this.#layout
      const isSupervised = findSupervisor(layout) !== undefined || findKeeper(layout) !== undefined
      return new Map(
        machinesIn(layout.desired).map((machine) => {
          const desired = findDesired(layout, machine)
          const observed = findObserved(layout, machine)
          const disk = fullestDisk(this.#places(machine))
          return [machine, { ...machineState({ desired, observed, isSupervised }), ...(disk && { disk }) }]
        }),
      )
    })
  }

  /** Directories of a machine that may be on file systems of their own. */
  #places(machine: string): string[] {
    const layout = this.#layout
    const root = rootOf(layout, machine)
    const data = findManifest(layout, machine)?.directories.filter(({ isData }) => isData) ?? []
    return [root, ...data.map(({ path }) => join(root, path))]
  }

  /** All of it is on this host. */
  unread(): readonly Unread[] {
    return []
  }

  logs(machines: readonly string[], options: LogOptions): AsyncIterable<LogLine> {
    return readLogs(this.#layout, machines, options)
  }

  /** With a supervisor, and without copies of our own program that nothing uses any more. */
  async settle(): Promise<void> {
    const layout = this.#layout
    await ensureSupervisor(layout, this.#start)
    await this.#bootUnit?.install(await this.#words())
    const services = machinesIn(layout.desired).flatMap((machine) => findDesired(layout, machine)?.services ?? [])
    const words = services.flatMap(({ service }) => service.command)
    pruneProgram(layout.directory, [...(await this.#words()), ...words, ...(findKeeper(layout)?.command ?? [])])
  }

  overseer(): Overseer {
    const pid = findSupervisor(this.#layout)
    return { isThere: pid !== undefined, pid }
  }

  /** Ends the supervisor and removes its unit. Machines are stopped before; a later start brings both back. */
  async shutdown(): Promise<void> {
    await endSupervisor(this.#layout)
    await this.#bootUnit?.remove()
  }

  /** Processes see it without symbolic links, and are found by that. */
  get #layout(): Layout {
    try {
      return layoutOf(realpathSync(this.#directory))
    } catch (error) {
      if (isMissing(error)) return layoutOf(this.#directory)
      throw error
    }
  }

  get #start(): SupervisorStart {
    return { program: () => this.#words(), bootUnit: this.#bootUnit }
  }

  #words(): Promise<readonly string[]> {
    this.#program ??= installProgram(this.#directory)
    return this.#program
  }

  #expect(expectation: Expectation): Promise<void> {
    return awaitSupervisor(this.#layout, this.#start, expectation)
  }
}

/** What throws in it rejects. */
async function soon<T>(work: () => T): Promise<T> {
  return work()
}

function existing(layout: Layout, manifest: Manifest, accounts: Accounts | undefined): ExistingMachine {
  const { machine: name, kind, address } = manifest
  const services = findDesired(layout, name)?.services.map(({ service }) => service) ?? []
  const pending = pendingOf(manifest, findObserved(layout, name))
  return { name, kind, address, services, pending, ...readMachine(layout, manifest, accounts) }
}

/** As far as it can be: what comes after a step waits until that has succeeded. */
function isStarted(wanted: readonly DesiredService[], { services }: ObservedMachine): boolean {
  for (const each of wanted) {
    const record = recordOf(services, each.service.name)
    if (!isTried(each, record)) return false
    if (each.service.once === true && record?.state !== 'done') return true
  }
  return services.length === wanted.length
}

/** Started at least once as it is wanted now. How that went is another question. */
function isTried(wanted: DesiredService, record: ObservedService | undefined): boolean {
  if (record === undefined || record.state === 'starting' || record.state === 'stopped') return false
  return isAsWanted(record.startedAs, wanted)
}

function recordOf(services: readonly ObservedService[], name: string): ObservedService | undefined {
  return services.find(({ startedAs }) => startedAs.service.name === name)
}

function stopTimeMs(services: DesiredMachine['services']): number {
  return services.reduce((sum, { service }) => sum + service.stopTimeoutMs, 0)
}
