// A publisher: names from Kubernetes objects into records in etcd, for as long as it may. Of several replicas one writes,
// the others follow and are ready to.

import { KubeClient } from '../../kube/client.ts'
import { openConnection } from '../../kube/connection.ts'
import { lead } from '../../kube/leader.ts'
import { EtcdClient } from '../../etcd/client.ts'
import type { MirrorState } from '../../etcd/mirror.ts'
import type { EtcdOptions } from '../../etcd/options.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { KubeAccess } from '../../server/kubernetes-config.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { EndpointSource } from '../kubernetes/endpoint-source.ts'
import { KubeNames } from '../kubernetes/kube-names.ts'
import { WorkQueue } from '../work-queue.ts'
import type { Shape } from '../kubernetes/shape.ts'
import { KubernetesHealth } from './kubernetes-health.ts'
import type { PublisherState } from './publisher-state.ts'
import { Reconciler, type ReconcilerOptions } from './reconciler.ts'
import { SkydnsStore } from './skydns/skydns-store.ts'

export interface PublishOptions
  extends Pick<
    ReconcilerOptions,
    | 'registry'
    | 'policy'
    | 'managedRecordTypes'
    | 'excludeRecordTypes'
    | 'domainFilter'
    | 'intervalMs'
    | 'maxDeletions'
    | 'onPlan'
    | 'dryRun'
  > {
  /** For messages. */
  readonly name: string
  readonly kube: KubeAccess
  readonly sources: readonly EndpointSource[]
  readonly shape: Shape
  /** Wanted beside what objects ask for. */
  readonly always?: readonly Endpoint[]
  readonly etcd: EtcdOptions
  readonly prefix: string
  /** Whose values are ours, where the values tell. */
  readonly strictOwner: string | undefined
  /** Whose values become ours. */
  readonly formerOwner?: string
  /** The Lease that says who writes; undefined: nobody else does. */
  readonly lease:
    | { readonly namespace: string | undefined; readonly name: string; readonly identity: string }
    | undefined
}

export interface PublishContext {
  readonly log: Log
  readonly signal: AbortSignal
  /** Do what is to be done, and end. */
  readonly once: boolean
}

const ONCE_PATIENCE_MS = 15_000

/**
 * How a run ended: `unread` when Kubernetes or etcd could not be read, so that nothing is known; `partial` when some
 * kinds of objects could not be listed or some records not be written.
 */
export type RunOutcome = 'done' | 'partial' | 'unread'

export class EndpointPublisher {
  readonly #options: PublishOptions
  readonly #context: PublishContext
  /** Ends everything that follows something. */
  readonly #end = new AbortController()
  readonly #names: KubeNames
  readonly #store: SkydnsStore
  readonly #reconciler: Reconciler
  readonly #health: KubernetesHealth
  #etcdUp = false
  #etcdError: string | undefined
  #leading = false
  /** Resolves when Kubernetes or etcd refuses for good. */
  readonly #refused = Promise.withResolvers<void>()

