// A plan: what differs between the machines a stack file describes and those that exist, and what that takes. Printable
// data without secrets; only apply acts.

import { createHash } from 'node:crypto'
import type { PlannedRestart } from '../clusters/postgres/parameters/order-restarts.ts'
import type { MachineKind } from '../machine/machine.ts'

export interface Plan {
  readonly stack: string
  readonly file: string
  /** In the order things would be done; machines without a change are in it, too. */
  readonly machines: readonly MachinePlan[]
  /** Of PostgreSQL, for its parameters, in their order. */
  readonly restarts: readonly PlannedRestart[]
  /** Made or made again that belong to no machine: those that the stack is operated with. */
  readonly credentials: readonly PlannedCredential[]
  /** Worth a word to the user; nothing is done about them. */
  readonly remarks: readonly string[]
  /** Of all the above: two plans with the same digest do the same. */
  readonly digest: string
}

export interface MachinePlan {
  readonly machine: string
  readonly kind: MachineKind
  readonly address: string
  readonly action: 'create' | 'update' | 'replace' | 'delete' | 'none'
  /** What it means for its services, the strongest of all details. */
  readonly effect: Effect
  readonly details: readonly Detail[]
  /** It is the primary of PostgreSQL, which hands over to a standby before it is restarted or made anew. */
  readonly handsOver?: boolean
  /** Of a virtual machine that is made. */
  readonly hardware?: PlannedHardware
  /** Of one that is made anew: its data is on a disk that stays. */
  readonly keepsData?: boolean
  /** Its data are gone already, with the disk that they were on. */
  readonly hasLostData?: boolean
}

export interface PlannedCredential {
  readonly id: string
  readonly what: 'secret' | 'certificate' | 'authority'
  /** In words that follow its name: `has lost its key`. */
  readonly why: string
}

export interface PlannedHardware {
  readonly domain: string
  /** URI of its hypervisor. */
  readonly hypervisor: string
  readonly vcpus: number
  readonly memoryMib: number
  /** For people: `disk default/base.qcow2 (copy, 10 GiB)`. */
  readonly disks: readonly string[]
  /** For people: `network default 192.168.121.4`. */
  readonly networks: readonly string[]
}

/** `next start`: nothing now, and from the next start of the machine on. `replace`: the machine is made anew. */
export type Effect = 'none' | 'next start' | 'reload' | 'restart' | 'start' | 'replace' | 'remove'

export interface Detail {
  readonly what:
    | 'file'
    | 'directory'
    | 'service'
    | 'certificate'
    | 'member'
    | 'settings'
    | 'hardware'
    | 'parameter'
    | 'data'
  /** Path of the file, name of the service, id of the certificate, variable of the stack file, parameter of PostgreSQL. */
  readonly name: string
  readonly change: 'add' | 'change' | 'remove'
  /** Decides what is done; `why` is only for people. */
  readonly reason: DetailReason
  /** `content differs`, `mode is 0644, expected 0600`. */
  readonly why: string
  readonly effect: Effect
  /** The service that restarts, where it is one of the machine itself (logs, the clock): that interrupts no cluster. */
  readonly hostService?: string
  /** Lines without secrets; empty where nothing can be shown. */
  readonly diff: readonly DiffLine[]
}

/** `unread`: a service runs and has not read what was written for it. `left`: the stack file does not have the machine any more. */
export type DetailReason =
  | 'new'
  | 'missing'
  | 'rights'
  | 'content'
  | 'replaced'
  | 'unused'
  | 'left'
  | 'moved'
  | 'hardware'
  | 'started-otherwise'
  | 'stopped-otherwise'
  | 'unread'
  | 'not-running'
  | 'parameter'
  | 'unusable'

export interface DiffLine {
  readonly sign: '+' | '-' | ' '
  readonly text: string
}

/** Whether it restarts what the machine is there for; parameters of PostgreSQL have restarts of their own. */
export function restartsCluster({ what, effect, hostService }: Detail): boolean {
  return what !== 'parameter' && effect === 'restart' && hostService === undefined
}

export function makePlan(parts: Omit<Plan, 'digest'>): Plan {
  return { ...parts, digest: createHash('sha256').update(JSON.stringify(parts)).digest('hex') }
}

export function isEmpty(plan: Plan): boolean {
  return plan.machines.every(({ action }) => action === 'none') && plan.credentials.length === 0
}
