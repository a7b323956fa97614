// One generation of the server: sockets, threads and resolvers for one configuration, from bind to drained. A reload
// starts the next generation beside this one and then stops this one, so no query goes unanswered in between.

import { setTimeout as sleep } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { lowerName, parseName } from '../dns/name.ts'
import { HoldfastError } from '../lib/errors.ts'
import type { LogSink } from '../lib/log-sink.ts'
import type { Log } from '../lib/log.ts'
import type { Control } from '../zone/epoch.ts'
import type { Answering } from './answering.ts'
import { ArenaReader } from './arena-reader.ts'
import type { ServerConfig } from './config.ts'
import { Handover } from './handover.ts'
import type { HandoverBlock } from './handover.ts'
import { listenersOf } from './listeners.ts'
import { MainSockets } from './main-sockets.ts'
import { allocateLogFlow, LogReceiver, LogSender } from './query-log/carrier.ts'
import { Responder } from './responder.ts'
import { allocateStats } from './stats.ts'
import { TCP_IDLE_MS } from './tcp-connection.ts'
import type { TcpCounters } from './tcp.ts'
import { fitUdp } from './truncate.ts'
import { loadLibc, type Libc } from '../lib/libc.ts'
import { addressBytes, formatAddress } from './udp/sockaddr.ts'
import { UdpServer } from './udp/udp-server.ts'
import type { UdpListener, WorkerShare } from './udp/udp-server.ts'
import type { HandedPacket } from './udp/worker-data.ts'
import { LoopDetector } from './upstream/loop.ts'
import { Resolver } from './upstream/resolver.ts'
import { createUpstreamStats } from './upstream/stats.ts'
import type { UpstreamStats } from './upstream/stats.ts'
import { viewOf } from './views.ts'
import type { ServerIdentity } from './views.ts'

export interface NameServerOptions {
  readonly config: ServerConfig
  readonly identity: ServerIdentity
  readonly workers: number
  readonly control: Control
  /** Where the main thread gets its arenas from; it is reader 0. */
  readonly arenas: MessagePort
  /** Makes another reader known to the writer of arenas. */
  readonly addReader: (port: MessagePort) => void
  readonly cookieSecret: Uint8Array
  readonly log: Log
  readonly sink: LogSink
  readonly tcpCounters: TcpCounters
  /** Use node:dgram even where batched I/O works. */
  readonly plainUdp: boolean
  /** A loop among forwarders, or anything else that makes going on pointless. */
  readonly onFatal: (error: HoldfastError) => void
}

/** What waits longer for an answer from elsewhere is given up when the server stops. */
const GRACE_MS = 5000

interface BlockState extends HandoverBlock {
  readonly upstreamStats: UpstreamStats
  readonly loop: LoopDetector | undefined
  readonly forwards: boolean
}

export class NameServer {
  readonly listeners: readonly UdpListener[]
  readonly #options: NameServerOptions
  readonly #blocks: readonly BlockState[]
  readonly #abort = new AbortController()
  readonly #responder: Responder
  readonly #arena: ArenaReader
  readonly #handover: Handover
  readonly #shares: readonly WorkerShare[]
  readonly #logReceiver: LogReceiver
  readonly #logSender: LogSender
  readonly #mainStats: readonly (SharedArrayBuffer | undefined)[]
  readonly #libc: Libc | undefined
  readonly #sockets: MainSockets
  /** Queries handed over and not answered yet. */
  readonly #resolving = new Set<Promise<unknown>>()
  #udp: UdpServer | undefined
  #panics = 0

