// A stack by its directory alone: what can be done with it without its file, which may be gone or broken by now.

import { rm, rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { MachineKind } from '../machine/machine.ts'
import { LocalTarget } from '../targets/local/local-target.ts'
import { type StackDirectory, stackDirectory } from './directory.ts'
import { withLock } from './lock.ts'
import type { Progress } from './progress.ts'

export type DownHow = 'stop' | 'keep-data' | 'purge'

/**
 * Who needs others goes before them. Members of etcd go one by one: a leader hands over before it goes, and would wait in vain for
 * one that is just going, too.
 */
const STOP_ORDER: readonly MachineKind[] = ['haproxy', 'postgres', 'dns', 'etcd']

export class StackHandle {
  readonly name: string
  readonly directory: StackDirectory
  readonly target: LocalTarget

  constructor(state: string, name: string, isRoot: boolean) {
    this.name = name
    this.directory = stackDirectory(state, name)
    this.target = new LocalTarget({ directory: this.directory.path, isRoot })
  }

  /** Needs nothing of what machines can spoil: neither their files nor ours about them. */
  async down(how: DownHow, progress: Progress): Promise<void> {
    await withLock(this.directory.path, async () => {
      const machines = [...(await this.target.machines())]
      // Of one whose kind was lost, what is to be removed and what is its data was lost, too.
      const lost = machines.filter(([, kind]) => kind === undefined)
      await Promise.all(lost.map(([name]) => this.#stop(name, 'stop', progress)))
      for (const each of STOP_ORDER) {
        const stops = machines
          .filter(([, kind]) => kind === each)
          .map(
            ([name]) =>
              () =>
                this.#stop(name, how, progress),
          )
        if (each === 'etcd') for (const stop of stops) await stop()
        else await Promise.all(stops.map((stop) => stop()))
      }
      await this.target.shutdown()
      if (how === 'purge') await this.#removeDirectory()
    })
  }

  async #stop(name: string, how: DownHow, progress: Progress): Promise<void> {
    progress({ machine: name, state: 'working', message: how === 'stop' ? 'stopping' : 'removing' })
    if (how === 'stop') await this.target.stop(name)
    else await this.target.remove(name, { keepData: how === 'keep-data' })
    progress({ machine: name, state: 'ready', message: how === 'stop' ? 'stopped' : 'removed' })
  }

  /** With the directories above it, as far as they were made for it alone. */
  async #removeDirectory(): Promise<void> {
    const { path } = this.directory
    await rm(path, { recursive: true, force: true })
    const stacks = dirname(path)
    await rmdir(stacks)
      .then(() => rmdir(dirname(stacks)))
      .catch(() => undefined)
  }
}
