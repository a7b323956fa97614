// A snapshot file without what is dead in it. The file is read twice: once to learn which entry of each key counts,
// once to copy those. Only keys and positions are ever in memory, and the work yields now and then, as the thread
// that does it also publishes changes.

import { fstatSync, ftruncateSync, writeSync } from 'node:fs'
import { type Frame, FrameBuilder, readFrames } from './snapshot-frames.ts'
import { Replay } from './snapshot-replay.ts'

/** Copies what counts of the first `size` bytes of one file to the end of the other. */
export function* rewriteFrames(from: number, to: number, size: number, source: Uint8Array): Generator<void, void> {
  const replay = new Replay()
  yield* eachFrame(from, size, source, (frame) => replay.add(frame))
  if (replay.head === undefined) return
  const builder = new FrameBuilder(source)
  builder.start(replay.head)
  yield* eachFrame(from, size, source, (frame) => {
    for (const entry of frame.entries) {
      if (entry.deleted || replay.entries.get(entry.name)?.at !== entry.at) continue
      if (builder.isFull) writeWhole(to, builder.finish(false))
      builder.copy(frame, entry)
    }
  })
  writeWhole(to, builder.finish(true))
}

function* eachFrame(
  fd: number,
  size: number,
  source: Uint8Array,
  visit: (frame: Frame) => void,
): Generator<void, void> {
  const frames = readFrames(fd, size, source, 'places')
  for (;;) {
    const { done, value } = frames.next()
    if (done !== true) visit(value)
    else if (value.fault === 'none') return
    else throw new Error(`checksum error at byte ${value.end}`)
    yield
  }
}

/** One write() at the end of the file. When only a part finds room, it is taken away again. */
export function writeWhole(fd: number, bytes: Uint8Array): void {
  const count = writeSync(fd, bytes)
  if (count === bytes.length) return
  ftruncateSync(fd, fstatSync(fd).size - count)
  throw new Error('no room for all of it')
}
