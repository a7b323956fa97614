// Where the target keeps things below the directory of a stack.

import { join } from 'node:path'

export interface Layout {
  readonly directory: string
  /** Roots of the machines. */
  readonly machines: string
  /** What each machine was made of, one file per machine; beside the roots, where no service can write. */
  readonly manifests: string
  /** Files on their way into a machine. */
  readonly staging: string
  readonly supervisor: string
  /** What should run, one file per machine; written by commands, read by the supervisor. */
  readonly desired: string
  /** What does run, one file per machine; written by the supervisor. */
  readonly observed: string
  /** Held by the supervisor as long as it lives. */
  readonly lock: string
  readonly pid: string
  /** Held by the keeper, which starts the supervisor again, as long as that lives. */
  readonly keeperLock: string
  readonly keeperPid: string
  readonly log: string
}

export function layoutOf(directory: string): Layout {
  const supervisor = join(directory, 'supervisor')
  return {
    directory,
    machines: join(directory, 'machines'),
    manifests: join(directory, 'manifests'),
    staging: join(directory, 'staging'),
    supervisor,
    desired: join(supervisor, 'desired'),
    observed: join(supervisor, 'observed'),
    lock: join(supervisor, 'lock'),
    pid: join(supervisor, 'pid'),
    keeperLock: join(supervisor, 'keeper.lock'),
    keeperPid: join(supervisor, 'keeper.pid'),
    log: join(supervisor, 'supervisor.log'),
  }
}

export function rootOf({ machines }: Layout, machine: string): string {
  return join(machines, machine)
}

export function logOf(layout: Layout, machine: string, service: string): string {
  return join(rootOf(layout, machine), LOG_DIRECTORY, `${service}.log`)
}

/** Inside a machine's root; ours alone, services get their logs opened for them. */
export const LOG_DIRECTORY = 'log'
