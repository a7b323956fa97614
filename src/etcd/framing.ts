// gRPC's framing: each message is preceded by a flag byte (compressed or not) and its length in four bytes.

const HEADER_LENGTH = 5
/** No honest answer comes near: lists are asked for in pages, and etcd takes no value above 1.5 MB by default. */
const MAX_LENGTH = 1 << 29

export function frame(message: Uint8Array): Uint8Array {
  const framed = Buffer.allocUnsafe(HEADER_LENGTH + message.length)
  framed[0] = 0
  framed.writeUInt32BE(message.length, 1)
  framed.set(message, HEADER_LENGTH)
  return framed
}

/** Takes chunks as they arrive and gives whole messages. One that arrived in one chunk is not copied, others are once. */
export class FrameReader {
  readonly #header = Buffer.alloc(HEADER_LENGTH)
  #headerLength = 0
  #message: Buffer | undefined
  #messageLength = 0

  #finish(message: Buffer): Buffer {
    this.#message = undefined
    this.#messageLength = 0
    this.#headerLength = 0
    return message
  }

  *push(chunk: Uint8Array): Generator<Uint8Array> {
    let at = 0
    while (at < chunk.length) {
      if (this.#headerLength < HEADER_LENGTH) {
        this.#header[this.#headerLength++] = chunk[at++]
        if (this.#headerLength < HEADER_LENGTH) continue
      }
      if (this.#header[0] !== 0) throw new Error('compressed gRPC message, which was not asked for')
      const length = this.#header.readUInt32BE(1)
      if (length > MAX_LENGTH) throw new Error(`gRPC message of ${length} bytes`)
      if (this.#message === undefined && chunk.length - at >= length) {
        this.#headerLength = 0
        at += length
        yield chunk.subarray(at - length, at)
        continue
      }
      this.#message ??= Buffer.allocUnsafe(length)
      const part = chunk.subarray(at, at + length - this.#messageLength)
      this.#message.set(part, this.#messageLength)
      this.#messageLength += part.length
      at += part.length
      if (this.#messageLength === length) yield this.#finish(this.#message)
    }
  }
}
