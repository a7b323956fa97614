// A host that exists only in memory: its clock moves when a test says so, and its processes end when a test ends them.

import type { Service } from '../../../machine/machine.ts'
import { layoutOf } from '../layout.ts'
import type { DesiredMachine, DesiredService } from './desired.ts'
import type { Launch } from './launch.ts'
import { MachineCare, type MachineSurroundings } from './machine-care.ts'
import type { ObservedMachine, ObservedService } from './observed.ts'
import type { ProcessEntry, ProcessId } from './process-table.ts'
import type { System } from './system.ts'

interface SimulatedProcess {
  readonly id: ProcessId
  /** `etcd`; undefined for one that a service has left behind. */
  readonly service: string | undefined
  readonly onEnd: Launch['onEnd'] | undefined
}

export const BOOT = 'boot-1'

export class SimulatedHost {
  /** In order: `start etcd`, `SIGTERM 101`. */
  readonly acts: string[] = []
  readonly log: string[] = []
  readonly logs = new Map<string, string>()
  /** What was written down last. */
  saved: ObservedMachine | undefined
  /** Thrown by the next start. */
  refusal: Error | undefined
  isDiskFull = false
  clockMs = 1_000_000
  wakes = 0
  readonly #processes = new Map<number, SimulatedProcess>()
  #nextPid = 101

  readonly system: System = {
    now: () => this.clockMs,
    time: () => 1_700_000_000_000 + this.clockMs,
    launch: ({ service: { name }, onEnd }) => {
      if (this.refusal !== undefined) throw this.refusal
      this.acts.push(`start ${name}`)
      return this.add(name, onEnd).pid
    },
    startTimeOf: (pid) => this.#processes.get(pid)?.id.startTime,
    isRunning: ({ pid, startTime }) => this.#processes.get(pid)?.id.startTime === startTime,
    sendSignal: ({ pid }, signal) => void this.acts.push(`${signal} ${pid}`),
    processesOf: () => [...this.#processes.values()].map(({ id }) => entryOf(id)),
    logSize: (path) => this.logs.get(path)?.length ?? 0,
    lastLines: (path, from) => (this.logs.get(path) ?? '').slice(from).split('\n'),
    save: (_, observed) => {
      if (this.isDiskFull) throw new Error('no space left on device')
      this.saved = observed
    },
  }

  readonly around: MachineSurroundings = {
    system: this.system,
    layout: layoutOf('/stack'),
    isRoot: false,
    ownUid: 1000,
    bootId: BOOT,
    log: (message) => void this.log.push(message),
    wake: () => void this.wakes++,
  }

  /** A process that runs already. */
  add(service?: string, onEnd?: Launch['onEnd']): ProcessId {
    const id = { pid: this.#nextPid++, startTime: this.clockMs }
    this.#processes.set(id.pid, { id, service, onEnd })
    return id
  }

  /** Ends it; its parent hears of that. */
  end(pid: number, how: Parameters<Launch['onEnd']>[0] = { exitCode: 0 }): void {
    const process = this.#processes.get(pid)
    this.#processes.delete(pid)
    process?.onEnd?.(how)
  }

  /** A supervisor that looks for the first time. */
  care(desired: DesiredMachine, before?: ObservedMachine): MachineCare {
    return new MachineCare(this.around, desired, before, {
      find: (_root, _user, { name }) => {
        const found = [...this.#processes.values()].find(({ service }) => service === name)
        return found && entryOf(found.id)
      },
    })
  }

  observed(service: string): ObservedService {
    const found = this.saved?.services.find(({ startedAs }) => startedAs.service.name === service)
    if (found === undefined) throw new Error(`nothing was written down about ${service}`)
    return found
  }

  pidOf(service: string): number {
    const pid = this.observed(service).process?.pid
    if (pid === undefined) throw new Error(`${service} does not run`)
    return pid
  }

  /** What was done since it was asked for the last time. */
  done(): string[] {
    return this.acts.splice(0)
  }
}

function entryOf(id: ProcessId): ProcessEntry {
  return { ...id, parent: 1, session: id.pid, hasTerminal: false }
}

export function desiredService(name: string, parts: Partial<Service> = {}): DesiredService {
  const service: Service = {
    name,
    user: 'nobody',
    command: [name],
    environment: {},
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 5000,
    ...parts,
  }
  return { service, restarts: 0, reloads: 0, digests: { restart: 'a', reload: 'a' } }
}

export function desiredMachine(
  services: readonly DesiredService[],
  wanted: DesiredMachine['wanted'] = 'running',
): DesiredMachine {
  return { machine: 'm', revision: 1, wanted, services }
}
