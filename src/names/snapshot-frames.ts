// The format of a snapshot file: frames, one after the other, each written by one write().
//
//   frame    marker · payload length · crc32 of the payload · crc32 of these three · payload
//   payload  batch · last? · epoch · revision · cluster · saved at · source · entries
//   entry    deleted? · modRevision · lease · key length · value length · key · value
//
// A big batch takes several frames and counts from its last one on. The header has a checksum of its own, so that a
// damaged length is told apart from a frame that a crash cut short. The source is the beginning of a digest of its name:
// a file that was put in the place of another is noticed. Frames of the first version have none, and are read as well.
// Numbers are little-endian.

import { createHash, randomInt } from 'node:crypto'
import { readSync } from 'node:fs'
import { crc32 } from 'node:zlib'

/** "HFS2"; the number is the version of the format. */
const MARKER = 0x32534648
/** "HFS1", without the source. */
const FIRST_MARKER = 0x31534648
const HEADER_SIZE = 16
const FIRST_HEAD_SIZE = 33
const SOURCE_SIZE = 8
const HEAD_SIZE = FIRST_HEAD_SIZE + SOURCE_SIZE
const ENTRY_SIZE = 25
/** A frame is closed when it is this big, which bounds the memory that reading and rewriting take. */
const FRAME_TARGET = 1 << 18
const WINDOW_SIZE = 1 << 20
const NO_BYTES = new Uint8Array(0)

export interface BatchHead {
  /** How often the revisions of the source have begun anew, as they do when etcd is restored from a backup. */
  readonly epoch: number
  readonly revision: bigint
  readonly clusterId: bigint
  /** Unix milliseconds. */
  readonly savedAt: number
}

export interface BatchEntry {
  readonly key: Uint8Array
  /** undefined = deleted. */
  readonly value: Uint8Array | undefined
  readonly modRevision: bigint
  readonly lease: bigint
}

export interface StoredEntry {
  /** The key as latin1. */
  readonly name: string
  /** Empty when frames are read without bytes. */
  readonly key: Uint8Array
  readonly value: Uint8Array
  readonly deleted: boolean
  /** Of its batch. */
  readonly epoch: number
  readonly modRevision: bigint
  readonly lease: bigint
  /** Where it is in the file, and how many bytes it takes there. */
  readonly at: number
  readonly size: number
}

export interface Frame {
  readonly head: BatchHead
  readonly batch: number
  readonly last: boolean
  readonly entries: Iterable<StoredEntry>
  readonly payload: Uint8Array
  /** Where the payload is in the file. */
  readonly at: number
}

/** How reading ended: where the good frames end, and what follows them. */
export interface FramesEnd {
  readonly end: number
  /** `other`: it is of another source. */
  readonly fault: 'none' | 'torn' | 'damaged' | 'foreign' | 'other'
}

/** How a source is called in frames. */
export function sourceMark(id: string): Buffer {
  return createHash('sha256').update(id).digest().subarray(0, SOURCE_SIZE)
}

/** Puts frames together in one buffer, which is used again and again. */
export class FrameBuilder {
  readonly #source: Uint8Array
  #bytes = Buffer.allocUnsafeSlow(1 << 12)
  #length = 0

  constructor(source: Uint8Array) {
    this.#source = source
  }

