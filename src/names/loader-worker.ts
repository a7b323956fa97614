// The loading thread: the only writer of the arena. It watches the sources, reads and checks what they offer and puts
// it into service, so that a zone of a million records never holds up an answer.

import { performance } from 'node:perf_hooks'
import { parentPort, workerData } from 'node:worker_threads'
import { loadLibc } from '../lib/libc.ts'
import { Arena } from '../zone/arena.ts'
import { Directory } from '../zone/directory.ts'
import { Control } from '../zone/epoch.ts'
import { Catalog } from './catalog.ts'
import type { LoaderData, LoaderReport, LoaderRequest } from './loader-messages.ts'
import { SerialStore } from './serials.ts'
import { SpaceSources } from './space-sources.ts'
import type { SpaceContext } from './space-sources.ts'

const FIRST_ARENA_BYTES = 1 << 20
const LARGE_ZONE = 50_000

const data = workerData as LoaderData
const control = new Control(data.control)
/** The thread is ended from outside, as a whole. */
const lifetime = new AbortController().signal
const libc = loadLibc(() => undefined)

function report(message: LoaderReport): void {
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

const arena = new Arena(FIRST_ARENA_BYTES, hand)
const listeners: SpaceContext['listeners'] = new Map()
const catalog = new Catalog({
  arena,
  directory: new Directory(arena, control),
  serials: SerialStore.open(data.stateDirectory, 'serials', (message) => report({ kind: 'problem', message })),
  report,
  listener: (space, origin) => listeners.get(space)?.(origin),
})
hand(arena.buffer)

const started = performance.now()
const { requireNs, stateDirectory } = data
const context: SpaceContext = { catalog, signal: lifetime, requireNs, stateDirectory, report, listeners }
const spaces = new Map(data.spaces.map((space) => [space.space, new SpaceSources(space, context)]))
parentPort?.on('message', (request: LoaderRequest) => {
  if (request.kind === 'search') {
    const { id, space, origin, name, type } = request
    report({ kind: 'found', id, result: spaces.get(space)?.search(origin, name, type) })
    return
  }
  readers.push(request.port)
  request.port.postMessage({ generation, arena: arena.buffer })
})
await Promise.all(Array.from(spaces.values(), (space) => space.start()))
catalog.tellChanged()
report({ kind: 'ready', milliseconds: performance.now() - started })
