// What depends on where a stack is: how its machines are made, what they get there besides what their clusters give them,
// and what has to be looked at before. One implementation for each target.

import type { Site } from '../../clusters/site.ts'
import type { Hardware } from '../../machine/hardware.ts'
import type { Machine } from '../../machine/machine.ts'
import type { Finding } from '../../targets/finding.ts'
import type { Target } from '../../targets/target.ts'
import type { StackDirectory } from '../directory.ts'
import type { PlannedHardware } from '../plan.ts'
import type { Progress } from '../progress.ts'
import type { Stack } from '../stack.ts'

export type PlaceSite = Pick<Site, 'path' | 'program' | 'watchdogDevice' | 'postgresPackage'>

export interface Place {
  readonly target: Target
  /** Files get their owners there. Where they cannot, owners say nothing. */
  readonly setsOwners: boolean
  site(postgresVersion: string): PlaceSite
  /** The machine with what every machine has there. */
  complete(machine: Machine, site: Site): Machine
  /** Of PostgreSQL, where there is no data yet. */
  postgresVersion(stack: Stack): Promise<PostgresVersions>
  /** What a machine that is made is made of, where that is more than processes. */
  hardwareOf(machine: Machine): PlannedHardware | undefined
  /** Debian packages and users that this host needs for them. */
  needs(machines: readonly Machine[]): HostNeeds
  /** Whether the machines can be made; nothing is touched. */
  check(machines: readonly Machine[], options: CheckOptions): Promise<readonly Finding[]>
  /** Rejects when a stack of that name is somewhere else, or was made from elsewhere. */
  refuseElsewhere(): Promise<void>
  /** Texts that machines are made from there, by machine and name of the file, for review; secrets are hidden. */
  describe(machines: readonly Machine[]): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>>
}

export interface PostgresVersions {
  /** The one that is used. */
  readonly version: string
  /** All that can be had; undefined where only the machines know. */
  readonly available: readonly string[] | undefined
}

export interface HostNeeds {
  readonly packages: readonly string[]
  readonly users: readonly string[]
}

export interface CheckOptions {
  /** Of the data that the stack has. */
  readonly postgresVersion: string | undefined
  readonly signal: AbortSignal
}

export interface PlaceContext {
  readonly stack: string
  /** Of the record; a new one for a new stack. */
  readonly stackId: string
  /** Machines of another stack of that name are taken for its own. */
  readonly takesForeign?: boolean
  readonly directory: StackDirectory
  readonly isRoot: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  /** Hypervisors that machines are on, or are to be on. */
  readonly hypervisors: readonly string[]
  /** By machine: the one that it was on when all was well the last time. */
  readonly homes?: ReadonlyMap<string, string>
  /** What machines are to be made of, by name; none where only what exists is looked at. */
  readonly hardware: ReadonlyMap<string, Hardware>
  /** What machines are at. */
  readonly report: Progress
  readonly stopSignal: () => AbortSignal
}
