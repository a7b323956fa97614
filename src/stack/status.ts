// The status of a stack, as data: what `status` prints as a table or as JSON, and what `up` ends with.

import type { MachineKind } from '../machine/machine.ts'
import type { ServiceFailure } from '../targets/service-failure.ts'
import type { DiskSpace } from '../targets/target.ts'

/**
 * `ready`: everything is as it should be. `degraded`: it works, and something is wrong. `stopped`: `down` stopped it.
 * `down`: it does not work.
 */
export type WorkState = 'ready' | 'degraded' | 'stopped' | 'down'

/** `absent`: it was never created, or was removed. */
export type StackState = WorkState | 'absent'

export interface StackStatus {
  readonly stack: string
  readonly file: string
  /** Where its machines, secrets and logs are. */
  readonly directory: string
  readonly state: StackState
  /** The state is `ready`. */
  readonly isReady: boolean
  /** Of a stopped stack: when `down` stopped it, ISO 8601, where that is known. */
  readonly stoppedAt: string | undefined
  /** What keeps it from being ready, in sentences: `etcd: 2 of 3 members`. */
  readonly problems: readonly string[]
  /** Its clusters; none where they were not asked, as nothing of them runs. */
  readonly clusters: readonly ClusterState[]
  /** A supervisor starts again what ends. */
  readonly isSupervised: boolean
  /** Where that is one process for the whole stack; undefined when it does not run. */
  readonly supervisorPid: number | undefined
  /** Addresses of hypervisors that cannot be asked about their machines. */
  readonly unreadHypervisors: readonly string[]
  readonly machines: readonly MachineStatus[]
  /** The names that matter, with what a name server of the stack answers: `primary.pg.lab.test`. */
  readonly names: readonly { readonly name: string; readonly addresses: readonly string[] }[]
  /** Command lines to try. */
  readonly examples: readonly { readonly purpose: string; readonly command: string }[]
}

export interface ClusterState {
  readonly kind: MachineKind
  readonly state: 'ready' | 'degraded' | 'down'
  /** `2 of 3 members` */
  readonly problem: string | undefined
}

export interface MachineStatus {
  readonly machine: string
  readonly kind: MachineKind
  readonly address: string
  readonly state: WorkState
  readonly role: string | undefined
  readonly version: string | undefined
  readonly lagBytes: number | undefined
  /** Of the certificate that ends first, ISO 8601. */
  readonly certificateExpires: string | undefined
  /** How often its services ended by themselves. */
  readonly restarts: number
  /** What is wrong now, in a few words. */
  readonly problem: string | undefined
  /** How one of its services failed last, also when that is over. */
  readonly lastError: MachineError | undefined
  /** The fullest of the file systems with its data, where that is known. */
  readonly disk: DiskSpace | undefined
}

export interface MachineError extends Pick<ServiceFailure, 'kind' | 'exitCode' | 'signal'> {
  /** ISO 8601. */
  readonly at: string
  readonly service: string
  /** `exit code 1: FATAL: …` */
  readonly message: string
}
