// The UDP workers: their sockets, their life, and the way back for queries that were answered on the main thread.

import { Worker } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { messageOf } from '../../lib/errors.ts'
import { workerUrl } from '../../lib/worker-url.ts'
import type { Control } from '../../zone/epoch.ts'
import type { View } from '../../zone/query.ts'
import type { Listener } from '../listeners.ts'
import type { LogReceiver } from '../query-log/carrier.ts'
import { Batch } from './batch.ts'
import type { SavedPacket } from './batch.ts'
import type { Libc } from '../../lib/libc.ts'
import { openUdp, retireUdp, wakeUdp } from './socket.ts'
import type { HandedPacket, UdpWorkerData, UdpWorkerMessage } from './worker-data.ts'

/** A worker that ended is replaced after the first time; when its sockets cannot be had, the wait doubles up to the second. */
const RESTART_MS = 200
const LONGEST_RESTART_MS = 10_000

export interface UdpListener extends Listener {
  readonly views: readonly View[]
}

/** What a worker shares with the main thread; made once per worker and kept when a worker is replaced. */
export interface WorkerShare {
  readonly reader: number
  readonly stats: readonly (SharedArrayBuffer | undefined)[]
  readonly logFlow: SharedArrayBuffer
  readonly logReceiver: LogReceiver
}

export interface UdpServerOptions {
  readonly libc: Libc
  readonly control: Control
  readonly listeners: readonly UdpListener[]
  readonly shares: readonly WorkerShare[]
  readonly common: Pick<UdpWorkerData, 'logs' | 'cookieSecret' | 'handoverGate'>
  /** Gives a new reader's port of arenas. */
  readonly arenas: (reader: number) => MessagePort
  /** Resolves to the response for a query the zones could not settle. */
  readonly onHandover: (handed: HandedPacket) => Promise<Uint8Array | undefined>
  readonly onFailure: (message: string) => void
}

interface RunningWorker {
  readonly share: WorkerShare
  readonly worker: Worker
  readonly sockets: readonly number[]
  readonly exit: Promise<unknown>
}

export class UdpServer {
  readonly #options: UdpServerOptions
  readonly #reply: readonly Batch[]
  readonly #running = new Set<RunningWorker>()
  readonly #handed = new Set<Promise<void>>()
  #stopping = false

  /** Binds every address for every worker, or throws and leaves nothing open. */
  constructor(options: UdpServerOptions) {
    const { libc, listeners, shares } = options
    this.#options = options
    this.#reply = listeners.map((listener) => new Batch(libc, 1, 65_535, isWildcard(listener)))
    const opened: number[][] = []
    try {
      for (const _ of shares) opened.push(openAll(libc, listeners))
    } catch (thrown) {
      for (const fd of opened.flat()) libc.close(fd)
      throw thrown
    }
    for (const [index, share] of shares.entries()) this.#start(share, opened[index])
  }

  get workers(): number {
    return this.#running.size
  }

  /** Answers what has arrived, then closes. */
  async stop(): Promise<void> {
    this.#stopping = true
    const { libc, control } = this.#options
    const running = [...this.#running]
    // In this order: a worker that saw the flag would not read what a socket gets after that.
    for (const { sockets } of running) for (const fd of sockets) retireUdp(libc, fd)
    control.stop()
    for (const { sockets } of running) for (const fd of sockets) wakeUdp(libc, fd)
    await Promise.all(running.map(({ exit }) => exit))
    await Promise.all(this.#handed)
    for (const each of running) this.#close(each)
  }

  /** Ends threads that `stop` is still waiting for. */
  async terminate(): Promise<void> {
    await Promise.all(Array.from(this.#running, ({ worker }) => worker.terminate()))
  }

  #start(share: WorkerShare, sockets: readonly number[]): void {
    const { common, control, listeners, arenas } = this.#options
    const port = arenas(share.reader)
    const workerData: UdpWorkerData = {
      ...common,
      control: control.buffer,
      reader: share.reader,
      arenas: port,
      stats: share.stats,
      logFlow: share.logFlow,
      sockets: listeners.map((listener, i) => ({
        fd: sockets[i],
        views: listener.views,
        wildcard: isWildcard(listener),
        local: listener.host,
      })),
    }
    const worker = new Worker(workerUrl('worker', import.meta.url), {
      workerData,
      transferList: [port],
      name: `holdfast-udp-${share.reader}`,
    })
    const exit = new Promise((resolve) => worker.once('exit', resolve))
    const running: RunningWorker = { share, worker, sockets, exit }
    this.#running.add(running)
    let reason = 'it ended'
    worker.on('message', (message: UdpWorkerMessage) => this.#receive(running, message))
    worker.on('error', (error) => {
      reason = messageOf(error)
    })
    worker.once('exit', () => this.#ended(running, reason))
  }

  /** A socket nobody reads would swallow its share of the queries, so it is closed with its worker. */
  #ended(running: RunningWorker, reason: string): void {
    const { control, onFailure } = this.#options
    // It may have ended in the middle of a batch; nothing would be reclaimed after that.
    control.leave(running.share.reader)
    if (this.#stopping) return // answers of others may still leave by its sockets
    this.#close(running)
    onFailure(`UDP worker ${running.share.reader} failed (${reason}); a new one takes its place`)
    this.#restartLater(running.share, RESTART_MS)
  }

  #restartLater(share: WorkerShare, afterMs: number): void {
    setTimeout(() => {
      if (this.#stopping) return
      const { libc, listeners, onFailure } = this.#options
      try {
        this.#start(share, openAll(libc, listeners))
      } catch (thrown) {
        onFailure(`Cannot replace UDP worker ${share.reader} yet: ${messageOf(thrown)}`)
        this.#restartLater(share, Math.min(2 * afterMs, LONGEST_RESTART_MS))
      }
    }, afterMs).unref()
  }

  #receive(running: RunningWorker, message: UdpWorkerMessage): void {
    if (message.kind === 'log') running.share.logReceiver.receive(message.piece)
    else if (message.kind === 'failed') this.#options.onFailure(message.message)
    else for (const packet of message.packets) this.#hand(running, message.socket, packet)
  }

  #hand(running: RunningWorker, socket: number, packet: HandedPacket): void {
    const handed = this.#answer(running, socket, packet).finally(() => this.#handed.delete(handed))
    this.#handed.add(handed)
  }

  async #answer(running: RunningWorker, socket: number, packet: HandedPacket): Promise<void> {
    const response = await this.#options.onHandover(packet)
    if (response !== undefined && this.#running.has(running))
      this.#send(running.sockets[socket], socket, packet.saved, response)
  }

  #close(running: RunningWorker): void {
    this.#running.delete(running)
    for (const fd of running.sockets) this.#options.libc.close(fd)
  }

  #send(fd: number, socket: number, saved: SavedPacket, response: Uint8Array): void {
    const batch = this.#reply[socket]
    batch.restore(0, saved, response)
    this.#options.libc.sendmmsg(fd, batch.headers, 1, 0)
  }
}

/** A socket for each address, or none at all. */
function openAll(libc: Libc, listeners: readonly UdpListener[]): number[] {
  const opened: number[] = []
  try {
    for (const listener of listeners) opened.push(openUdp(libc, listener, mostBytes(listener)))
    return opened
  } catch (thrown) {
    for (const fd of opened) libc.close(fd)
    throw thrown
  }
}

function mostBytes({ views }: UdpListener): number {
  return Math.max(...views.map(({ udpBytes }) => udpBytes))
}

function isWildcard({ host }: Listener): boolean {
  return host === '0.0.0.0' || host === '::'
}
