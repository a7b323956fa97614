// A plan: what differs between the machines a stack file describes and those that exist, and what that takes. Printable
// data without secrets; only apply acts.

import type { MachineKind } from '../machine/machine.ts'

export interface Plan {
  readonly stack: string
  readonly file: string
  /** In the order things would be done; machines without a change are in it, too. */
  readonly machines: readonly MachinePlan[]
}

export interface MachinePlan {
  readonly machine: string
  readonly kind: MachineKind
  readonly address: string
  readonly action: 'create' | 'update' | 'replace' | 'delete' | 'none'
  /** What it means for its services, the strongest of all details. */
  readonly effect: Effect
  readonly details: readonly Detail[]
  /** Of one that is made anew: its data is on a disk that stays. */
  readonly keepsData?: boolean
  /** Its data are gone already, with the disk that they were on. */
  readonly hasLostData?: boolean
}

/** `next start`: nothing now, and from the next start of the machine on. `replace`: the machine is made anew. */
export type Effect = 'none' | 'next start' | 'reload' | 'restart' | 'start' | 'replace' | 'remove'

export interface Detail {
  readonly what: 'file' | 'directory' | 'service' | 'certificate' | 'member' | 'settings' | 'hardware'
  /** Path of the file, name of the service, id of the certificate, variable of the stack file. */
  readonly name: string
  readonly change: 'add' | 'change' | 'remove'
  /** `expires in 3 days`, `names changed`, `mode is 0644, wanted 0600`. */
  readonly why: string
  readonly effect: Effect
  /** Lines without secrets; empty where nothing can be shown. */
  readonly diff: readonly DiffLine[]
}

export interface DiffLine {
  readonly sign: '+' | '-' | ' '
  readonly text: string
}

export function isEmpty(plan: Plan): boolean {
  return plan.machines.every(({ action }) => action === 'none')
}