  constructor(options: PublishOptions, context: PublishContext) {
    const { log } = context
    const signal = AbortSignal.any([context.signal, this.#end.signal])
    this.#options = options
    this.#context = { ...context, signal }
    this.#health = new KubernetesHealth(log)
    const client = new EtcdClient(options.etcd)
    signal.addEventListener('abort', () => client.close(), { once: true })
    this.#store = new SkydnsStore({
      ...{ client, prefix: options.prefix, signal, domainFilter: options.domainFilter, showOthers: true },
      ...(options.strictOwner !== undefined && { owner: options.strictOwner }),
      ...(options.formerOwner !== undefined && { formerOwner: options.formerOwner }),
      onProblem: (message) => log.warning(message),
      onState: (state) => this.#hearEtcd(state),
      onChange: (names) => this.#reconciler.stored(names),
    })
    this.#names = new KubeNames({
      ...{ name: options.name, kube: options.kube, sources: options.sources, shape: options.shape, signal },
      ...{ stateDirectory: undefined, setup: '', work: new WorkQueue() },
      onNames: (names, listed) => {
        this.#reconciler.touch(names, listed)
        return undefined
      },
      onState: (state) => {
        this.#health.hear(state)
        if (this.#names.isRefused) this.#refused.resolve()
      },
      onProblem: (message) => log.warning(message),
    })
    const { index } = this.#names
    index.set('always', 'always', options.always ?? [])
    this.#reconciler = new Reconciler({
      ...options,
      store: this.#store,
      wanted: { names: () => index.names(), candidates: (name) => index.candidates(name) },
      isComplete: () => this.#names.isComplete,
      log,
    })
  }

  get state(): PublisherState {
    return {
      kubernetes: this.#health.state,
      wanted: this.#names.index.endpointCount,
      leading: this.#leading,
      etcd: { up: this.#etcdUp, records: count(this.#store.names()), runs: this.#reconciler.counts },
    }
  }

  /** How many names objects ask for, and how many of them the domain filters let through. */
  get filtered(): { readonly names: number; readonly matching: number } {
    const names = [...this.#names.index.names()]
    return { names: names.length, matching: names.filter(this.#options.domainFilter).length }
  }

  async run(): Promise<RunOutcome> {
    const { signal, once } = this.#context
    this.#names.start()
    const following = this.#store.start()
    following.catch((thrown: unknown) => this.#context.log.error(`Cannot follow etcd: ${messageOf(thrown)}`))
    if (once) return this.#runOnce().finally(() => this.#end.abort())
    const { lease, dryRun } = this.#options
    if (lease === undefined || dryRun) await this.#write(signal, () => !signal.aborted)
    else await this.#writeAsLeader(lease)
    return 'done'
  }

  async #runOnce(): Promise<RunOutcome> {
    const { signal, log } = this.#context
    const patience = AbortSignal.any([signal, AbortSignal.timeout(ONCE_PATIENCE_MS)])
    const isReady = await Promise.race([
      this.#ready().then(() => true),
      aborted(patience).then(() => false),
      this.#refused.promise.then(() => false),
    ])
    if (isReady) return (await this.#reconciler.once()) && this.#names.isComplete ? 'done' : 'partial'
    const what = this.#names.isReady ? 'etcd' : 'Kubernetes'
    const waited = patience.aborted ? ` within ${ONCE_PATIENCE_MS / 1000} s` : ''
    if (!signal.aborted)
      log.error(`Cannot publish: ${what} could not be read${waited}; nothing was compared or changed`)
    return 'unread'
  }

  /** Says when it changes how we stand with etcd. */
  #hearEtcd(state: MirrorState): void {
    const { log } = this.#context
    const error = state.up ? undefined : state.error.message
    if (error !== undefined && error !== this.#etcdError) log.error(error)
    else if (state.up && !this.#etcdUp) log.info(`etcd: following ${this.#options.prefix}`)
    if (!state.up && !state.error.retryable) this.#refused.resolve()
    this.#etcdUp = state.up
    this.#etcdError = error
  }

  async #ready(): Promise<void> {
    await Promise.all([this.#store.ready, this.#names.whenReady()])
  }

  async #write(signal: AbortSignal, mayWrite: () => boolean): Promise<void> {
    this.#leading = true
    await Promise.race([this.#ready(), aborted(signal)])
    if (!signal.aborted) await this.#reconciler.run(signal, mayWrite)
    this.#leading = false
  }

  async #writeAsLeader({ namespace, name, identity }: NonNullable<PublishOptions['lease']>): Promise<void> {
    const { signal, log } = this.#context
    const { kube } = this.#options
    const connection = openConnection(kube, kube.env)
    const client = new KubeClient(connection)
    await lead({
      ...{ client, name, identity, signal, namespace: namespace ?? (await connection.namespace()) ?? 'default' },
      onStartedLeading: async (leading, leads) => {
        log.info(`Writing: ${identity} holds lease ${name}`)
        // Whoever wrote before may have known more than we do.
        await Promise.race([this.#names.refresh(), aborted(leading)])
        await this.#write(leading, leads)
      },
      onStoppedLeading: () => log.info(`Not writing any more: ${identity} gave lease ${name} up`),
      onState: (state) => {
        if (state.error !== undefined) log.warning(state.error.message)
      },
    })
    client.close()
  }
}

function count(items: Iterable<unknown>): number {
  let found = 0
  for (const _ of items) found++
  return found
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const { promise, resolve } = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => resolve(), { once: true })
  return promise
}
