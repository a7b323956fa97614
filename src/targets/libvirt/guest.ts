// What runs inside a machine, reached through its hypervisor and not through its network: by the guest agent, or by entering
// a container. So it works for machines that the host cannot reach, as with macvtap.

import type { Ended } from './hypervisor.ts'

export interface Guest {
  /** Rejects with GuestSilent when nobody answers in time. */
  run(command: readonly string[], options: GuestRunOptions): Promise<Ended>
}

export interface GuestRunOptions {
  /** What it reads; of any length. */
  readonly input?: string
  readonly timeoutMs: number
}
