// What a target does: it makes machines real, one at a time. Order, quorum and health are the business of who calls.

import type { HoldfastError } from '../lib/errors.ts'
import type { Machine, MachineKind, Service } from '../machine/machine.ts'
import type { ServiceFailure } from './service-failure.ts'

export interface Target {
  /** What there is, by the name of the machine. */
  read(how?: ReadHow): Promise<ReadonlyMap<string, ExistingMachine>>
  /** How machines that are there differ from what they should be made of (processors, disks, networks), by name. Empty where that means nothing. */
  compareHardware(machines: readonly Machine[]): Promise<ReadonlyMap<string, readonly HardwareChange[]>>
  /** Puts directories and files in place; nothing is started, reloaded or restarted. What the machine has no longer is removed. */
  write(machine: Machine): Promise<void>
  /** Starts what is not running and takes note of the services; one that runs with another command or environment is restarted. */
  start(machine: Machine): Promise<void>
  reload(machine: string, service: string): Promise<void>
  /** Stops it and starts it again (or does the step of a `once` again); resolves when it has been started. */
  restart(machine: string, service: string): Promise<void>
  /** Stops all services in order; resolves when no process is left. */
  stop(machine: string): Promise<void>
  /** Stops, and removes what the machine is made of; with keepData, all but its data directories. */
  remove(machine: string, options: { readonly keepData: boolean }): Promise<void>
  /** Whether a directory of a machine is there and has something in it, also where only data was kept. */
  isFilled(machine: string, path: string): Promise<boolean>
  /** How services stand, of all machines or of those that are named. */
  observe(how?: ObserveHow): Promise<ReadonlyMap<string, MachineState>>
  /** Every machine of which anything is known, whatever state it is in; its kind, where that is known. Goes on without what cannot be read. */
  machines(): Promise<ReadonlyMap<string, MachineKind | undefined>>
  /** What could not be read when all machines were asked for the last time, so that machines may be missing in the answer. */
  unread(): readonly Unread[]
  /** Of the machines given: the last lines of each service, and with `follow` those that come. */
  logs(machines: readonly string[], options: LogOptions): AsyncIterable<LogLine>
  /** For when everything runs as it should: somebody looks after it from now on, and what nothing uses any more is removed. */
  settle(): Promise<void>
  /** For when everything was stopped. */
  shutdown(): Promise<void>
  /** Who starts again what ends. */
  overseer(): Overseer
}

export interface ReadHow {
  /** Goes on without what cannot be read, which unread() tells. Only for who does not make what is missing. */
  readonly isTolerant?: boolean
}

export interface ObserveHow extends ReadHow {
  readonly names?: readonly string[]
}

export interface Unread {
  /** For people, such as the address of a hypervisor. */
  readonly where: string
  readonly error: HoldfastError
}

export interface Overseer {
  readonly isThere: boolean
  /** Where it is one process for the whole stack. */
  readonly pid: number | undefined
}

export interface LogLine {
  readonly machine: string
  readonly service: string
  readonly line: string
}

export interface LogOptions {
  /** This many of the last ones of each service, at most. */
  readonly lines: number
  readonly follow: boolean
  readonly signal: AbortSignal
}

export interface HardwareChange {
  /** The variable of the stack file. */
  readonly name: string
  readonly from: string
  readonly to: string
  /** Done while it runs, when it starts the next time, or only by making it anew. */
  readonly takes: 'live' | 'next start' | 'replace'
  /** Why it takes that, for people. */
  readonly why: string
  /** What was on the disks of the machine is gone already. */
  readonly losesData?: boolean
}

/** As it was made, read back. */
export interface ExistingMachine {
  readonly name: string
  readonly kind: MachineKind
  readonly address: string
  readonly files: ReadonlyMap<string, ExistingFile>
  /** As they were started last; none when they never were. */
  readonly services: readonly Service[]
  /** Services that run and have not read what was written for them since: somebody was interrupted in between. */
  readonly pending: ReadonlyMap<string, 'reload' | 'restart'>
  /** Its data is on a disk of its own, which stays when it is made anew. */
  readonly hasDataDisk?: boolean
  /** Nobody saw it come up for the first time: there is nothing on it that could be lost. */
  readonly isUnborn?: boolean
  /** Paths of directories that exist, of those it was made with. */
  readonly directories: ReadonlyMap<string, { readonly owner: string; readonly mode: number; readonly isData: boolean }>
}

export interface ExistingFile {
  readonly owner: string
  readonly mode: number
  readonly text: string
}

export interface MachineState {
  readonly services: ReadonlyMap<string, ServiceState>
  /** What the services were told last, where that is written down. */
  readonly wanted?: 'running' | 'stopped'
  /** Why nothing is known of its services, in a sentence. */
  readonly problem?: string
  /** The file system of its data that is fullest, where that is known. */
  readonly disk?: DiskSpace
}

export interface DiskSpace {
  /** A directory in it. */
  readonly path: string
  readonly freeBytes: number
  readonly totalBytes: number
}

export interface ServiceState {
  /** `done`: a step that has succeeded. `waiting`: it ended and is started again after a pause. */
  readonly state: 'running' | 'waiting' | 'stopped' | 'done'
  readonly pid: number | undefined
  /** Unix milliseconds of the last change of state. */
  readonly since: number
  /** How often it ended by itself since it was started. */
  readonly restarts: number
  /** How it failed last; undefined when it never ended by itself. */
  readonly failure: ServiceFailure | undefined
}
