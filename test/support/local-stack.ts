// A stack of the target `local` in a temporary directory, with small machines whose services are shell scripts.
// Whatever a test does, closing it ends every process that was started in the directory.

import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { plain } from '../../src/machine/content.ts'
import type { Machine, MachineFile, OnChange, Service } from '../../src/machine/machine.ts'
import { type Layout, layoutOf, logOf } from '../../src/targets/local/layout.ts'
import { LocalTarget } from '../../src/targets/local/local-target.ts'
import { findKeeper, findSupervisor } from '../../src/targets/local/supervisor/keeper.ts'
import { allProcesses, workingDirectoryOf } from '../../src/targets/local/supervisor/process-table.ts'
import type { ServiceState } from '../../src/targets/target.ts'
import { HARDWARE } from './machine-spec.ts'
import { until } from './until.ts'

export const SUPERVISE: readonly string[] = [process.execPath, join(import.meta.dirname, 'supervise.ts')]
export const isRoot = process.getuid?.() === 0
/** Who services run as; every system has it. */
export const USER = 'nobody'

export class LocalStack {
  readonly directory = mkdtempSync(join(tmpdir(), 'holdfast-local-'))
  readonly layout: Layout = layoutOf(this.directory)
  readonly variables = ['HOLDFAST_PID', 'HOLDFAST_ROOT', 'HOLDFAST_SERVICE', 'HOME']
  readonly target = new LocalTarget({ directory: this.directory, isRoot, program: SUPERVISE })

  constructor() {
    chmodSync(this.directory, 0o711)
  }

  async up(machine: Machine): Promise<void> {
    await this.target.write(machine)
    await this.target.start(machine)
  }

  async state(machine: string, service: string): Promise<ServiceState> {
    const state = (await this.target.observe()).get(machine)?.services.get(service)
    if (state === undefined) throw new Error(`${machine} has no ${service}`)
    return state
  }

  /** The process of a service, once it runs. */
  running(machine: string, service: string, other?: number): Promise<number> {
    return until(`${service} of ${machine} running`, async () => {
      const { state, pid } = await this.state(machine, service)
      return state === 'running' && pid !== other ? pid : undefined
    })
  }

  log(machine: string, service: string): string {
    return readFileSync(logOf(this.layout, machine, service), 'utf8')
  }

  /** All but zombies. */
  processes(machine: string): number[] {
    const root = join(this.layout.machines, machine)
    return allProcesses().flatMap(({ pid }) => (workingDirectoryOf(pid)?.startsWith(root) === true ? [pid] : []))
  }

  supervisor(other?: number): Promise<number> {
    return until('a supervisor', () => {
      const pid = findSupervisor(this.layout)
      return pid === other ? undefined : pid
    })
  }

  keeper(other?: number): Promise<number> {
    return until('a keeper', () => {
      const pid = findKeeper(this.layout)?.pid
      return pid === other ? undefined : pid
    })
  }

  async close(): Promise<void> {
    await until('the end of all', () => {
      const pids = [findKeeper(this.layout)?.pid, findSupervisor(this.layout)].filter((pid) => pid !== undefined)
      for (const pid of pids) process.kill(pid, 'SIGKILL')
      return pids.length === 0
    })
    for (const { pid } of allProcesses()) {
      if (workingDirectoryOf(pid)?.startsWith(this.directory) === true) process.kill(pid, 'SIGKILL')
    }
    rmSync(this.directory, { recursive: true, force: true })
  }
}

export function machine(name: string, services: readonly Service[], parts: Partial<Machine> = {}): Machine {
  return {
    name,
    kind: 'etcd',
    address: '127.104.0.1',
    hardware: HARDWARE,
    packages: [],
    directories: [],
    files: [],
    services,
    ports: [],
    ...parts,
  }
}

/** A shell script. */
export function service(name: string, script: string, parts: Partial<Service> = {}): Service {
  return {
    name,
    user: USER,
    command: ['sh', '-c', script],
    environment: {},
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 5000,
    ...parts,
  }
}

export function file(path: string, text: string, onChange: OnChange = 'nothing', mode = 0o644): MachineFile {
  return { path, owner: USER, mode, content: plain(text), onChange }
}
