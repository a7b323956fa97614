// `write` of names.yaml beside the running server: each output is a publisher of its own, and a new configuration takes
// their place once they have finished what they are writing.

import { HoldfastError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { publishZonefiles } from '../names/outputs/zonefiles.ts'
import { etcdOptions } from '../server/etcd-connection.ts'
import type { ZonefilesOutput } from '../server/names-yaml/load-names.ts'
import type { Io } from './command.ts'
import { passedEnv } from './passed-env.ts'

export class Outputs {
  readonly #log: Log
  readonly #env: Io['env']
  #end = new AbortController()
  #running: Promise<unknown> = Promise.resolve()

  constructor(log: Log, env: Io['env']) {
    this.#log = log
    this.#env = env
  }

  replace(outputs: readonly ZonefilesOutput[]): void {
    this.#end.abort()
    this.#end = new AbortController()
    const { signal } = this.#end
    this.#running = this.#running.then(() => Promise.all(outputs.map((output) => this.#run(output, signal))))
  }

  async stop(): Promise<void> {
    this.#end.abort()
    await this.#running
  }

  /** An output that cannot go on does not take the server down with it. */
  async #run(output: ZonefilesOutput, signal: AbortSignal): Promise<void> {
    const { etcd, notify, secretVariables, ...rest } = output
    const env = passedEnv(this.#env, secretVariables)
    const options = { ...rest, etcd: etcdOptions(etcd), validate: true, ...(notify && { notify: { ...notify, env } }) }
    try {
      await publishZonefiles(options, { log: this.#log, signal })
    } catch (thrown) {
      if (!(thrown instanceof HoldfastError)) throw thrown
      this.#log.error(`${thrown.message}; nothing is written to "${output.directory}" until the next reload`)
    }
  }
}