  start(head: BatchHead): void {
    const bytes = this.#bytes
    bytes.writeUInt32LE(randomInt(2 ** 32), HEADER_SIZE)
    bytes.writeUInt8(0, HEADER_SIZE + 4)
    bytes.writeUInt32LE(head.epoch, HEADER_SIZE + 5)
    bytes.writeBigInt64LE(head.revision, HEADER_SIZE + 9)
    bytes.writeBigUInt64LE(head.clusterId, HEADER_SIZE + 17)
    bytes.writeDoubleLE(head.savedAt, HEADER_SIZE + 25)
    bytes.set(this.#source, HEADER_SIZE + FIRST_HEAD_SIZE)
    this.#length = HEADER_SIZE + HEAD_SIZE
  }

  /** Time to finish this frame before anything is added. */
  get isFull(): boolean {
    return this.#length >= FRAME_TARGET
  }

  add({ key, value, modRevision, lease }: BatchEntry): void {
    const at = this.#grow(ENTRY_SIZE + key.length + (value?.length ?? 0))
    const bytes = this.#bytes
    bytes.writeUInt8(value === undefined ? 1 : 0, at)
    bytes.writeBigInt64LE(modRevision, at + 1)
    bytes.writeBigInt64LE(lease, at + 9)
    bytes.writeUInt32LE(key.length, at + 17)
    bytes.writeUInt32LE(value?.length ?? 0, at + 21)
    bytes.set(key, at + ENTRY_SIZE)
    if (value !== undefined) bytes.set(value, at + ENTRY_SIZE + key.length)
  }

  /** Adds an entry as it stands in a frame that was read. */
  copy(frame: Frame, { at, size }: StoredEntry): void {
    const to = this.#grow(size)
    this.#bytes.set(frame.payload.subarray(at - frame.at, at - frame.at + size), to)
  }

  /** The frame, valid until the next call; what is added from here on goes to the next frame of the batch. */
  finish(last: boolean): Uint8Array {
    const bytes = this.#bytes
    const length = this.#length
    bytes.writeUInt8(last ? 1 : 0, HEADER_SIZE + 4)
    bytes.writeUInt32LE(MARKER, 0)
    bytes.writeUInt32LE(length - HEADER_SIZE, 4)
    bytes.writeUInt32LE(crc32(bytes.subarray(HEADER_SIZE, length)), 8)
    bytes.writeUInt32LE(crc32(bytes.subarray(0, 12)), 12)
    this.#length = HEADER_SIZE + HEAD_SIZE
    return bytes.subarray(0, length)
  }

  #grow(count: number): number {
    const at = this.#length
    this.#length += count
    if (this.#length > this.#bytes.length) {
      const bigger = Buffer.allocUnsafeSlow(Math.max(this.#length, 2 * this.#bytes.length))
      bigger.set(this.#bytes.subarray(0, at))
      this.#bytes = bigger
    }
    return at
  }
}

/**
 * The frames of a file up to the byte `size`, as far as they are good. With bytes, all of it can be kept; without,
 * entries have only their place, and a payload is valid until the next frame is asked for.
 */
export function* readFrames(
  fd: number,
  size: number,
  source: Uint8Array,
  reading: 'bytes' | 'places',
): Generator<Frame, FramesEnd> {
  let window: Buffer = Buffer.alloc(0)
  let windowAt = 0
  const view = (at: number, length: number): Buffer => {
    if (at + length > windowAt + window.length) {
      const wanted = Math.min(Math.max(length, WINDOW_SIZE), size - at)
      const reusable = reading === 'places' && window.buffer.byteLength >= wanted
      window = reusable ? Buffer.from(window.buffer, 0, wanted) : Buffer.allocUnsafeSlow(wanted)
      readFully(fd, at, window)
      windowAt = at
    }
    return window.subarray(at - windowAt, at - windowAt + length)
  }
  let at = 0
  while (at < size) {
    if (size - at < HEADER_SIZE) return { end: at, fault: 'torn' }
    const header = view(at, HEADER_SIZE)
    const marker = header.readUInt32LE(0)
    const isFrame = marker === MARKER || marker === FIRST_MARKER
    if (!isFrame || crc32(header.subarray(0, 12)) !== header.readUInt32LE(12))
      return { end: at, fault: at === 0 ? 'foreign' : 'damaged' }
    const headSize = marker === MARKER ? HEAD_SIZE : FIRST_HEAD_SIZE
    const checksum = header.readUInt32LE(8)
    const length = header.readUInt32LE(4)
    const end = at + HEADER_SIZE + length
    if (end > size) return { end: at, fault: 'torn' }
    const payload = view(at + HEADER_SIZE, length)
    // Only a power cut leaves a whole frame with a wrong content; it can but be the last one.
    if (crc32(payload) !== checksum) return { end: at, fault: end === size ? 'torn' : 'damaged' }
    if (headSize === HEAD_SIZE && !payload.subarray(FIRST_HEAD_SIZE, HEAD_SIZE).equals(source))
      return { end: 0, fault: 'other' }
    yield decodeFrame(payload, at + HEADER_SIZE, headSize, reading === 'bytes')
    at = end
  }
  return { end: at, fault: 'none' }
}

function readFully(fd: number, at: number, into: Buffer): void {
  for (let done = 0; done < into.length; ) {
    const count = readSync(fd, into, done, into.length - done, at + done)
    if (count === 0) throw new Error('the file became shorter while it was read')
    done += count
  }
}

function decodeFrame(bytes: Buffer, at: number, headSize: number, keepBytes: boolean): Frame {
  const head = {
    epoch: bytes.readUInt32LE(5),
    revision: bytes.readBigInt64LE(9),
    clusterId: bytes.readBigUInt64LE(17),
    savedAt: bytes.readDoubleLE(25),
  }
  return {
    head,
    batch: bytes.readUInt32LE(0),
    last: bytes.readUInt8(4) === 1,
    entries: { [Symbol.iterator]: () => decodeEntries(bytes, at, headSize, head.epoch, keepBytes) },
    payload: bytes,
    at,
  }
}

function* decodeEntries(
  payload: Buffer,
  payloadAt: number,
  headSize: number,
  epoch: number,
  keepBytes: boolean,
): Generator<StoredEntry, void> {
  const bytes = new Uint8Array(payload.buffer, payload.byteOffset, payload.length)
  for (let at = headSize; at < payload.length; ) {
    const keyAt = at + ENTRY_SIZE
    const valueAt = keyAt + payload.readUInt32LE(at + 17)
    const end = valueAt + payload.readUInt32LE(at + 21)
    yield {
      name: payload.toString('latin1', keyAt, valueAt),
      key: keepBytes ? bytes.subarray(keyAt, valueAt) : NO_BYTES,
      value: keepBytes ? bytes.subarray(valueAt, end) : NO_BYTES,
      deleted: payload[at] === 1,
      epoch,
      modRevision: payload.readBigInt64LE(at + 1),
      lease: payload.readBigInt64LE(at + 9),
      at: payloadAt + at,
      size: end - at,
    }
    at = end
  }
}
