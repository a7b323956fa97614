// Asks one question again and again and notes when each new value is first in the answer. A thread of its own with
// blocking system calls: what it sees does not wait for anybody's event loop, and between two questions it sleeps
// instead of spinning, so that it takes little from a server on the same machine.

import { createRequire } from 'node:module'
import { workerData } from 'node:worker_threads'
import { type ProberData, valueOf } from './prober.ts'

const AF_INET = 2
const SOCK_DGRAM = 2
const SOL_SOCKET = 1
const SO_RCVTIMEO = 20
const ANSWER_BYTES = 4096
/** A datagram may be lost. */
const TIMEOUT_MICROS = 200_000

const { port, question, gapMicros, shared } = workerData as ProberData
const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi')
const libc = koffi.load(null)
const socket = libc.func('int socket(int, int, int)')
const connect = libc.func('int connect(int, const void *, uint32_t)')
const setsockopt = libc.func('int setsockopt(int, int, int, const void *, uint32_t)')
const send = libc.func('int64_t send(int, const void *, size_t, int)')
const receive = libc.func('int64_t recv(int, void *, size_t, int)')
const close = libc.func('int close(int)')
const usleep = libc.func('int usleep(uint32_t)')

const fd = socket(AF_INET, SOCK_DGRAM, 0) as number
const address = Buffer.alloc(16)
address.writeUInt16LE(AF_INET, 0)
address.writeUInt16BE(port, 2)
address.set([127, 0, 0, 1], 4)
if (connect(fd, address, address.length) !== 0) throw new Error(`Cannot connect to 127.0.0.1:${port}`)
const timeout = Buffer.alloc(16)
timeout.writeBigInt64LE(BigInt(TIMEOUT_MICROS), 8)
setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, timeout, timeout.length)

const packet = Buffer.from(question)
const answer = Buffer.alloc(ANSWER_BYTES)
let before = process.hrtime.bigint()
for (let id = 0; Atomics.load(shared.control, 0) === 0; id = (id + 1) & 0xffff) {
  packet.writeUInt16BE(id, 0)
  send(fd, packet, packet.length, 0)
  let length: number
  do length = Number(receive(fd, answer, ANSWER_BYTES, 0))
  while (length > 0 && answer.readUInt16BE(0) !== id)
  const now = process.hrtime.bigint()
  const value = length > 0 ? valueOf(answer.subarray(0, length)) : undefined
  // An answer to a question that was under way when a value appeared may still carry the one before.
  if (value !== undefined && value > Atomics.load(shared.control, 1)) {
    shared.seenAt[value % shared.seenAt.length] = now
    Atomics.store(shared.control, 1, value)
    Atomics.notify(shared.control, 1)
  }
  const count = Atomics.add(shared.control, 2, 1)
  shared.intervals[count % shared.intervals.length] = Number(now - before)
  before = now
  usleep(gapMicros)
}
close(fd)
