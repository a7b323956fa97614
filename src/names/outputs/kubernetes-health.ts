// How a publisher stands with Kubernetes, told when it changes.

import type { Log } from '../../lib/log.ts'
import type { SourceState } from '../sources/etcd-source.ts'

export class KubernetesHealth {
  readonly #log: Log
  #state: SourceState | undefined

  constructor(log: Log) {
    this.#log = log
  }

  get state(): SourceState | undefined {
    return this.#state
  }

  hear(state: SourceState): void {
    const before = this.#state
    this.#state = state
    if (state.error !== undefined && state.error !== before?.error) {
      this.#log.error(state.error)
      if (state.hint !== undefined) this.#log.error(state.hint)
    } else if (state.up && before?.up !== true) this.#log.info(`Kubernetes: following ${state.keys} objects`)
  }
}
