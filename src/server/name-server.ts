// One generation of the server: sockets, threads and resolvers for one configuration, from bind to drained. A reload
// starts the next generation beside this one and then stops this one, so no query goes unanswered in between.

import { setTimeout as sleep } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { messageOf } from '../lib/errors.ts'
import type { HoldfastError } from '../lib/errors.ts'
import { loadLibc, type Libc } from '../lib/libc.ts'
import type { LogSink } from '../lib/log-sink.ts'
import type { Log } from '../lib/log.ts'
import type { Control } from '../zone/epoch.ts'
import type { Answering } from './answering.ts'
import { ArenaReader } from './arena-reader.ts'
import type { ServerConfig } from './config.ts'
import { HandedQueries } from './handed-queries.ts'
import { HandoverGate } from './handover-gate.ts'
import { Handover } from './handover.ts'
import type { Search } from './handover.ts'
import { listenersOf } from './listeners.ts'
import { MainSockets } from './main-sockets.ts'
import { allocateLogFlow, LogReceiver, LogSender } from './query-log/carrier.ts'
import { Responder } from './responder.ts'
import { spacesOf } from './spaces.ts'
import { allocateStats } from './stats.ts'
import { TCP_IDLE_MS } from './tcp-connection.ts'
import type { TcpConnections } from './tcp-connections.ts'
import { probeUdp } from './udp/socket.ts'
import { UdpServer } from './udp/udp-server.ts'
import type { UdpListener, WorkerShare } from './udp/udp-server.ts'
import type { UpstreamStats } from './upstream/stats.ts'
import { viewOf } from './views.ts'
import type { ServerIdentity } from './views.ts'
import { WaitingPlaces } from './waiting-places.ts'

export interface NameServerOptions {
  readonly config: ServerConfig
  readonly identity: ServerIdentity
  readonly workers: number
  readonly control: Control
  /** Where the main thread gets its arenas from; it is reader 0. */
  readonly arenas: MessagePort
  /** Makes another reader known to the writer of arenas. */
  readonly addReader: (port: MessagePort) => void
  /** Answers questions that search. */
  readonly search: Search
  readonly cookieSecret: Uint8Array
  readonly log: Log
  readonly sink: LogSink
  readonly tcpConnections: TcpConnections
  /** Use node:dgram even where batched I/O works. */
  readonly plainUdp: boolean
  /** A loop among forwarders, or anything else that makes going on pointless. */
  readonly onFatal: (error: HoldfastError) => void
}

/** What waits longer for an answer from elsewhere is given up when the server stops, and a thread that is stuck is ended. */
const GRACE_MS = 5000

export class NameServer {
  readonly listeners: readonly UdpListener[]
  readonly #options: NameServerOptions
  readonly #abort = new AbortController()
  readonly #responder: Responder
  readonly #arena: ArenaReader
  readonly #handed: HandedQueries
  readonly #gate = new HandoverGate()
  readonly #places = new WaitingPlaces()
  readonly #shares: readonly WorkerShare[]
  readonly #logReceiver: LogReceiver
  readonly #logSender: LogSender
  readonly #mainStats: readonly (SharedArrayBuffer | undefined)[]
  readonly #libc: Libc | undefined
  readonly #sockets: MainSockets
  #udp: UdpServer | undefined
  #panics = 0

