// The loading thread: the only writer of the arena. It watches the sources, reads and checks what they offer and puts
// it into service, so that a zone of a million records never holds up an answer.

import { performance } from 'node:perf_hooks'
import { parentPort, workerData } from 'node:worker_threads'
import { loadLibc } from '../lib/libc.ts'
import { Arena } from '../zone/arena.ts'
import { Directory } from '../zone/directory.ts'
import { Control } from '../zone/epoch.ts'
import { Catalog } from './catalog.ts'
import type { ZoneSource } from './catalog.ts'
import type { LoaderData, LoaderReport, NewReader } from './loader-messages.ts'
import { ZoneDirectory } from './sources/zone-directory.ts'
import { ZoneFile } from './sources/zone-file.ts'

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
const directory = new Directory(arena, control)
const catalog = new Catalog(arena, directory, data.requireNs, report)
hand(arena.buffer)

const started = performance.now()
const watchers: { start(): void }[] = []
for (const { space, autos, files } of data.spaces) {
  for (const { path, zones, reloadMs, fallthrough } of files) {
    const watcher: ZoneFile = new ZoneFile({ path, origins: zones, reloadMs, ...callbacks(() => source) })
    const source = sourceOf(space, 'file', fallthrough, watcher)
    watchers.push(watcher)
  }
  for (const config of autos) {
    const watcher: ZoneDirectory = new ZoneDirectory({ ...config, ...callbacks(() => source) })
    const source = sourceOf(space, 'auto', config.fallthrough, watcher)
    watchers.push(watcher)
  }
}
for (const watcher of watchers) watcher.start()
report({ kind: 'ready', milliseconds: performance.now() - started })
parentPort?.on('message', ({ port }: NewReader) => {
  readers.push(port)
  port.postMessage({ generation, arena: arena.buffer })
})

function callbacks(source: () => ZoneSource) {
  return {
    signal: lifetime,
    onZone: (origin: string, file: string) => catalog.offer(source(), origin, file),
    onGone: (origin: string) => catalog.withdraw(source(), origin),
    onUnreadable: (origin: string | undefined, path: string) => {
      if (origin === undefined) report({ kind: 'unreadable', path })
      else catalog.miss(source(), origin, path)
    },
    onProblem: (message: string) => report({ kind: 'problem', message }),
  }
}

function sourceOf(
  space: number,
  plugin: string,
  fallthrough: readonly string[],
  watcher: Pick<ZoneSource, 'watchAlso'>,
): ZoneSource {
  const source: ZoneSource = {
    space,
    plugin,
    fallthrough: fallthrough.length > 0,
    watchAlso: (origin, files) => watcher.watchAlso(origin, files),
  }
  catalog.add(source)
  return source
}
