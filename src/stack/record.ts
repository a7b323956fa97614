// What is remembered of a stack besides its machines.

import { HoldfastError } from '../lib/errors.ts'
import { readKept, writeKept } from './kept.ts'
import type { TargetName } from './stack.ts'

export interface StackRecord {
  /** Tells it from another of the same name that was made elsewhere; one that is too old to have it gets one with the next `up`. */
  readonly id: string | undefined
  readonly file: string
  /** From then on members join and leave; before, they all start together. */
  readonly isEtcdFormed: boolean
  /** The last `up` came to its end. */
  readonly isComplete: boolean
  /** Of PostgreSQL, whose data a newer one could not read: `15`. */
  readonly postgresVersion: string | undefined
  readonly target: TargetName
  /** URIs of those that it has machines on. */
  readonly hypervisors: readonly string[]
  /** By machine: the hypervisor that it was on when all was well the last time, or that it was first to be on. */
  readonly homes?: Readonly<Record<string, string>>
  /** When `down` stopped it, ISO 8601; undefined while it should run. */
  readonly stoppedAt?: string | undefined
}

export async function readRecord(path: string): Promise<StackRecord | undefined> {
  const value = (await readKept(path)) as Partial<StackRecord> | undefined
  if (value === undefined) return undefined
  if (typeof value?.file !== 'string')
    throw new HoldfastError('StateInvalid', `Cannot use "${path}": it is not what was written there; restore it`)
  const { id, file, isEtcdFormed, isComplete, postgresVersion, target, hypervisors, homes, stoppedAt } = value
  return {
    id: typeof id === 'string' ? id : undefined,
    ...{ file, isEtcdFormed: isEtcdFormed === true, isComplete: isComplete === true, postgresVersion },
    target: target === 'libvirt' ? 'libvirt' : 'local',
    hypervisors: Array.isArray(hypervisors) ? hypervisors.map(String) : [],
    homes: typeof homes === 'object' ? homes : {},
    stoppedAt: typeof stoppedAt === 'string' ? stoppedAt : undefined,
  }
}

/** As if the stack had never had machines there. */
export function forgetHypervisors(record: StackRecord, gone: readonly string[]): StackRecord {
  const { hypervisors, homes = {} } = record
  return {
    ...record,
    hypervisors: hypervisors.filter((uri) => !gone.includes(uri)),
    homes: Object.fromEntries(Object.entries(homes).filter(([, uri]) => !gone.includes(uri))),
  }
}

export function writeRecord(path: string, record: StackRecord): Promise<void> {
  return writeKept(path, record)
}
