// `write` of names.yaml beside the running server: each output is a publisher of its own, and a new configuration takes
// their place once they have finished what they are writing.

import { HoldfastError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { publishZonefiles } from '../names/outputs/zonefiles.ts'
import { etcdOptions } from '../server/etcd-connection.ts'
import type { ZonefilesOutput } from '../server/names-yaml/load-names.ts'

export class Outputs {
  readonly #log: Log
  #end = new AbortController()
  #running: Promise<unknown> = Promise.resolve()

  constructor(log: Log) {
    this.#log = log
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
  async #run({ etcd, ...output }: ZonefilesOutput, signal: AbortSignal): Promise<void> {
    try {
      await publishZonefiles({ ...output, etcd: etcdOptions(etcd), validate: true }, { log: this.#log, signal })
    } catch (thrown) {
      if (!(thrown instanceof HoldfastError)) throw thrown
      this.#log.error(`${thrown.message}; nothing is written to "${output.directory}" until the next reload`)
    }
  }
}
