// What should run on a machine. Commands write it, the supervisor makes it so: nothing is lost when either is killed,
// because nothing is said anywhere else.

import type { Service } from '../../../machine/machine.ts'
import { isStartedAlike } from '../../../machine/started-alike.ts'
import type { FileDigests } from '../files/manifest.ts'
import type { Layout } from '../layout.ts'
import { isRecord, saveState, stateFile } from '../state-file.ts'

export interface DesiredMachine {
  readonly machine: string
  /** Raised with every change. */
  readonly revision: number
  readonly wanted: 'running' | 'stopped'
  /** In start order. */
  readonly services: readonly DesiredService[]
}

export interface DesiredService {
  readonly service: Service
  /** Raised to have it started anew. */
  readonly restarts: number
  /** Raised to have it read its files again. */
  readonly reloads: number
  /** Files that it reads when it is started, and when it is told to. */
  readonly digests: FileDigests
}

export function saveDesired({ desired }: Layout, machine: DesiredMachine): void {
  saveState(stateFile(desired, machine.machine), machine, { isDurable: true })
}

export function isDesiredMachine(value: unknown): value is DesiredMachine {
  return (
    isRecord(value) &&
    typeof value.machine === 'string' &&
    typeof value.revision === 'number' &&
    (value.wanted === 'running' || value.wanted === 'stopped') &&
    Array.isArray(value.services) &&
    value.services.every(isDesiredService)
  )
}

export function isDesiredService(value: unknown): value is DesiredService {
  if (!isRecord(value) || !isRecord(value.service) || !isRecord(value.digests)) return false
  const { name, user, command, environment, stopSignal, stopTimeoutMs } = value.service
  return (
    typeof value.restarts === 'number' &&
    typeof value.reloads === 'number' &&
    typeof name === 'string' &&
    typeof user === 'string' &&
    Array.isArray(command) &&
    command.length > 0 &&
    command.every((word) => typeof word === 'string') &&
    isRecord(environment) &&
    typeof stopSignal === 'string' &&
    typeof stopTimeoutMs === 'number'
  )
}

/** Whether what was started as one is what the other asks for. */
export function isAsWanted(startedAs: DesiredService, wanted: DesiredService): boolean {
  if (startedAs.restarts < wanted.restarts) return false
  // A step depends on its files, too; other services are restarted for theirs when the time has come.
  if (wanted.service.once === true && startedAs.digests.restart !== wanted.digests.restart) return false
  return isStartedAlike(startedAs.service, wanted.service)
}
