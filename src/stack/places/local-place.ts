// Stacks of `target: local`: processes on this host, which bring their services from this host's packages.

import { basename, dirname, join } from 'node:path'
import type { Machine } from '../../machine/machine.ts'
import { HoldfastError } from '../../lib/errors.ts'
import type { Finding } from '../../targets/finding.ts'
import { checkHost } from '../../targets/local/checks/check-host.ts'
import { packagesOf, usersOf } from '../../targets/local/checks/host-machine.ts'
import { LocalTarget } from '../../targets/local/local-target.ts'
import { installedPostgres, newestPostgres } from '../../targets/local/postgres-programs.ts'
import { supervisedDirectories } from '../../targets/local/supervised-directories.ts'
import { programCommand } from '../../targets/program.ts'
import type { StackDirectory } from '../directory.ts'
import type { Stack } from '../stack.ts'
import type { CheckOptions, HostNeeds, Place, PlaceContext, PlaceSite, PostgresVersions } from './place.ts'

export class LocalPlace implements Place {
  readonly target: LocalTarget
  readonly #stack: string
  readonly #directory: StackDirectory
  readonly #isRoot: boolean

  constructor({ stack, directory, isRoot }: PlaceContext) {
    this.target = new LocalTarget({ directory: directory.path, isRoot })
    this.#stack = stack
    this.#directory = directory
    this.#isRoot = isRoot
  }

  site(): PlaceSite {
    return {
      path: (machine, path) => join(this.#directory.machines, machine, path),
      program: programCommand(this.#directory.path),
      watchdogDevice: undefined,
    }
  }

  /** Clock and logs are this host's. */
  complete(machine: Machine): Machine {
    return machine
  }

  /** Only root can give files away. */
  get setsOwners(): boolean {
    return this.#isRoot
  }

  /** The one that the stack file asks for, if it is installed; otherwise the newest. */
  async postgresVersion({ postgres }: Stack): Promise<PostgresVersions> {
    const installed = await installedPostgres()
    const newest = installed[0] ?? (await newestPostgres(new AbortController().signal))
    const available = installed.length === 0 ? [newest] : installed
    const asked = postgres?.version
    return { version: asked !== undefined && available.includes(asked) ? asked : newest, available }
  }

  /** Processes of this host. */
  hardwareOf(): undefined {
    return undefined
  }

  needs(machines: readonly Machine[]): HostNeeds {
    return { packages: packagesOf(machines), users: usersOf(machines) }
  }

  check(machines: readonly Machine[], { postgresVersion, signal }: CheckOptions): Promise<readonly Finding[]> {
    return checkHost({ machines, directory: this.#directory.path, postgresVersion, isRoot: this.#isRoot, signal })
  }

  async refuseElsewhere(): Promise<void> {
    const { path } = this.#directory
    const other = supervisedDirectories().find((each) => basename(each) === this.#stack && each !== path)
    if (other === undefined) return
    throw new HoldfastError(
      'StackElsewhere',
      `Cannot bring up "${this.#stack}": a stack of that name runs in ${other}; stop it, or give this one another name`,
      { hint: `"holdfast down ${this.#stack} --state ${dirname(dirname(other))}" stops it` },
    )
  }

  /** Their files are all there is to them. */
  describe(): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
    return Promise.resolve(new Map())
  }
}
