// Names that follow Kubernetes objects: starts from the last good state on disk, follows every kind of object that the
// sources read, and tells which names are wanted otherwise than before.
//
//   snapshot ──▶ sources ──▶ index ──▶ onNames        (once, before Kubernetes is asked)
//   follow ────▶ sources ──▶ index ──▶ onNames, snapshot
//
// Much at once is worked out object by object, between other events of the thread; what comes meanwhile waits its turn.
// Nothing is told before everything is known once: a half-known cluster would look like a cluster with half its names.
// A kind that the API server refuses or does not have is told, and does not hold up the others.

import type { Steps } from '../../dns/steps.ts'
import { KubeClient } from '../../kube/client.ts'
import { openConnection } from '../../kube/connection.ts'
import { follow, type FollowInfo, type FollowState } from '../../kube/follow.ts'
import { type KubeObject, type ObjectChange, objectKey } from '../../kube/resource.ts'
import { HoldfastError, messageOf } from '../../lib/errors.ts'
import type { KubeAccess } from '../../server/kubernetes-config.ts'
import { Batches } from '../batches.ts'
import type { SourceState } from '../sources/etcd-source.ts'
import type { WorkQueue } from '../work-queue.ts'
import { DoubtedObjects } from './doubted-objects.ts'
import { EndpointIndex } from './endpoint-index.ts'
import type { EndpointSource, RootEndpoints } from './endpoint-source.ts'
import { type FollowedGroup, followedGroups } from './followed-groups.ts'
import { KubeSnapshot, type RecalledObject, versionOf } from './kube-snapshot.ts'
import { limitedEndpoints } from './object-limits.ts'
import { fewProblems } from './object-problems.ts'
import { ToldProblems } from './told-problems.ts'
import type { Shape } from './shape.ts'

export interface KubeNamesOptions {
  /** For messages. */
  readonly name: string
  readonly kube: KubeAccess
  readonly sources: readonly EndpointSource[]
  readonly shape: Shape
  /** Differs where other parts of objects are kept. */
  readonly setup: string
  /** Where the last good state is kept; undefined: nowhere. */
  readonly stateDirectory: string | undefined
  readonly signal: AbortSignal
  readonly work: WorkQueue
  /** Names that are wanted otherwise than before; `listed`: found by comparing, not by watching. */
  readonly onNames: (names: ReadonlySet<string>, listed: boolean, version: bigint) => Steps<void> | undefined
  readonly onState: (state: SourceState) => void
  readonly onProblem: (message: string) => void
}

/** How a kind of objects stands. */
interface Standing {
  readonly group: FollowedGroup
  /** Known objects with their versions, for the first comparison. */
  readonly known: Map<string, string>
  count: number
  version: bigint
  /** Seen as a whole, by this process. */
  listed: boolean
  /** What happened before this moment (performance.now) is known, or cannot be, as the server says. */
  asOf: number
  error: HoldfastError | undefined
  readonly doubted: DoubtedObjects
}

/** How long a start waits for Kubernetes, when the last good state is known and when it is not. */
const PATIENCE_MS = { known: 2000, unknown: 3000 } as const
const STATE_MS = 1000
/** Taken in before other events have their turn. */
const OBJECTS_AT_ONCE = 16
const PROBLEMS_SHOWN = 5

export class KubeNames {
  readonly index = new EndpointIndex()
  /** Resolves when there is something to serve, or nothing is to be waited for. */
  readonly settled: Promise<void>
  readonly #options: KubeNamesOptions
  readonly #settle: () => void
  readonly #standings: readonly Standing[]
  readonly #problems: ToldProblems
  #snapshot: KubeSnapshot | undefined
  #startedFrom: number | undefined
  /** Roots to be looked at, with their sources. */
  readonly #outdated = new Map<string, EndpointSource>()
  /** What has changed and may not be told yet. */
  #touched = new Set<string>()
  #ready = false
  readonly #told = Promise.withResolvers<void>()
  #telling = false
  /** What is to be taken in, in order. */
  readonly #batches: Batches
  readonly #calls = new EventTarget()
  /** Those who wait until everything up to a moment is known. */
  #waiting: { readonly since: number; readonly resolve: () => void }[] = []

