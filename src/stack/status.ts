// How a stack stands, as data: what `status` prints as a table or as JSON, and what `up` ends with.

import type { MachineKind } from '../machine/machine.ts'

export interface StackStatus {
  readonly stack: string
  readonly file: string
  /** Where its machines, secrets and logs are. */
  readonly directory: string
  readonly isReady: boolean
  /** What keeps it from being ready, cluster by cluster: `etcd: 2 of 3 members`. */
  readonly problems: readonly string[]
  /** Somebody starts again what ends. */
  readonly isSupervised: boolean
  /** Where that is one process for the whole stack; undefined when it does not run. */
  readonly supervisorPid: number | undefined
  readonly machines: readonly MachineStatus[]
  /** The names that matter, with what a name server of the stack answers: `primary.pg.lab.test`. */
  readonly names: readonly { readonly name: string; readonly addresses: readonly string[] }[]
  /** Command lines to try. */
  readonly examples: readonly { readonly purpose: string; readonly command: string }[]
}

export interface MachineStatus {
  readonly machine: string
  readonly kind: MachineKind
  readonly address: string
  readonly state: 'ready' | 'not ready' | 'stopped'
  readonly role: string | undefined
  readonly version: string | undefined
  readonly lagBytes: number | undefined
  /** Of the certificate that ends first, ISO 8601. */
  readonly certificateExpires: string | undefined
  /** How often its services ended by themselves. */
  readonly restarts: number
  /** What is wrong now, or what went wrong last. */
  readonly lastError: string | undefined
}