  /** `zoneSlots`: how many zones are counted one by one. */
  constructor(options: NameServerOptions, zoneSlots: number) {
    const { config, identity, workers, control, arenas, cookieSecret, log, sink, onFatal } = options
    this.#options = options
    const spaces = spacesOf(config.blocks)
    const views = config.blocks.map((block, number) => viewOf(block, number, spaces[number], identity))
    this.#libc = options.plainUdp
      ? undefined
      : loadLibc((reason) => log.warning(`UDP is served without batching: ${reason}`))
    this.listeners = listenersOf(config.blocks, this.#libc === undefined).map((listener) => ({
      ...listener,
      views: listener.blocks.map((index) => views[index]),
    }))
    const regions = () =>
      config.blocks.map(({ prometheus }) => (prometheus === undefined ? undefined : allocateStats(zoneSlots)))
    this.#mainStats = regions()
    this.#shares = Array.from({ length: workers }, (_, index) => {
      const logFlow = allocateLogFlow()
      return { reader: index + 1, stats: regions(), logFlow, logReceiver: new LogReceiver(logFlow, sink) }
    })
    const flow = allocateLogFlow()
    this.#logReceiver = new LogReceiver(flow, sink)
    this.#logSender = new LogSender(flow, (piece) => this.#logReceiver.receive(piece))
    this.#responder = new Responder({
      cookieSecret,
      tcpIdleMs: TCP_IDLE_MS,
      stats: this.#mainStats,
      logs: config.blocks.map(({ log: rules }) => rules),
      local: this.listeners[0]?.host ?? '::',
    })
    this.#arena = new ArenaReader(control, 0, arenas, this.#responder.query)
    this.#handed = new HandedQueries({
      blocks: config.blocks,
      views,
      responder: this.#responder,
      handover: new Handover(this.#responder.query, this.#responder.edns, this.#arena, options.search, this.#places),
      gate: this.#gate,
      places: this.#places,
      signal: this.#abort.signal,
      log,
      answered: () => this.#flush(),
      failed: (thrown) => this.#failed(thrown),
      onFatal,
    })
    this.#sockets = new MainSockets(
      this.#libc === undefined ? ['tcp', 'udp'] : ['tcp'],
      (listener, transport) => this.#answering(listener, transport),
      options.tcpConnections,
    )
  }

  /**
   * Binds every address and serves. Throws when one cannot be had. A `previous` generation goes on serving; its sockets
   * for the same addresses are taken over, or shared with it where workers block on them.
   */
  async start(previous?: NameServer): Promise<void> {
    // Sockets that share their address would take it from another program unnoticed, so it is asked for alone first.
    if (previous === undefined && this.#libc !== undefined)
      for (const listener of this.listeners) probeUdp(this.#libc, listener)
    try {
      await this.#sockets.open(this.listeners, previous === undefined ? undefined : previous.#sockets)
      if (this.#libc !== undefined) this.#udp = this.#startWorkers(this.#libc)
    } catch (thrown) {
      await this.stop()
      throw thrown
    }
    if (previous !== undefined) this.#sockets.takeOver(this.listeners, previous.#sockets)
    this.#handed.probeLoops(this.#ownAddress())
  }

  #startWorkers(libc: Libc): UdpServer {
    const { control, config, cookieSecret } = this.#options
    return new UdpServer({
      libc,
      control,
      listeners: this.listeners,
      shares: this.#shares,
      common: {
        logs: config.blocks.map(({ log: rules }) => rules),
        cookieSecret,
        handoverGate: this.#gate.buffer,
      },
      arenas: () => this.#newReader(),
      onHandover: (packet) => this.#handed.answerHanded(packet),
      onFailure: (message) => this.#countPanic(message),
    })
  }

  /** Stops taking queries, answers those that have arrived, closes. `hurry` ends the waiting at once. */
  async stop(hurry?: AbortSignal): Promise<void> {
    const closed = Promise.all([this.#udp?.stop(), this.#sockets.close()])
    const drained = closed.then(() => this.#handed.drained())
    const waited = sleep(GRACE_MS, undefined, { ref: false, ...(hurry === undefined ? {} : { signal: hurry }) })
    await Promise.race([drained, waited.catch(() => undefined)])
    this.#abort.abort()
    this.#sockets.destroy()
    await this.#udp?.terminate()
    this.#flush()
  }

  /** The writer of zones has done something: an arena that was replaced is let go. */
  zonesChanged(): void {
    this.#arena.refresh()
  }

  get workers(): number {
    return this.#udp?.workers ?? 1
  }

  get panicsTotal(): number {
    return this.#panics
  }

  get handoverDroppedTotal(): number {
    return this.#gate.droppedTotal + this.#places.droppedTotal
  }

  get logLinesDropped(): number {
    return this.#shares.reduce((sum, { logReceiver }) => sum + logReceiver.droppedLines, this.#logReceiver.droppedLines)
  }

  /** Counters of one block, of all threads. */
  statsOf(block: number): SharedArrayBuffer[] {
    return [this.#mainStats[block], ...this.#shares.map(({ stats }) => stats[block])].filter(
      (region) => region !== undefined,
    )
  }

  upstreamStatsOf(block: number): UpstreamStats | undefined {
    return this.#handed.upstreamStatsOf(block)
  }

  #answering({ views }: UdpListener, transport: 'udp' | 'tcp'): Answering {
    return {
      views,
      responder: this.#responder,
      arena: this.#arena,
      handOver: (query, block, reason, address, port) =>
        this.#handed.answer(query, block, reason, { address, port, transport }),
      answered: () => this.#flush(),
      failed: (thrown) => this.#failed(thrown),
    }
  }

  #newReader(): MessagePort {
    const { port1, port2 } = new MessageChannel()
    // The newcomer starts with what we have; the writer sends it everything from then on.
    port2.postMessage(this.#arena.current)
    this.#options.addReader(port2)
    return port1
  }

  #failed(thrown: unknown): void {
    this.#countPanic(`Cannot answer a query: ${messageOf(thrown)}; this is a defect, please report it`)
  }

  #countPanic(message: string): void {
    this.#panics++
    this.#options.log.error(message)
  }

  #flush(): void {
    this.#logSender.send(this.#responder.lines)
  }

  #ownAddress(): { host: string; port: number } {
    const { host, port } = this.listeners[0]
    return { host: host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host, port }
  }
}
