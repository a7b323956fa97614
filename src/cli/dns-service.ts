// The running name server: a loader and a server per generation, endpoints and logs across generations, and the
// reload that replaces one generation by the next without a gap.

import { randomBytes } from 'node:crypto'
import { availableParallelism, hostname } from 'node:os'
import { MessageChannel } from 'node:worker_threads'
import { HoldfastError, messageOf } from '../lib/errors.ts'
import type { LogSink } from '../lib/log-sink.ts'
import type { Log } from '../lib/log.ts'
import type { LoaderReport, LoaderSpace } from '../names/loader-messages.ts'
import { LoaderThread } from '../names/loader-thread.ts'
import type { EtcdConnection, ServerBlock, ServerConfig } from '../server/config.ts'
import { etcdOptions } from '../server/etcd-connection.ts'
import { HttpServer, httpEndpoints } from '../server/http.ts'
import { HealthProbe } from '../server/metrics/health-probe.ts'
import { NameServer } from '../server/name-server.ts'
import { spacesOf } from '../server/spaces.ts'
import { TcpConnections } from '../server/tcp-connections.ts'
import { Control } from '../zone/epoch.ts'
import { renderServiceMetrics } from './dns-metrics.ts'
import type { RefusedConfiguration, ServerStatus } from './server-status.ts'
import { ZoneTable } from './zone-table.ts'

export interface LoadedConfig {
  readonly config: ServerConfig
  /** SHA-512 of the configuration's text; undefined without one. */
  readonly hash: string | undefined
  /** CoreDNS serves zones without NS, so Corefiles may too. */
  readonly requireNs: boolean
}

export interface DnsServiceOptions {
  readonly log: Log
  readonly sink: LogSink
  readonly version: string
  readonly workers: number | undefined
  readonly plainUdp: boolean
  readonly onFatal: (error: HoldfastError) => void
}

export interface Generation {
  readonly loaded: LoadedConfig
  readonly loader: LoaderThread
  readonly server: NameServer
  readonly zones: ZoneTable
}

/**
 * How long large zones are waited for. A server that starts answers with what it has; one that reloads has all zones in
 * service, and stays with them until the others are ready to take their place.
 */
const PATIENCE_MS = { start: 1000, reload: 60_000 } as const
/** More zones than at the start get counters of their own up to this factor. */
const SLOT_HEADROOM = 2
const FEWEST_SLOTS = 1024

export class DnsService {
  readonly #options: DnsServiceOptions
  readonly #http: HttpServer
  readonly #tcpConnections = new TcpConnections()
  readonly #cookieSecret = randomBytes(16)
  #generation: Generation | undefined
  #health: HealthProbe | undefined
  #reloadsFailed = 0
  /** Until a reload succeeds. */
  #refused: RefusedConfiguration | undefined
  /** One reload at a time. */
  #reloading: Promise<void> = Promise.resolve()
  #reloadWaits = false
  #stopping = false
  /** Ends the wait for zones that are being loaded. */
  #giveUp: (() => void) | undefined
  readonly #hurry = new AbortController()

