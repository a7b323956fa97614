// What can be told of a publisher while it runs.

import type { SourceState } from '../sources/etcd-source.ts'

export interface PublisherState {
  readonly kubernetes: SourceState | undefined
  /** Endpoints that objects ask for. */
  readonly wanted: number
  /** This replica writes. */
  readonly leading: boolean
  /** Where records are written to etcd. */
  readonly etcd?: {
    readonly up: boolean
    readonly records: number
    readonly runs: RunCounts
  }
}

export interface RunCounts {
  readonly idle: number
  readonly failed: number
  /** Unix seconds; 0: never. */
  readonly lastAt: number
  readonly lastGoodAt: number
}
