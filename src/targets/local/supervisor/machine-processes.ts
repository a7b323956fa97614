// Which processes belong to a machine, though nobody may have kept their ids: its services are started with their
// working directory in the machine's root, and what they start stays there (PostgreSQL goes to its data directory,
// which is in it, too).

import type { Service } from '../../../machine/machine.ts'
import { OWN_VARIABLES, SETPRIV } from './launch.ts'
import {
  allProcesses,
  commandOf,
  environmentOf,
  type ProcessEntry,
  programOf,
  userOf,
  workingDirectoryOf,
} from './process-table.ts'

export interface Whose {
  readonly root: string
  /** Numbers of the users its services run as. */
  readonly users: ReadonlySet<number>
}

/** Running processes of a machine, parents before their children. */
export function processesOf(
  { root, users }: Whose,
  processes: readonly ProcessEntry[] = allProcesses(),
): ProcessEntry[] {
  const found = new Map(processes.filter((each) => isOfMachine(each, root, users)).map((each) => [each.pid, each]))
  // What one of them started is of the machine, wherever it went.
  for (let grew = true; grew; ) {
    const children = processes.filter(({ pid, parent }) => found.has(parent) && !found.has(pid))
    for (const child of children) found.set(child.pid, child)
    grew = children.length > 0
  }
  return [...found.values()]
}

/** Those that were not started by another one of them: telling these to end is telling all. */
export function topsOf(processes: readonly ProcessEntry[]): ProcessEntry[] {
  const pids = new Set(processes.map(({ pid }) => pid))
  return processes.filter(({ parent }) => !pids.has(parent))
}

interface Known {
  readonly all: readonly ProcessEntry[]
  /** Those that say so: anybody can. */
  readonly services: ReadonlyMap<string, readonly ProcessEntry[]>
}

/**
 * Finds the process that was started as a service, at whatever stage of becoming it, not one that the service has
 * started. Looks at the processes of the host once, when it is first asked.
 */
export class ServiceFinder {
  #known: Known | undefined

  /** `user` is the number of the user it runs as. */
  find(root: string, user: number, { name, command }: Pick<Service, 'name' | 'command'>): ProcessEntry | undefined {
    this.#known ??= look()
    const { all, services } = this.#known
    const marked = services.get(key(root, name))?.find(({ pid }) => isRunBy(user, pid))
    return marked ?? findByWords(processesOf({ root, users: new Set([user]) }, all), command)
  }
}

/** Or is about to be: what changes the user is started by root. */
function isRunBy(user: number, pid: number): boolean {
  const now = userOf(pid)
  return now === user || (now === 0 && programOf(pid) === SETPRIV)
}

function look(): Known {
  const all = allProcesses()
  const services = new Map<string, ProcessEntry[]>()
  for (const process of all) {
    const environment = environmentOf(process.pid)
    const main = environment?.get(OWN_VARIABLES.pid)
    if (main !== undefined && main !== String(process.pid)) continue
    const service = environment?.get(OWN_VARIABLES.service)
    if (service === undefined) continue
    const at = key(environment?.get(OWN_VARIABLES.root), service)
    services.set(at, [...(services.get(at) ?? []), process])
  }
  return { all, services }
}

function key(root: string | undefined, service: string): string {
  return `${root} ${service}`
}

/** Where we may not look at the environment: by what it was started with, and by leading its session. */
function findByWords(processes: readonly ProcessEntry[], command: readonly string[]): ProcessEntry | undefined {
  return processes.find(
    ({ pid, session }) => pid === session && environmentOf(pid) === undefined && isStartedBy(command, commandOf(pid)),
  )
}

/**
 * A person who looks around in the root, or edits a file there, is none of the machine's: services have no terminal,
 * and are not run by root.
 */
function isOfMachine({ pid, hasTerminal }: ProcessEntry, root: string, users: ReadonlySet<number>): boolean {
  if (hasTerminal) return false
  const directory = workingDirectoryOf(pid)
  const isThere =
    directory === undefined
      ? // In a container, even root may be kept from looking; paths on the command line tell most of it.
        commandOf(pid).some((word) => word.includes(`${root}/`))
      : directory === root || directory.startsWith(`${root}/`)
  if (!isThere) return false
  const user = userOf(pid)
  return user !== undefined && users.has(user)
}

/** What runs a script comes before it (`python3 /usr/bin/patroni …`), as does what changes the user. */
function isStartedBy(command: readonly string[], words: readonly string[]): boolean {
  const [program, ...args] = command
  const at = words.length - command.length
  return (
    at >= 0 && baseName(words[at]) === baseName(program) && args.every((word, index) => words[at + 1 + index] === word)
  )
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
