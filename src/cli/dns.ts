// `holdfast dns`: the name server, from directories of zone files or a Corefile.

import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { HoldfastError, messageOf } from '../lib/errors.ts'
import { Log } from '../lib/log.ts'
import { LogSink } from '../lib/log-sink.ts'
import type { HttpAddress } from '../server/config.ts'
import { parseCorefile } from '../server/corefile/parse-corefile.ts'
import { zonesConfig } from '../server/corefile/zones-config.ts'
import { command, EXIT, type Io } from './command.ts'
import { CorefileSource, CorefileWatch } from './corefile-source.ts'
import { DnsService, type Generation, type LoadedConfig } from './dns-service.ts'
import { version } from './version.ts'

const MOST_WORKERS = 256

export const dnsCommand = command({
  name: 'dns',
  summary: 'Run the name server, from directories of zone files or a Corefile',
  usage: '--zones DIR [--listen ADDR:PORT] | -conf FILE',
  options: {
    zones: { value: 'DIR', summary: 'serve every zone file in DIR: db.ZONE, ZONE.zone or ZONE', repeat: true },
    listen: {
      value: 'ADDR:PORT',
      summary: 'where to listen with --zones; port 53 of every address unless given',
      repeat: true,
    },
    conf: { value: 'FILE', summary: 'run this Corefile' },
    'dns.port': { value: 'PORT', summary: 'port for server blocks that give none; 53 unless given' },
    workers: { value: 'N', summary: 'threads that answer UDP; one per core unless given' },
    health: { value: 'ADDR:PORT', summary: 'serve /health there, with --zones' },
    ready: { value: 'ADDR:PORT', summary: 'serve /ready there, with --zones' },
    metrics: { value: 'ADDR:PORT', summary: 'serve Prometheus /metrics there, with --zones' },
    'plain-udp': { summary: 'use one socket per address and no batches, as where koffi cannot be loaded' },
    pidfile: { value: 'FILE', summary: 'write the process id to FILE' },
    quiet: { summary: 'log only errors' },
  },
  async run({ options }, io) {
    const conf = options.conf ?? (options.zones.length === 0 && existsSync('Corefile') ? 'Corefile' : undefined)
    const corefile = conf === undefined ? undefined : new CorefileSource(conf)
    const load = () => loadConfig(options, corefile, io)
    const loaded = load()
    const workers = options.workers === undefined ? undefined : readWorkers(options.workers)
    const sink = new LogSink(1)
    const log = new Log(sink, { quiet: options.quiet })
    const fatal = Promise.withResolvers<HoldfastError>()
    const stopSignal = io.stopSignal()
    const service = new DnsService({
      log,
      sink,
      version: version(),
      workers,
      plainUdp: options['plain-udp'],
      onFatal: fatal.resolve,
    })
    const reload = () => service.reload(() => announceNotices(load(), log))
    io.onHangup(() => void reload())
    announceNotices(loaded, log)
    const stopped = aborted(stopSignal)
    const { pidfile } = options
    if (pidfile !== undefined) writePidfile(pidfile)
    const started = await Promise.race([service.start(loaded), stopped])
    let watch: CorefileWatch | undefined
    if (started !== undefined) {
      announce(started, options, log)
      if (corefile !== undefined) watch = follow(corefile, loaded, log, reload)
    }
    const failure = await Promise.race([fatal.promise, stopped])
    watch?.close()
    if (failure !== undefined) log.error(failure.message)
    else log.info(`Stopping on ${String(stopSignal.reason)}`)
    await service.stop(io.stopSignal())
    if (pidfile !== undefined) rmSync(pidfile, { force: true })
    return failure === undefined ? EXIT.done : EXIT.failed
  },
})

interface DnsOptions {
  readonly zones: readonly string[]
  readonly listen: readonly string[]
  readonly conf: string | undefined
  readonly 'dns.port': string | undefined
  readonly health: string | undefined
  readonly ready: string | undefined
  readonly metrics: string | undefined
}

interface ConfigWithNotices extends LoadedConfig {
  readonly notices: readonly string[]
}

