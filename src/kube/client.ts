// Asks the API server: lists in pages, watches, and single objects, as JSON over HTTP.

import { HoldfastError } from '../lib/errors.ts'
import { Caller } from './caller.ts'
import type { KubeConnection } from './connection.ts'
import { readAll, TransportFailure } from './exchange.ts'
import { explainFailure, isNamedObjectMissing, type Status, StatusFailure, type Task } from './failure.ts'
import { Lines } from './lines.ts'
import { collectionPath, objectPath, type Query, withQuery } from './paths.ts'
import { type KubeObject, objectKey, type ObjectMeta, type Resource, resourceName, type Selection } from './resource.ts'
import { explainTransport } from './transport-failure.ts'

export interface RequestOptions {
  readonly query?: Query
  /** Sent as JSON. */
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
  /** How long the server may be silent. Default 10 s. */
  readonly timeoutMs?: number
  /** What is being done, for errors: `read lease "a/b"`. */
  readonly what?: string
}

export interface ListOptions {
  readonly limit?: number
  /** From the page before. */
  readonly continue?: string | undefined
  /** Default: the newest state that there is. */
  readonly resourceVersion?: string
}

/** A list, or a page of one. */
export interface ObjectList {
  readonly items: readonly KubeObject[]
  /** How many items were left out, since they are no objects with a name. */
  readonly odd: number
  readonly resourceVersion: string
  /** Undefined: this is the last page. */
  readonly continue: string | undefined
}

export interface WatchOptions {
  /** Everything after this version is told. */
  readonly resourceVersion: string
  /** The server ends the watch after this time. */
  readonly timeoutSeconds: number
  /** A bookmark comes about once a minute, so a watch that is silent for longer than this is dead. */
  readonly silenceMs: number
}

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  /** Undefined when it is no object with a name. */
  readonly object: KubeObject | undefined
}

export type ObjectName = Pick<ObjectMeta, 'namespace' | 'name'>

const TIMEOUT_MS = 10_000
/** The server reads a page from etcd before it sends the first byte of it. */
const LIST_TIMEOUT_MS = 30_000

interface ListBody {
  readonly kind: string
  readonly items?: readonly unknown[] | null
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
}

export class KubeClient {
  readonly #connection: KubeConnection
  readonly #caller: Caller

  constructor(connection: KubeConnection) {
    this.#connection = connection
    this.#caller = new Caller(connection)
  }

  close(): void {
    this.#connection.close()
  }

  /** The answer as JSON, or as text where it is none, as that of `/version` and `/readyz`. */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<unknown> {
    const { query = {}, body, signal, timeoutMs = TIMEOUT_MS, what = `${method} "${path}"` } = options
    const call = {
      method,
      path: withQuery(path, query),
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      silenceMs: timeoutMs,
    }
    return this.#caller.ask(call, what, async (answer) => parse(await readAll(answer)))
  }

  async list(selection: Selection, options: ListOptions = {}, signal?: AbortSignal): Promise<ObjectList> {
    const { resource, namespace, labelSelector, fieldSelector } = selection
    const answer = await this.request('GET', collectionPath(resource, namespace), {
      query: { labelSelector, fieldSelector, ...options },
      signal,
      timeoutMs: LIST_TIMEOUT_MS,
      what: `list ${resourceName(resource)}`,
    })
    // Something else that answers in its place must not pass for an empty list.
    if (!isList(answer))
      throw new HoldfastError('KubeFailed', `Cannot list ${resourceName(resource)}: the answer is no list`, {
        retryable: true,
      })
    const { metadata } = answer
    const listed = answer.items ?? []
    const items = listed.filter(isNamed)
    const { resourceVersion } = metadata
    return { items, odd: listed.length - items.length, resourceVersion, continue: metadata.continue || undefined }
  }

