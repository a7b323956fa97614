// The loading thread: the only writer of the arena. It watches the sources, reads and checks what they offer and puts
// it into service, so that a zone of a million records never holds up an answer.

import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../lib/errors.ts'
import { loadLibc } from '../lib/libc.ts'
import { Arena } from '../zone/arena.ts'
import { Directory } from '../zone/directory.ts'
import { Control } from '../zone/epoch.ts'
import { Catalog } from './catalog.ts'
import type { LoaderData, LoaderReport, LoaderRequest, SearchFound, SearchRequest } from './loader-messages.ts'
import { SerialStore } from './serials.ts'
import type { SearchResult } from './skydns/search.ts'
import { SpaceSources } from './space-sources.ts'
import type { SpaceContext } from './space-sources.ts'
import { WorkQueue } from './work-queue.ts'

const FIRST_ARENA_BYTES = 1 << 20
const LARGE_ZONE = 50_000

const data = workerData as LoaderData
const control = new Control(data.control)
/** The thread is ended from outside, as a whole. */
const lifetime = new AbortController().signal
const libc = loadLibc(() => undefined)

function report(message: LoaderReport | SearchFound): void {
  // A large zone leaves as much free memory behind as it takes; the allocator would keep it for the next one.
  if (message.kind === 'zone' && message.records > LARGE_ZONE) libc?.malloc_trim?.(0)
  parentPort?.postMessage(message)
}

const readers = [...data.readers]
let generation = 0
/** The arena is in every reader's queue before the generation tells them to look. */
function hand(arena: SharedArrayBuffer): void {
  generation++
  for (const reader of readers) reader.postMessage({ generation, arena })
  control.nextGeneration()
}

const work = new WorkQueue()
const arena = new Arena(FIRST_ARENA_BYTES, hand)
const listeners: SpaceContext['listeners'] = new Map()
const catalog = new Catalog({
  arena,
  directory: new Directory(arena, control),
  serials: SerialStore.open(data.stateDirectory, 'serials', (message) => report({ kind: 'problem', message })),
  report,
  work,
  listener: (space, origin) => listeners.get(space)?.(origin),
})
hand(arena.buffer)

const started = performance.now()
const { requireNs, stateDirectory } = data
const context: SpaceContext = { catalog, work, signal: lifetime, requireNs, stateDirectory, report, listeners }
const spaces = new Map(data.spaces.map((space) => [space.space, new SpaceSources(space, context)]))

function search({ space, origin, name, type }: SearchRequest): SearchResult | undefined {
  try {
    return spaces.get(space)?.search(origin, name, type)
  } catch (thrown) {
    report({
      kind: 'problem',
      message: `Cannot search ${origin}: ${messageOf(thrown)}; this is a defect, please report it`,
    })
    return undefined
  }
}

parentPort?.on('message', (request: LoaderRequest) => {
  if (request.kind === 'search') {
    report({ kind: 'found', id: request.id, result: search(request) })
    return
  }
  readers.push(request.port)
  request.port.postMessage({ generation, arena: arena.buffer })
})
await Promise.all(Array.from(spaces.values(), (space) => space.start()))
const loaded = work.whenIdle()
await Promise.race([loaded, sleep(data.patienceMs, undefined, { ref: false })])
catalog.awaitTexts()
catalog.reportChanged()
report({ kind: 'ready', milliseconds: performance.now() - started })
void loaded.then(() => report({ kind: 'loaded', milliseconds: performance.now() - started }))

// A fault in one source must not end the others. Before this point it ends the start, which is told.
process.on('uncaughtException', (thrown) => {
  const message = `Cannot go on with all sources: ${messageOf(thrown)}; this is a defect, please report it`
  report({ kind: 'problem', message: `${message}, and restart when a change is not followed` })
})