function loadConfig(options: DnsOptions, corefile: CorefileSource | undefined, io: Io): ConfigWithNotices {
  const { zones, listen } = options
  if (corefile === undefined) {
    if (zones.length === 0)
      throw new HoldfastError(
        'Usage',
        'Cannot run "holdfast dns": nothing to serve; --zones DIR or -conf FILE is wanted',
      )
    if (options['dns.port'] !== undefined)
      throw new HoldfastError(
        'Usage',
        'Cannot use -dns.port with --zones: it is for Corefiles; --listen ADDR:PORT is wanted',
      )
    for (const directory of zones) requireDirectory(directory)
    const http = Object.entries({ health: options.health, ready: options.ready, prometheus: options.metrics })
      .filter((entry): entry is [string, string] => entry[1] !== undefined)
      .map(([name, text]) => [name, readHttpAddress(text)] as const)
    const config = zonesConfig({ directories: zones, listen, ...Object.fromEntries(http) })
    return { config, hash: undefined, requireNs: true, notices: [] }
  }
  const { health, ready, metrics } = options
  if (zones.length > 0 || listen.length > 0 || (health ?? ready ?? metrics) !== undefined)
    throw new HoldfastError(
      'Usage',
      'Cannot use --zones, --listen, --health, --ready or --metrics with a Corefile: it says what is served and where',
    )
  const port = options['dns.port']
  const { config, notices } = parseCorefile(corefile.readMain(), {
    file: corefile.file,
    env: io.env,
    readFile: (path) => corefile.readImport(path),
    glob: (pattern) => corefile.glob(pattern),
    hostname: hostname(),
    ...(port === undefined ? {} : { defaultPort: readPort(port) }),
  })
  return {
    config,
    hash: corefile.hash(),
    requireNs: false,
    notices: notices.map(({ at, message }) => `${at}: ${message}`),
  }
}

function announce({ server, zones }: Generation, options: DnsOptions, log: Log): void {
  for (const { host, port } of server.listeners) log.info(`Listening on ${printAddress(host, port)} (UDP and TCP)`)
  if (options.zones.length === 0) return
  const names = zones.serving().map(({ zone }) => zone)
  const example = names.find((name) => !name.endsWith('.arpa.')) ?? names[0]
  if (example === undefined) log.warning('No zone is in service: the directories have no good zone file yet')
  else log.info(`Try: ${digLine(example, server.listeners[0])}`)
}

function announceNotices(loaded: ConfigWithNotices, log: Log): LoadedConfig {
  for (const notice of loaded.notices) log.warning(notice)
  return loaded
}

function requireDirectory(directory: string): void {
  const stats = statSync(directory, { throwIfNoEntry: false })
  if (stats?.isDirectory() === true) return
  const what = stats === undefined ? 'there is no such directory' : 'not a directory'
  throw new HoldfastError('FileUnreadable', `Cannot read "${directory}": ${what}; a directory of zone files is wanted`)
}

function readPort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/u.test(text) || port > 65_535)
    throw new HoldfastError('Usage', `Cannot use port "${text}": not a number up to 65535`)
  return port
}

function readWorkers(text: string): number {
  const workers = Number(text)
  if (!/^\d+$/u.test(text) || workers < 1 || workers > MOST_WORKERS)
    throw new HoldfastError('Usage', `Cannot run "${text}" workers: a number from 1 to ${MOST_WORKERS} is wanted`)
  return workers
}

function readHttpAddress(text: string): HttpAddress {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d+)$/u.exec(text)
  if (match === null)
    throw new HoldfastError('Usage', `Cannot listen on "${text}": not an address; wanted ADDRESS:PORT`)
  return { host: match[1] ?? match[2], port: readPort(match[3]) }
}

function writePidfile(file: string): void {
  try {
    writeFileSync(file, `${process.pid}\n`)
  } catch (thrown) {
    throw new HoldfastError('FileUnwritable', `Cannot write "${file}": ${messageOf(thrown)}`, { cause: thrown })
  }
}

/** Follows the Corefile when it has `reload`. */
function follow(
  source: CorefileSource,
  { config }: LoadedConfig,
  log: Log,
  reload: () => Promise<void>,
): CorefileWatch | undefined {
  const intervalMs = Math.max(...config.blocks.map(({ reloadMs }) => reloadMs))
  if (intervalMs === 0) return undefined
  return new CorefileWatch(source, { intervalMs, reload, onProblem: (message) => log.warning(message) })
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve_) => {
    if (signal.aborted) resolve_(undefined)
    else signal.addEventListener('abort', () => resolve_(undefined), { once: true })
  })
}

function printAddress(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

function digLine(zone: string, { host, port }: { host: string; port: number }): string {
  const server = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `dig @${server} -p ${port} ${zone} SOA`
}
