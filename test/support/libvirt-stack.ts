// A stack on the hypervisor of a LibvirtLab, as a user has it: a stack file, bin/holdfast run inside the lab, and the programs
// that people use beside it.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Plan } from '../../src/stack/plan.ts'
import type { StackStatus } from '../../src/stack/status.ts'
import type { CommandResult } from './command-line.ts'
import type { LibvirtLab } from './libvirt-lab.ts'

export const HOLDFAST = join(import.meta.dirname, '../../bin/holdfast')

export class LibvirtStack {
  readonly lab: LibvirtLab
  readonly name: string
  readonly directory: string
  /** Seconds that each cluster may take. */
  readonly #timeout: number

  constructor(lab: LibvirtLab, name: string, { timeoutSeconds = 120 } = {}) {
    this.lab = lab
    this.name = name
    this.directory = join(lab.directory, 'stacks', name)
    this.#timeout = timeoutSeconds
    mkdirSync(this.directory, { recursive: true })
  }

  /** Writes the stack file anew; `body` is all of it but its name and target. */
  file(body: string): void {
    this.write('stack.yaml', `name: ${this.name}\ntarget: libvirt\n${body}\n`)
  }

  write(name: string, text: string): string {
    const path = join(this.directory, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    return path
  }

  /** Below the directory of the stack's credentials. */
  path(...names: readonly string[]): string {
    return join(this.directory, 'state/stacks', this.name, ...names)
  }

  words(command: string, ...args: readonly string[]): string[] {
    return [HOLDFAST, command, ...args, '--state', join(this.directory, 'state')]
  }

  run(command: string, ...args: readonly string[]): Promise<CommandResult> {
    return this.lab.run(this.words(command, ...args), { cwd: this.directory })
  }

  done(command: string, ...args: readonly string[]): Promise<string> {
    return this.lab.done(this.words(command, ...args), { cwd: this.directory })
  }

  async up(): Promise<StackStatus> {
    const printed = await this.done('up', '--yes', '--json', '--timeout', String(this.#timeout))
    return JSON.parse(printed) as StackStatus
  }

  async plan(): Promise<Plan> {
    return JSON.parse((await this.run('plan', '--json')).stdout) as Plan
  }

  /** What the plan would do: `etcd-2 create start`. */
  async changes(): Promise<string[]> {
    const { machines } = await this.plan()
    return machines
      .filter(({ action }) => action !== 'none')
      .map(({ machine, action, effect }) => `${machine} ${action} ${effect}`)
  }

  async status(): Promise<StackStatus> {
    return JSON.parse((await this.run('status', '--json')).stdout) as StackStatus
  }

  /** As people use it, with the variables of client/env in place. */
  client(script: string): Promise<string> {
    return this.lab.done(['sh', '-c', `. ${this.path('client/env')}; ${script}`], { cwd: this.directory })
  }

  /** What psql prints, logged in at the primary with verify-full. */
  async sql(statement: string): Promise<string> {
    return (await this.client(`PGCONNECT_TIMEOUT=10 psql -XAtq -v ON_ERROR_STOP=1 -c "${statement}"`)).trim()
  }

  async etcdctl(...args: readonly string[]): Promise<string> {
    const password = readFileSync(this.path('secrets/etcd-root-password'), 'utf8').trimEnd()
    return this.client(`ETCDCTL_USER='root:${password}' etcdctl ${args.join(' ')}`)
  }

  async dig(server: string, name: string): Promise<string[]> {
    const { stdout } = await this.lab.run(['dig', '+short', '+tries=1', '+time=3', `@${server}`, name])
    return stdout.trimEnd().split('\n').toSorted()
  }

  domain(machine: string): string {
    return `${this.name}-${machine}`
  }

  /** Whatever is left of it. */
  async purge(): Promise<void> {
    if (existsSync(this.path())) await this.run('down', this.name, '--purge', '--yes')
  }
}