  /** `zoneSlots`: how many zones are counted one by one. */
  constructor(options: NameServerOptions, zoneSlots: number) {
    const { config, identity, workers, control, arenas, cookieSecret, log, sink } = options
    this.#options = options
    const views = config.blocks.map((block, space) => viewOf(block, space, identity))
    this.listeners = listenersOf(config.blocks).map((listener) => ({
      ...listener,
      views: listener.blocks.map((index) => views[index]),
    }))
    this.#blocks = config.blocks.map((block, space): BlockState => {
      const upstreamStats = createUpstreamStats()
      const deps = {
        signal: this.#abort.signal,
        stats: upstreamStats,
        log: { warn: (message: string) => log.warning(message), info: (message: string) => log.info(message) },
      }
      const forwards = block.forwards.length > 0 || block.alternates.length > 0
      return {
        view: views[space],
        resolver: new Resolver(block, deps),
        upstreamStats,
        forwards,
        loop: block.loop && forwards ? new LoopDetector(block.zones[0]) : undefined,
        fallthrough: [...block.files, ...block.autos].flatMap(({ fallthrough }) =>
          fallthrough.map((name) => lowerName(parseName(name))),
        ),
      }
    })
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
    this.#handover = new Handover(this.#responder.query, this.#responder.edns, this.#arena)
    this.#libc = options.plainUdp
      ? undefined
      : loadLibc((reason) => log.warning(`UDP is served without batching: ${reason}`))
    this.#sockets = new MainSockets(
      this.#libc === undefined ? ['tcp', 'udp'] : ['tcp'],
      (listener, transport) => this.#answering(listener, transport),
      options.tcpCounters,
    )
  }

  /**
   * Binds every address and serves. Throws when one cannot be had. A `previous` generation goes on serving; its sockets
   * for the same addresses are taken over, or shared with it where workers block on them.
   */
  async start(previous?: NameServer): Promise<void> {
    try {
      await this.#sockets.open(this.listeners, previous === undefined ? undefined : previous.#sockets)
      if (this.#libc !== undefined) this.#udp = this.#startWorkers(this.#libc, previous === undefined)
    } catch (thrown) {
      await this.stop()
      throw thrown
    }
    if (previous !== undefined) this.#sockets.takeOver(this.listeners, previous.#sockets)
    for (const { loop } of this.#blocks) if (loop !== undefined) void loop.probe(this.#ownAddress(), this.#abort.signal)
  }

  #startWorkers(libc: Libc, probe: boolean): UdpServer {
    const { control, config, cookieSecret, log } = this.#options
    return new UdpServer(
      {
        libc,
        listeners: this.listeners,
        shares: this.#shares,
        common: { control: control.buffer, logs: config.blocks.map(({ log: rules }) => rules), cookieSecret },
        arenas: () => this.#newReader(),
        onHandover: (handed) => this.#answerHanded(handed),
        onFailure: (message) => {
          this.#panics++
          log.error(message)
        },
      },
      probe,
    )
  }

  /** Stops taking queries, answers those that have arrived, closes. `hurry` ends the waiting at once. */
  async stop(hurry?: AbortSignal): Promise<void> {
    const closed = Promise.all([this.#udp?.stop(this.#options.control), this.#sockets.close()])
    const drained = closed.then(() => Promise.all(this.#resolving))
    const waited = sleep(GRACE_MS, undefined, { ref: false, ...(hurry === undefined ? {} : { signal: hurry }) })
    await Promise.race([drained, waited.catch(() => undefined)])
    this.#abort.abort()
    this.#sockets.destroy()
    this.#flush()
  }

  get workers(): number {
    return this.#udp?.workers ?? 1
  }

  get panicsTotal(): number {
    return this.#panics
  }

  get logLinesDropped(): number {
    return this.#shares.reduce((sum, { logReceiver }) => sum + logReceiver.droppedLines, this.#logReceiver.droppedLines)
  }

  /** Counters of one block, of all threads. */
  statsOf(space: number): SharedArrayBuffer[] {
    return [this.#mainStats[space], ...this.#shares.map(({ stats }) => stats[space])].filter(
      (region) => region !== undefined,
    )
  }

  upstreamStatsOf(space: number): UpstreamStats | undefined {
    const { forwards, upstreamStats } = this.#blocks[space]
    return forwards ? upstreamStats : undefined
  }

  #answering({ views }: UdpListener, transport: 'udp' | 'tcp'): Answering {
    return {
      views,
      responder: this.#responder,
      arena: this.#arena,
      handOver: (query, space, address, port) =>
        transport === 'udp'
          ? this.#resolveUdp(query, space, address, port)
          : this.#resolve(query, space, address, port, 'tcp'),
      answered: () => this.#flush(),
    }
  }

  #newReader(): MessagePort {
    const { port1, port2 } = new MessageChannel()
    // The newcomer starts with what we have; the writer sends it everything from then on.
    port2.postMessage(this.#arena.current)
    this.#options.addReader(port2)
    return port1
  }

  #answerHanded({ saved, space }: HandedPacket): Promise<Uint8Array | undefined> {
    const v4 = saved.name.length === 16
    const address = formatAddress(v4 ? saved.name.subarray(4, 8) : saved.name.subarray(8, 24))
    return this.#resolveUdp(saved.packet, space, address, (saved.name[2] << 8) | saved.name[3])
  }

  async #resolveUdp(query: Uint8Array, space: number, address: string, port: number): Promise<Uint8Array | undefined> {
    const response = await this.#resolve(query, space, address, port, 'udp')
    return fitUdp(query, response, this.#blocks[space].view.udpBytes)
  }

  #resolve(
    query: Uint8Array,
    space: number,
    address: string,
    port: number,
    transport: 'udp' | 'tcp',
  ): Promise<Uint8Array> {
    const resolved = this.#handOver(query, space, address, port, transport)
    this.#resolving.add(resolved)
    return resolved.finally(() => this.#resolving.delete(resolved))
  }

  async #handOver(
    query: Uint8Array,
    space: number,
    address: string,
    port: number,
    transport: 'udp' | 'tcp',
  ): Promise<Uint8Array> {
    const block = this.#blocks[space]
    if (block.loop?.seen(query) === true) {
      const zone = block.loop.zone
      this.#options.onFatal(
        new HoldfastError(
          'ForwardingLoop',
          `Cannot serve "${zone}": its queries come back from the servers they are forwarded to; forward somewhere else`,
        ),
      )
    }
    const started = performance.now()
    this.#setClient(address, port)
    const response = await this.#handover.answer(query, block, { address, port, transport })
    this.#setClient(address, port)
    this.#responder.record(space, query, response, transport === 'tcp', (performance.now() - started) / 1000)
    this.#flush()
    return response
  }

  #setClient(address: string, port: number): void {
    const bytes = addressBytes(address)
    this.#responder.edns.address.set(bytes)
    this.#responder.edns.addressLength = bytes.length
    this.#responder.edns.nowSeconds = Math.floor(Date.now() / 1000)
    this.#responder.port = port
  }

  #flush(): void {
    this.#logSender.send(this.#responder.lines)
  }

  #ownAddress(): { host: string; port: number } {
    const { host, port } = this.listeners[0]
    return { host: host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host, port }
  }
}
