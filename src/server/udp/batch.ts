// Memory for one recvmmsg/sendmmsg batch: message headers, I/O vectors, peer addresses, control data and packets in
// one buffer that C and JavaScript both see. A packet is answered where it arrived and sent back from there with the
// same header, so receiving fills in everything sending needs except the length.

import type { Libc } from '../../lib/libc.ts'
import { SOCKADDR_BYTES } from './sockaddr.ts'

const HEADER_BYTES = 64 // struct mmsghdr
const VECTOR_BYTES = 16 // struct iovec
const NAME_BYTES = 32
const CONTROL_BYTES = 64

// Offsets in struct mmsghdr, in 32-bit words.
const NAME = 0
const NAME_LENGTH = 2
const VECTOR = 4
const VECTOR_COUNT = 6
const CONTROL = 8
const CONTROL_LENGTH = 10
const FLAGS = 12
const RECEIVED = 14

const MSG_TRUNC = 0x20
const IPPROTO_IPV6 = 41

const DNS_HEADER_BYTES = 12
/** Behind the name: its final zero, type, class. */
const QUESTION_TAIL_BYTES = 5
const TC = 0x02

export class Batch {
  readonly size: number
  readonly packets: Uint8Array
  readonly packetBytes: number
  /** Address of the headers, for the system calls. */
  readonly headers: number
  readonly #words: Int32Array
  readonly #vectorsAt: number
  readonly #namesAt: number
  readonly #controlsAt: number
  readonly #packetsAt: number
  readonly #stride: number
  readonly #control: boolean
  readonly #optLengths: Uint16Array