  /** Events that arrive together come together. The first time there are none: the watch has begun. */
  async *watch(
    selection: Selection,
    { silenceMs, ...options }: WatchOptions,
    signal?: AbortSignal,
  ): AsyncGenerator<readonly WatchEvent[]> {
    const { resource, namespace, labelSelector, fieldSelector } = selection
    const query = { watch: true, allowWatchBookmarks: true, labelSelector, fieldSelector, ...options }
    const call = { method: 'GET', path: withQuery(collectionPath(resource, namespace), query), signal, silenceMs }
    const what = `watch ${resourceName(resource)}`
    const { answer, task } = await this.#caller.ask(call, what, async (answer, task) => ({ answer, task }))
    yield []
    const lines = new Lines()
    try {
      for await (const chunk of answer.chunks()) {
        const events = lines.take(chunk).map((line) => parseEvent(line, task))
        if (events.length > 0) yield events
      }
    } catch (error) {
      throw error instanceof TransportFailure ? explainTransport(task, error) : error
    }
  }

  /** Undefined when there is none of that name. */
  async get(resource: Resource, name: ObjectName, signal?: AbortSignal): Promise<KubeObject | undefined> {
    try {
      const what = `read ${titleOf(resource, name)}`
      return (await this.request('GET', objectPath(resource, name), { signal, what })) as KubeObject
    } catch (error) {
      if (isNamedObjectMissing(error)) return undefined
      throw error
    }
  }

  async create(resource: Resource, object: KubeObject, signal?: AbortSignal): Promise<KubeObject> {
    const path = collectionPath(resource, object.metadata.namespace)
    const what = `create ${titleOf(resource, object.metadata)}`
    return (await this.request('POST', path, { body: object, signal, what })) as KubeObject
  }

  /** Refused (KubeConflict) where the object has a version and is no longer at it. */
  async replace(resource: Resource, object: KubeObject, signal?: AbortSignal): Promise<KubeObject> {
    const what = `change ${titleOf(resource, object.metadata)}`
    const options = { body: object, signal, what }
    return (await this.request('PUT', objectPath(resource, object.metadata), options)) as KubeObject
  }
}

function isList(answer: unknown): answer is ListBody {
  const { kind, metadata, items } = (answer ?? {}) as Partial<ListBody>
  if (typeof kind !== 'string' || !kind.endsWith('List') || typeof metadata?.resourceVersion !== 'string') return false
  return Array.isArray(items ?? [])
}

/** Whether it is an object with a name; its other fields are for whoever reads them to check. */
function isNamed(item: unknown): item is KubeObject {
  const { metadata } = (item ?? {}) as Partial<KubeObject>
  if (typeof metadata?.name !== 'string' || metadata.name === '') return false
  const { namespace, resourceVersion }: { namespace?: unknown; resourceVersion?: unknown } = metadata
  return [namespace, resourceVersion].every((field) => field === undefined || typeof field === 'string')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function parseEvent(line: Buffer, task: Task): WatchEvent {
  const { type, object } = (parse(line.toString()) ?? {}) as
    | Partial<WatchEvent>
    | { readonly type: 'ERROR'; readonly object: Status }
  if (type === 'ERROR')
    throw explainFailure(task, new StatusFailure(object?.code ?? 500, object, object?.message ?? 'no reason'))
  if (type === undefined || !EVENT_TYPES.includes(type) || object === undefined)
    throw new HoldfastError('KubeFailed', `Cannot ${task.what}: a line of the answer is no event`, { retryable: true })
  if (type === 'BOOKMARK') return { type, object: isVersioned(object) ? object : undefined }
  return { type, object: isNamed(object) ? object : undefined }
}

const EVENT_TYPES: readonly string[] = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']

/** Bookmarks have a version and no name. */
function isVersioned(object: unknown): object is KubeObject {
  const { metadata } = (object ?? {}) as Partial<KubeObject>
  return typeof metadata?.resourceVersion === 'string'
}

function titleOf({ plural, group }: Resource, name: ObjectName): string {
  return `${resourceName({ plural, group })} "${objectKey(name)}"`
}