  constructor(options: KubeNamesOptions) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.settled = promise
    this.#settle = resolve
    this.#options = options
    this.#batches = new Batches({
      work: options.work,
      lane: 'names',
      onFailure: (thrown) => this.#fail('follow objects', thrown),
    })
    this.#problems = new ToldProblems(options.onProblem)
    this.#standings = followedGroups(options.sources).map((group) => ({
      ...{ group, known: new Map<string, string>(), count: 0, version: 0n },
      ...{ listed: false, asOf: -Infinity, error: undefined, doubted: new DoubtedObjects() },
    }))
  }

  /** Every kind of object has been seen as a whole, so what is not there does not exist. */
  get isComplete(): boolean {
    return this.#standings.every(({ listed, error }) => listed && !isRefusal(error))
  }

  /** Kubernetes refuses everything that is followed: waiting does not help. */
  get isRefused(): boolean {
    return !this.#ready && this.#standings.every(({ error }) => isRefusal(error))
  }

  /** Names have been told, all of them. */
  get isReady(): boolean {
    return this.#ready
  }

  /** Resolves when names are told for the first time. */
  async whenReady(): Promise<void> {
    return this.#told.promise
  }

  /** Resolves when everything that has happened by now is known, as far as the API server tells. */
  async refresh(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ since: performance.now(), resolve })
    this.#calls.dispatchEvent(new Event('relist'))
    this.#serveWaiting()
    return promise
  }

  start(): void {
    this.#recall()
    this.#tell()
    setTimeout(this.#settle, this.#startedFrom === undefined ? PATIENCE_MS.unknown : PATIENCE_MS.known).unref()
    this.#follow().catch((thrown: unknown) => {
      this.#fail('follow Kubernetes', thrown)
      const error = new HoldfastError(
        'KubeFailed',
        `Cannot follow Kubernetes any more: ${messageOf(thrown)}; restart it`,
      )
      for (const standing of this.#standings) standing.error = error
      this.#tell()
    })
  }

  async #follow(): Promise<void> {
    const { kube, signal } = this.#options
    const client = new KubeClient(openConnection(kube, kube.env))
    signal.addEventListener('abort', () => client.close(), { once: true })
    await Promise.all(
      this.#standings.map((standing) =>
        follow({
          ...{ client, signal, selection: standing.group.selection, known: standing.known, calls: this.#calls },
          keep: (object) => this.#keep(standing.group, object),
          onChanges: (changes, info) => this.#batches.add(() => this.#take(standing, changes, info)),
          onState: (state) => this.#batches.add(() => this.#hear(standing, state)),
          onOdd: (count) => this.#tellOdd(standing, count),
        }),
      ),
    )
  }

  /** Takes in the last good state. */
  #recall(): void {
    const { stateDirectory, name, setup, kube, signal, onProblem } = this.#options
    if (stateDirectory === undefined) return
    const kinds = this.#standings.map(({ group }) => group.id)
    const snapshot = new KubeSnapshot(
      stateDirectory,
      [name, setup, kube.server ?? '', kube.context ?? '', ...kinds],
      onProblem,
    )
    this.#snapshot = snapshot
    signal.addEventListener('abort', () => snapshot.close(), { once: true })
    const content = snapshot.recall()
    if (content === undefined) return
    const standings = new Map(this.#standings.map((standing) => [standing.group.id, standing]))
    for (const { groupId, key, version } of content.objects) {
      const standing = standings.get(groupId)
      if (standing === undefined) continue
      standing.known.set(key, String(version))
      standing.count++
      if (version > standing.version) standing.version = version
    }
    this.#startedFrom = content.savedAt
    this.#batches.add(() => this.#takeRecalled(content.objects, standings))
  }

  *#takeRecalled(objects: Iterable<RecalledObject>, standings: ReadonlyMap<string, Standing>): Steps<void> {
    for (const { groupId, key, read } of objects) {
      const group = standings.get(groupId)?.group
      if (group === undefined) continue
      this.#apply(group, { resource: group.selection.resource, key, object: read() })
      yield
    }
    yield* this.#evaluate()
    this.#ready = true
    yield* this.#publish(true)
  }

  *#take(standing: Standing, changes: readonly ObjectChange[], info: FollowInfo): Steps<void> {
    const { group, doubted } = standing
    const before = doubted.count
    const { believed, released } = doubted.sift(changes, info)
    if (doubted.count > before) this.#doubt(standing)
    standing.listed ||= info.listed
    standing.count = info.count + doubted.count
    standing.version = versionOf(info.resourceVersion)
    for (let from = 0; from < believed.length; from += OBJECTS_AT_ONCE) {
      const some = believed.slice(from, from + OBJECTS_AT_ONCE)
      for (const change of some) this.#apply(group, change)
      this.#snapshot?.append(group.id, some, standing.version)
      yield
    }
    yield* this.#evaluate()
    yield* this.#publish(info.listed || released)
    standing.asOf = info.asOf
    if (info.listed) {
      this.#tell()
      this.#serveWaiting()
    } else this.#tellSoon()
  }

  #doubt({ group, doubted }: Standing): void {
    const { stateDirectory, onProblem } = this.#options
    const remedy =
      stateDirectory === undefined
        ? 'restart'
        : `stop, remove the state of this source in "${stateDirectory}", and start again`
    onProblem(
      `Cannot believe that ${doubted.count} objects of ${group.id} are gone: the API server's history is not the one known before; their names stay until at least half of all are there, or, if they are gone for good, ${remedy}`,
    )
  }

  *#hear(standing: Standing, state: FollowState): Steps<void> {
    standing.error = state.up ? undefined : state.error
    // What the server says of itself is an answer; that it cannot be reached is none.
    const now = performance.now()
    yield* this.#publish(true)
    if (isRefusal(standing.error)) standing.asOf = now
    this.#tell()
    this.#serveWaiting()
  }

  #serveWaiting(): void {
    const isKnown = (since: number) => this.#standings.every(({ asOf }) => asOf >= since)
    for (const { resolve } of this.#waiting.filter(({ since }) => isKnown(since))) resolve()
    this.#waiting = this.#waiting.filter(({ since }) => !isKnown(since))
  }

  /** Definitions let objects through whose fields are of other kinds than they should be: such an object has no names. */
  #keep(group: FollowedGroup, object: KubeObject): KubeObject {
    const { name, namespace } = object.metadata
    const metadata = { name, ...(namespace !== undefined && { namespace }) }
    const title = titleOf(group, objectKey(metadata))
    try {
      const kept = group.keep(object)
      this.#problems.set(title, [])
      return kept
    } catch (thrown) {
      this.#problems.set(title, [unreadable(title, thrown)])
      return { metadata }
    }
  }

  #tellOdd({ group }: Standing, count: number): void {
    const subject = `items of ${group.id}`
    const problem = `Cannot read ${count} ${subject}: they are no objects with a name; they are left out`
    this.#problems.set(subject, count === 0 ? [] : [problem])
  }

  /** A fault in what an object leads to is no reason to lose sight of the others. */
  #apply(group: FollowedGroup, change: ObjectChange): void {
    if (change.object === undefined) this.#problems.set(titleOf(group, change.key), [])
    for (const { source, keep } of group.readers) {
      try {
        const kept = change.object === undefined ? change : { ...change, object: keep(change.object) }
        for (const root of source.apply(kept)) this.#outdated.set(root, source)
      } catch (thrown) {
        const title = titleOf(group, change.key)
        this.#problems.set(title, [unreadable(title, thrown)])
      }
    }
  }

  /** Each root once, however many of the objects it depends on have changed. */
  *#evaluate(): Steps<void> {
    for (const [root, source] of this.#outdated) {
      this.#outdated.delete(root)
      const { endpoints, problems } = this.#endpointsOf(root, source)
      this.#problems.set(root, fewProblems(root, problems))
      for (const name of this.index.set(source.name, root, endpoints)) this.#touched.add(name)
      yield
    }
  }

  #endpointsOf(root: string, source: EndpointSource): RootEndpoints {
    try {
      const { endpoints, problems } = limitedEndpoints(root, source.endpoints(root))
      return { endpoints: this.#options.shape(endpoints), problems }
    } catch (thrown) {
      return { endpoints: [], problems: [unreadable(root, thrown)] }
    }
  }

  *#publish(listed: boolean): Steps<void> {
    this.#ready ||= this.#isKnown
    if (!this.#ready) return
    const touched = this.#touched
    this.#touched = new Set()
    for (const name of touched) {
      this.#problems.set(`name ${name}`, asList(this.index.dispute(name)))
      yield
    }
    try {
      const steps = this.#options.onNames(touched, listed, this.#version)
      if (steps !== undefined) yield* steps
    } catch (thrown) {
      this.#fail(`publish ${touched.size} names`, thrown)
    }
    this.#settle()
    this.#told.resolve()
  }

  /**
   * Whether there is something to go by. A kind that is refused does not hold up the others; but where nothing could be
   * listed, because we are not let in, nothing is known at all. Kinds that are not installed have no objects.
   */
  get #isKnown(): boolean {
    const isAnswered = this.#standings.every(({ listed, error }) => listed || isRefusal(error))
    const isMissing = this.#standings.every(({ error }) => error?.code === 'KubeResourceMissing')
    return isAnswered && (isMissing || this.#standings.some(({ listed }) => listed))
  }

  #fail(action: string, thrown: unknown): void {
    this.#options.onProblem(
      `Cannot ${action} for ${this.#options.name}: ${messageOf(thrown)}; this is a defect, please report it`,
    )
  }

  /** Of the newest object. */
  get #version(): bigint {
    return this.#standings.reduce((newest, { version }) => (version > newest ? version : newest), 0n)
  }

  #tellSoon(): void {
    if (this.#telling) return
    this.#telling = true
    setTimeout(() => this.#tell(), STATE_MS).unref()
  }

  #tell(): void {
    this.#telling = false
    const failing = this.#standings.find(({ error }) => error !== undefined)
    const problems = this.#problems.all()
    this.#options.onState({
      up: failing === undefined && this.#standings.every(({ listed }) => listed),
      error: failing?.error?.message,
      hint: failing?.error?.hint,
      revision: String(this.#version),
      keys: this.#standings.reduce((sum, { count }) => sum + count, 0),
      doubted: this.#standings.some(({ doubted }) => doubted.count > 0),
      startedFrom: this.#startedFrom,
      problemCount: problems.length,
      problems: problems.slice(0, PROBLEMS_SHOWN),
    })
  }
}

/** Definitions let objects through whose fields are of other kinds than they should be. */
function unreadable(title: string, thrown: unknown): string {
  const reason = thrown instanceof TypeError ? 'a field is not of the kind that is expected there' : messageOf(thrown)
  return `Cannot read ${title}: ${reason}; it has no names`
}

function titleOf({ selection }: FollowedGroup, key: string): string {
  return `${selection.resource.kind} "${key}"`
}

/** Not that it could not be asked. */
function isRefusal(error: HoldfastError | undefined): boolean {
  return error?.retryable === false
}

function asList(message: string | undefined): readonly string[] {
  return message === undefined ? [] : [message]
}