  /** `control`: the sockets are bound to a wildcard address and tell which address a packet came to. */
  constructor(libc: Libc, size: number, packetBytes: number, control: boolean) {
    this.size = size
    this.packetBytes = packetBytes
    this.#control = control
    this.#optLengths = new Uint16Array(size)
    // Packets a multiple of 4096 apart would all compete for the same few cache lines.
    this.#stride = ((packetBytes + 63) & ~63) + 192
    this.#vectorsAt = size * HEADER_BYTES
    this.#namesAt = this.#vectorsAt + size * VECTOR_BYTES
    this.#controlsAt = this.#namesAt + size * NAME_BYTES
    this.#packetsAt = this.#controlsAt + size * CONTROL_BYTES
    const buffer = new ArrayBuffer(this.#packetsAt + size * this.#stride)
    this.packets = new Uint8Array(buffer)
    this.#words = new Int32Array(buffer)
    const base = libc.address(buffer)
    this.headers = base
    for (let i = 0; i < size; i++) {
      const at = (i * HEADER_BYTES) >> 2
      this.#pointer(at + NAME, base + this.#namesAt + i * NAME_BYTES)
      this.#pointer(at + VECTOR, base + this.#vectorsAt + i * VECTOR_BYTES)
      this.#words[at + VECTOR_COUNT] = 1
      if (control) this.#pointer(at + CONTROL, base + this.#controlsAt + i * CONTROL_BYTES)
      this.#pointer((this.#vectorsAt + i * VECTOR_BYTES) >> 2, base + this.#packetsAt + i * this.#stride)
    }
    this.reset(size)
  }

  /** Makes the first `count` headers ready to receive. */
  reset(count: number): void {
    const words = this.#words
    const controlBytes = this.#control ? CONTROL_BYTES : 0
    for (let i = 0; i < count; i++) {
      const at = (i * HEADER_BYTES) >> 2
      words[at + NAME_LENGTH] = SOCKADDR_BYTES
      words[at + CONTROL_LENGTH] = controlBytes
      words[((this.#vectorsAt + i * VECTOR_BYTES) >> 2) + 2] = this.packetBytes
    }
  }

  /** Where packet i starts in `packets`. */
  packetAt(i: number): number {
    return this.#packetsAt + i * this.#stride
  }

  /** Bytes received for packet i; -1 when it was too long for us and cut. */
  received(i: number): number {
    const at = (i * HEADER_BYTES) >> 2
    return (this.#words[at + FLAGS] & MSG_TRUNC) !== 0 ? -1 : this.#words[at + RECEIVED]
  }

  /** Sets packet i up to be sent back to where it came from; its last `optLength` bytes are an OPT record. */
  reply(i: number, length: number, optLength = 0): void {
    this.#optLengths[i] = optLength
    this.#words[((this.#vectorsAt + i * VECTOR_BYTES) >> 2) + 2] = length
    if (this.#control) this.#clearInterface(i)
  }

  /** Leaves header, question and OPT of response i, with TC: the way to the client is too narrow for it. False when it is that short. */
  cut(i: number): boolean {
    const { packets } = this
    const start = this.packetAt(i)
    let end = start + DNS_HEADER_BYTES
    if (packets[start + 5] === 1) {
      while (packets[end] !== 0) end += packets[end] + 1
      end += QUESTION_TAIL_BYTES
    }
    const vector = ((this.#vectorsAt + i * VECTOR_BYTES) >> 2) + 2
    const length = this.#words[vector]
    const optLength = this.#optLengths[i]
    if (length <= end - start + optLength) return false
    packets[start + 2] |= TC
    packets.fill(0, start + 6, start + DNS_HEADER_BYTES)
    packets[start + 11] = optLength > 0 ? 1 : 0
    packets.copyWithin(end, start + length - optLength, start + length)
    this.#words[vector] = end - start + optLength
    return true
  }

  /** Where the peer's struct sockaddr starts in `packets`. */
  nameAt(i: number): number {
    return this.#namesAt + i * NAME_BYTES
  }

  /** What `restore` needs to answer packet i later, from another thread. */
  save(i: number, length: number): SavedPacket {
    const at = (i * HEADER_BYTES) >> 2
    const name = this.nameAt(i)
    const control = this.#controlsAt + i * CONTROL_BYTES
    return {
      packet: this.packets.slice(this.packetAt(i), this.packetAt(i) + length),
      name: this.packets.slice(name, name + this.#words[at + NAME_LENGTH]),
      control: this.#control ? this.packets.slice(control, control + this.#words[at + CONTROL_LENGTH]) : undefined,
    }
  }

  /** Puts a response for a saved packet into place i. */
  restore(i: number, saved: SavedPacket, response: Uint8Array): void {
    const at = (i * HEADER_BYTES) >> 2
    this.packets.set(response, this.packetAt(i))
    this.packets.set(saved.name, this.nameAt(i))
    this.#words[at + NAME_LENGTH] = saved.name.length
    if (saved.control !== undefined && this.#control) {
      this.packets.set(saved.control, this.#controlsAt + i * CONTROL_BYTES)
      this.#words[at + CONTROL_LENGTH] = saved.control.length
    } else this.#words[at + CONTROL_LENGTH] = 0
    this.reply(i, response.length)
  }

  /** The answer leaves from the address asked, by whatever interface routing says; only link-local needs the interface. */
  #clearInterface(i: number): void {
    const at = (this.#controlsAt + i * CONTROL_BYTES) >> 2
    const level = this.#words[at + 2]
    if (level !== IPPROTO_IPV6) this.#words[at + 4] = 0
    else if ((this.#words[at + 4] & 0xc0ff) !== 0x80fe) this.#words[at + 8] = 0
  }

  #pointer(word: number, value: number): void {
    this.#words[word] = (value % 0x1_0000_0000) | 0
    this.#words[word + 1] = Math.floor(value / 0x1_0000_0000)
  }
}

export interface SavedPacket {
  readonly packet: Uint8Array<ArrayBuffer>
  readonly name: Uint8Array<ArrayBuffer>
  readonly control: Uint8Array<ArrayBuffer> | undefined
}
