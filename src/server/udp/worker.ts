// A UDP worker: a thread that does nothing but receive a batch, answer it in place and send it. It blocks in the
// system call, has no event loop turns, and leaves when the stop flag is up and its sockets are drained.

import { parentPort, workerData } from 'node:worker_threads'
import { ELSEWHERE } from '../../zone/answer.ts'
import { Control } from '../../zone/epoch.ts'
import { ArenaReader } from '../arena-reader.ts'
import { HandoverGate } from '../handover-gate.ts'
import { LogSender } from '../query-log/carrier.ts'
import { Responder } from '../responder.ts'
import { Batch } from './batch.ts'
import { ERRNO, loadLibc } from '../../lib/libc.ts'
import type { Libc } from '../../lib/libc.ts'
import type { HandedPacket, UdpWorkerData, UdpWorkerMessage } from './worker-data.ts'

const BATCH = 64
/** Queries are short; answers are at most what EDNS lets a block send. */
const SMALLEST_PACKET = 4096
const MSG_DONTWAIT = 0x40
const MSG_WAITFORONE = 0x10000
const POLLIN = 1

class UdpWorker {
  readonly #libc: Libc
  readonly #data: UdpWorkerData
  readonly #control: Control
  readonly #arena: ArenaReader
  readonly #responder: Responder
  readonly #batches: readonly Batch[]
  readonly #logs: LogSender
  readonly #handed: HandedPacket[] = []
  readonly #gate: HandoverGate

  constructor(libc: Libc, data: UdpWorkerData) {
    this.#libc = libc
    this.#data = data
    this.#control = new Control(data.control)
    this.#responder = new Responder({
      cookieSecret: data.cookieSecret,
      tcpIdleMs: 0,
      stats: data.stats,
      logs: data.logs,
      local: data.sockets[0].local,
    })
    this.#arena = new ArenaReader(this.#control, data.reader, data.arenas, this.#responder.query)
    this.#gate = new HandoverGate(data.handoverGate)
    this.#logs = new LogSender(data.logFlow, (piece) => post({ kind: 'log', piece }))
    const packetBytes = Math.max(
      SMALLEST_PACKET,
      ...data.sockets.flatMap(({ views }) => views.map(({ udpBytes }) => udpBytes)),
    )
    this.#batches = data.sockets.map(({ wildcard }) => new Batch(libc, BATCH, packetBytes, wildcard))
  }

  /** Serves until told to stop; then answers what has already arrived. */
  run(): void {
    const { sockets } = this.#data
    if (sockets.length === 1) {
      while (!this.#control.stopped) this.#serve(0, MSG_WAITFORONE)
    } else {
      const polls = new Uint8Array(sockets.length * 8)
      const view = new DataView(polls.buffer)
      for (const [i, { fd }] of sockets.entries()) {
        view.setInt32(i * 8, fd, true)
        view.setInt16(i * 8 + 4, POLLIN, true)
      }
      while (!this.#control.stopped) {
        let received = 0
        for (let i = 0; i < sockets.length; i++) received += this.#serve(i, MSG_DONTWAIT)
        if (received === 0) this.#libc.poll(polls, sockets.length, -1)
      }
    }
    for (let i = 0; i < sockets.length; i++) while (this.#serve(i, MSG_DONTWAIT) > 0);
  }

  /** One batch from one socket; how many packets it had. */
  #serve(socket: number, flags: number): number {
    const batch = this.#batches[socket]
    const { fd, views } = this.#data.sockets[socket]
    const count = this.#libc.recvmmsg(fd, batch.headers, BATCH, flags, 0)
    if (count <= 0) return this.#idle(count)
    const started = process.hrtime()
    this.#responder.edns.nowSeconds = Math.floor(Date.now() / 1000)
    this.#arena.enter()
    let first = 0
    for (let i = 0; i < count; i++) {
      const length = this.#answer(batch, i, socket)
      if (length > 0) batch.reply(i, length, this.#responder.query.optLength)
      else {
        // A packet without an answer splits the run that one call can send.
        if (i > first) this.#send(fd, batch, first, i - first)
        first = i + 1
      }
    }
    this.#arena.leave()
    if (count > first) this.#send(fd, batch, first, count - first)
    batch.reset(count)
    const [seconds, nanoseconds] = process.hrtime(started)
    this.#responder.observe(views[0].block, seconds + nanoseconds / 1e9, count)
    if (this.#responder.lines.lines > 0) this.#logs.send(this.#responder.lines)
    if (this.#handed.length > 0) this.#handOver(socket)
    return count
  }

  #answer(batch: Batch, i: number, socket: number): number {
    const received = batch.received(i)
    if (received < 0) return 0
    const { packets } = batch
    const name = batch.nameAt(i)
    const responder = this.#responder
    const { edns } = responder
    responder.port = (packets[name + 2] << 8) | packets[name + 3]
    if (responder.port === 0) return 0
    // sockaddr_in has the address at 4, sockaddr_in6 at 8.
    const v4 = packets[name] === 2
    edns.addressLength = v4 ? 4 : 16
    const addressAt = name + (v4 ? 4 : 8)
    for (let b = 0; b < edns.addressLength; b++) edns.address[b] = packets[addressAt + b]
    const length = responder.respond(
      packets,
      batch.packetAt(i),
      received,
      batch.packetBytes,
      this.#data.sockets[socket].views,
      false,
    )
    if (length === ELSEWHERE) this.#keep(batch, i, received)
    return length
  }

  /** Keeps a query for the main thread, unless too much of its client is on its way there already. */
  #keep(batch: Batch, i: number, received: number): void {
    const { edns, original, query } = this.#responder
    const place = this.#gate.enter(edns.address, edns.addressLength)
    if (place < 0) return
    batch.packets.set(original.subarray(0, received), batch.packetAt(i))
    this.#handed.push({ saved: batch.save(i, received), block: query.block, reason: query.handover, place })
  }

  #handOver(socket: number): void {
    post({ kind: 'handover', socket, packets: this.#handed.splice(0) })
  }

  #send(fd: number, batch: Batch, first: number, count: number): void {
    let sent = 0
    while (sent < count) {
      const done = this.#libc.sendmmsg(fd, batch.headers + (first + sent) * 64, count - sent, 0)
      if (done > 0) {
        sent += done
        continue
      }
      const errno = this.#libc.errno()
      if (errno === ERRNO.EINTR || (errno === ERRNO.EMSGSIZE && batch.cut(first + sent))) continue
      sent++ // this one cannot be sent (no route, a full queue): the client asks again
    }
  }

  #idle(count: number): number {
    if (count === 0) return 0
    const errno = this.#libc.errno()
    if (errno === ERRNO.EAGAIN || errno === ERRNO.EINTR || this.#control.stopped) return 0
    throw new Error(`recvmmsg failed with errno ${errno}`)
  }
}

function post(message: UdpWorkerMessage): void {
  parentPort?.postMessage(message)
}

const libc = loadLibc((reason) => post({ kind: 'failed', message: reason }))
if (libc !== undefined) new UdpWorker(libc, workerData as UdpWorkerData).run()
