// What /status says: the states of the sources and what is in service. Written by the server, read by `holdfast status`.

import type { Place } from '../lib/errors.ts'

export interface ServerStatus {
  readonly version: string
  /** Every source has been heard once, or was waited for long enough. */
  readonly ready: boolean
  /** Given while the last reload was refused: the configuration before it stays in service. */
  readonly configuration?: RefusedConfiguration
  readonly sources: readonly SourceStatus[]
  readonly zones: readonly ZoneStatus[]
}

export interface RefusedConfiguration {
  readonly state: 'refused'
  /** ISO 8601. */
  readonly since: string
  /** How many there are, and the first. */
  readonly errorCount: number
  readonly errors: readonly { readonly code: string; readonly message: string; readonly place?: Place }[]
}

/** A source in etcd or Kubernetes. Times are ISO 8601. */
export interface SourceStatus {
  readonly name: string
  readonly type: string
  readonly prefix: string
  readonly endpoints: readonly string[]
  /**
   * `following`: every change is seen. `away`: it cannot be reached, what was known stays in service. `starting`: not
   * reached yet. `doubted`: it answers, but has lost what was known; that stays in service.
   */
  readonly state: 'following' | 'away' | 'starting' | 'doubted'
  readonly since: string
  readonly keys: number
  /** Of the last change that was seen. */
  readonly revision: number
  readonly error?: string
  readonly hint?: string
  /** What went wrong last, also when that is over. */
  readonly lastError?: { readonly at: string; readonly message: string }
  /** When the state on disk was written that the source started from. */
  readonly startedFrom?: string
  /** Keys and values that cannot be used: how many lines there are to say of them, and the first. */
  readonly problemCount?: number
  readonly problems?: readonly string[]
}

export interface ZoneStatus {
  readonly zone: string
  readonly plugin: string
  /**
   * `refused`: the newest text has errors, the version before it is in service. `failed`: the same without any good
   * version before, queries get SERVFAIL. `awaited`: so they do, as its source has not been heard yet.
   */
  readonly state: 'ok' | 'refused' | 'failed' | 'awaited'
  readonly serial?: number
  /** File or key. */
  readonly from?: string
  readonly errors?: readonly string[]
}
