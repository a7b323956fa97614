// What a cluster and its members say of themselves.

import type { ALARM_KINDS } from './messages.ts'

export interface Member {
  readonly id: bigint
  /** Empty until the member has started. */
  readonly name: string
  readonly peerUrls: readonly string[]
  readonly clientUrls: readonly string[]
  readonly isLearner: boolean
}

export interface Status {
  readonly clusterId: bigint
  readonly memberId: bigint
  /** 0 when the member knows none. */
  readonly leader: bigint
  readonly version: string
  readonly revision: bigint
  readonly dbSizeBytes: bigint
  readonly dbSizeInUseBytes: bigint
  readonly raftTerm: bigint
  readonly raftIndex: bigint
  readonly raftAppliedIndex: bigint
  readonly isLearner: boolean
  readonly errors: readonly string[]
}

export interface Alarm {
  readonly memberId: bigint
  readonly kind: (typeof ALARM_KINDS)[number]
}
