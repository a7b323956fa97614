// A publisher: names from Kubernetes objects into one zone file, for a name server beside it.

import type { Log } from '../../lib/log.ts'
import { KubeNames, type KubeNamesOptions } from '../kubernetes/kube-names.ts'
import { WorkQueue } from '../work-queue.ts'
import type { Steps } from '../../dns/steps.ts'
import { SettledNames } from '../kubernetes/settled-names.ts'
import type { ZoneApex } from '../kubevirt/zone-apex.ts'
import { EndpointZoneFile } from './endpoint-zone-file.ts'
import { KubernetesHealth } from './kubernetes-health.ts'
import type { PublisherState } from './publisher-state.ts'

export interface ZoneFilePublisherOptions extends Pick<KubeNamesOptions, 'name' | 'kube' | 'sources' | 'shape'> {
  readonly directory: string
  readonly apex: ZoneApex
}

export class ZoneFilePublisher {
  readonly #names: KubeNames
  readonly #file: EndpointZoneFile
  readonly #health: KubernetesHealth
  readonly #signal: AbortSignal

  constructor({ directory, apex, ...source }: ZoneFilePublisherOptions, log: Log, signal: AbortSignal) {
    this.#signal = signal
    this.#health = new KubernetesHealth(log)
    this.#file = new EndpointZoneFile({ directory, apex, log, signal })
    const onProblem = (message: string) => log.warning(message)
    this.#names = new KubeNames({
      ...{ ...source, stateDirectory: undefined, setup: '', signal, onProblem, work: new WorkQueue() },
      onNames: (names) => this.#setNames(names, settled),
      onState: (state) => this.#health.hear(state),
    })
    const settled = new SettledNames((name) => this.#names.index.candidates(name), onProblem)
  }

  *#setNames(names: Iterable<string>, settled: SettledNames): Steps<void> {
    for (const name of names) {
      this.#file.set(name, settled.settle(name))
      yield
    }
    this.#file.commit(this.#names.isComplete)
  }

  get state(): PublisherState {
    return { kubernetes: this.#health.state, wanted: this.#names.index.endpointCount, leading: true }
  }

  /** Until the signal says otherwise; what is known by then is on disk. */
  async run(): Promise<void> {
    this.#names.start()
    if (!this.#signal.aborted)
      await new Promise((resolve) => this.#signal.addEventListener('abort', resolve, { once: true }))
    await this.#file.flush()
  }
}