  constructor(options: DnsServiceOptions) {
    this.#options = options
    this.#http = new HttpServer({
      notReady: () => this.#generation?.zones.notReady() ?? ['zones are being loaded'],
      metrics: () => this.#metrics(),
      status: () => this.#status(),
    })
  }

  /** Loads the zones, then serves. Throws when an address cannot be had. */
  start(loaded: LoadedConfig): Promise<Generation> {
    const started = this.#start(loaded)
    this.#reloading = started.then(
      () => undefined,
      () => undefined,
    )
    return started
  }

  async #start(loaded: LoadedConfig): Promise<Generation> {
    await this.#http.serve(httpEndpoints(loaded.config))
    try {
      const generation = await this.#startGeneration(loaded)
      this.#generation = generation
      this.#probeHealth(loaded.config)
      return generation
    } catch (thrown) {
      await this.#http.close()
      throw thrown
    }
  }

  /** Goes over to a new configuration, or stays with the old one and says why. */
  reload(load: () => LoadedConfig): Promise<void> {
    // One that waits its turn will see what this one would.
    if (this.#reloadWaits) return this.#reloading
    this.#reloadWaits = true
    this.#reloading = this.#reloading.then(() => {
      this.#reloadWaits = false
      return this.#reload(load)
    })
    return this.#reloading
  }

  async #reload(load: () => LoadedConfig): Promise<void> {
    const { log } = this.#options
    const previous = this.#generation
    if (previous === undefined || this.#stopping) return
    try {
      const loaded = load()
      await this.#http.serve(httpEndpoints(loaded.config))
      this.#generation = await this.#startGeneration(loaded, previous)
      this.#probeHealth(loaded.config)
      this.#refused = undefined
      log.info('Reloaded the configuration')
    } catch (thrown) {
      if (this.#stopping) return
      this.#reloadsFailed++
      this.#refused = refusedBy(thrown)
      const [first, ...more] = messageOf(thrown).split('\n')
      log.error(`Cannot reload, the previous configuration stays in service: ${first}`)
      for (const line of more) log.error(line)
      const endpoints = httpEndpoints(previous.loaded.config)
      await this.#http.serve(endpoints).catch((error: unknown) => log.error(messageOf(error)))
      return
    }
    await stopGeneration(previous, this.#hurry.signal)
  }

  /**
   * Waits out the lameduck time, answers what has arrived, closes everything. `hurry` cuts the waiting short. What is
   * being loaded is given up.
   */
  async stop(hurry: AbortSignal): Promise<void> {
    this.#stopping = true
    this.#giveUp?.()
    hurry.addEventListener('abort', () => this.#hurry.abort(), { once: true })
    await this.#reloading
    const lameduckMs = Math.max(0, ...(this.#generation?.loaded.config.blocks.map((block) => block.lameduckMs) ?? []))
    await this.#http.drain(lameduckMs, hurry)
    this.#health?.stop()
    if (this.#generation !== undefined) await stopGeneration(this.#generation, hurry)
    await this.#http.close()
    await this.#options.sink.flush()
  }

  async #startGeneration(loaded: LoadedConfig, previous?: Generation): Promise<Generation> {
    const { log, sink, version, plainUdp, onFatal } = this.#options
    const workers = plainUdp ? 0 : (this.#options.workers ?? availableParallelism())
    const control = Control.create(1 + workers)
    const { port1, port2 } = new MessageChannel()
    const spaces = spacesOf(loaded.config.blocks)
    const zones = new ZoneTable(log)
    const ready = Promise.withResolvers<void>()
    this.#giveUp = () => ready.reject(new Error('the server is stopping'))
    if (this.#stopping) this.#giveUp()
    let server: NameServer | undefined
    const onReport = (report: LoaderReport) => {
      zones.apply(report)
      server?.zonesChanged()
      if (report.kind === 'ready') ready.resolve()
    }
    const loader = new LoaderThread(
      {
        control: control.buffer,
        readers: [port2],
        requireNs: loaded.requireNs,
        patienceMs: previous === undefined ? PATIENCE_MS.start : PATIENCE_MS.reload,
        stateDirectory: loaded.config.state,
        spaces: loaded.config.blocks.map(loaderSpaceOf).filter(({ space }) => spaces[space] === space),
      },
      onReport,
      (error) => {
        const failure = new HoldfastError(
          'LoaderFailed',
          `Cannot load zones: ${messageOf(error)}; this is a defect, please report it`,
        )
        ready.reject(failure)
        log.error(`${failure.message}; zones already loaded stay in service, changes are not noticed until a restart`)
      },
    )
    try {
      await ready.promise
      if (previous !== undefined) refuseLosses(zones.lostFrom(previous.zones))
      const slots = Math.max(FEWEST_SLOTS, zones.slots * SLOT_HEADROOM)
      server = new NameServer(
        {
          config: loaded.config,
          identity: { version: `holdfast ${version}`, hostname: hostname() },
          workers,
          control,
          arenas: port1,
          addReader: (port) => loader.addReader(port),
          search: (question) => loader.search(question),
          cookieSecret: this.#cookieSecret,
          log,
          sink,
          tcpConnections: this.#tcpConnections,
          plainUdp,
          onFatal,
        },
        slots,
      )
      await server.start(previous?.server)
      return { loaded, loader, server, zones }
    } catch (thrown) {
      await loader.stop()
      throw thrown
    }
  }

  #probeHealth({ blocks }: ServerConfig): void {
    this.#health?.stop()
    const health = blocks.find((block) => block.health !== undefined)?.health
    this.#health = health === undefined ? undefined : new HealthProbe(health.host, health.port)
  }

  #status(): ServerStatus {
    const { version } = this.#options
    const zones = this.#generation?.zones
    const ready = zones?.notReady().length === 0
    const refused = this.#refused
    const configuration = refused === undefined ? {} : { configuration: refused }
    return { version, ready, ...configuration, ...(zones?.status() ?? { sources: [], zones: [] }) }
  }

  #metrics(): string {
    if (this.#generation === undefined) return ''
    const { version, sink } = this.#options
    return renderServiceMetrics(this.#generation, {
      version,
      health: this.#health,
      reloadsFailed: this.#reloadsFailed,
      sinkDropped: sink.droppedLines,
      tcp: this.#tcpConnections,
    })
  }
}

const ERRORS_SHOWN = 5

function refusedBy(thrown: unknown): RefusedConfiguration {
  const code = thrown instanceof HoldfastError ? thrown.code : 'LoaderFailed'
  const faults = thrown instanceof HoldfastError ? thrown.problems : []
  const errors =
    faults.length > 0
      ? faults.map(({ message, place }) => ({ code, message, place }))
      : messageOf(thrown)
          .split('\n')
          .map((message) => ({ code, message }))
  return {
    state: 'refused',
    since: new Date().toISOString(),
    errorCount: errors.length,
    errors: errors.slice(0, ERRORS_SHOWN),
  }
}

/** The thread gets what it needs of a block; passwords are plain from here on. */
function loaderSpaceOf(block: ServerBlock, space: number): LoaderSpace {
  const { autos, files, etcdZones, skydns, patronis, kubevirts, kubernetes, ptr } = block
  const reveal = <T extends { readonly etcd: EtcdConnection }>(source: T) => ({
    ...source,
    etcd: etcdOptions(source.etcd),
  })
  return {
    ...{ space, autos, files, ptr, kubevirts, kubernetes },
    etcdZones: etcdZones.map(reveal),
    skydns: skydns.map(reveal),
    patronis: patronis.map(reveal),
  }
}

/** A reload changes everything it is asked to, or nothing: the generation in service still has the last good versions. */
function refuseLosses(lost: readonly string[]): void {
  if (lost.length === 0) return
  const shown = lost.slice(0, 5).join(' ') + (lost.length > 5 ? ' …' : '')
  throw new HoldfastError(
    'ZonesLost',
    `Cannot do without ${shown}: their files or sources cannot be used now; mend them first`,
  )
}

async function stopGeneration({ server, loader }: Generation, hurry?: AbortSignal): Promise<void> {
  await server.stop(hurry)
  await loader.stop()
}
