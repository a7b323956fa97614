// `holdfast dns`: the name server, from directories of zone files, a Corefile or names.yaml.

import { rmSync, writeFileSync } from 'node:fs'
import { HoldfastError, messageOf } from '../lib/errors.ts'
import { Log } from '../lib/log.ts'
import { LogSink } from '../lib/log-sink.ts'
import { command } from './command.ts'
import { EXIT } from './exit-code.ts'
import { type ConfigSource, ConfigWatch } from './config-source.ts'
import { type ConfigWithNotices, configOf } from './dns-config.ts'
import { Outputs } from './dns-outputs.ts'
import { DnsService, type Generation, type LoadedConfig } from './dns-service.ts'
import { version } from './version.ts'

const MOST_WORKERS = 256

export const dnsCommand = command({
  name: 'dns',
  isServer: true,
  summary: 'Run a name server: names.yaml, a Corefile or zone files',
  usage: '--config names.yaml | -conf Corefile | --zones DIR [--listen ADDR:PORT]',
  options: {
    config: { value: 'FILE', summary: 'run this names.yaml' },
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
    state: { value: 'DIR', summary: 'keep the last good state of sources in etcd and Kubernetes there' },
    pidfile: { value: 'FILE', summary: 'write the process id to FILE' },
    quiet: { summary: 'log only errors' },
  },
  async run({ options }, io) {
    const { source, load } = configOf(options, io)
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
    const outputs = new Outputs(log, io.env)
    const reload = () =>
      service.reload(() => {
        const next = announceNotices(load(), log)
        outputs.replace(next.write)
        return next
      })
    io.onHangup(() => void reload())
    announceNotices(loaded, log)
    const stopped = aborted(stopSignal)
    const { pidfile } = options
    if (pidfile !== undefined) writePidfile(pidfile)
    const started = await Promise.race([service.start(loaded), stopped])
    let watch: ConfigWatch | undefined
    if (started !== undefined) {
      announce(started, source === undefined, log)
      outputs.replace(loaded.write)
      if (source !== undefined) watch = follow(source, loaded, log, reload)
    }
    const failure = await Promise.race([fatal.promise, stopped])
    watch?.close()
    if (failure !== undefined) log.error(failure.message)
    else log.info(`Stopping on ${String(stopSignal.reason)}`)
    await Promise.all([service.stop(io.stopSignal()), outputs.stop()])
    if (pidfile !== undefined) rmSync(pidfile, { force: true })
    return failure === undefined ? EXIT.done : EXIT.failed
  },
})

function announce({ loaded, server, zones }: Generation, fromDirectories: boolean, log: Log): void {
  for (const { host, port } of server.listeners) log.info(`Listening on ${printAddress(host, port)} (UDP and TCP)`)
  const { state } = loaded.config
  if (state !== undefined) log.info(`The last good state of sources is kept in ${state}`)
  if (!fromDirectories) return
  const names = zones.serving().map(({ zone }) => zone)
  const example = names.find((name) => !name.endsWith('.arpa.')) ?? names[0]
  if (example === undefined) log.warning('No zone is in service: the directories have no good zone file yet')
  else log.info(`Try: ${digLine(example, server.listeners[0])}`)
}

function announceNotices(loaded: ConfigWithNotices, log: Log): ConfigWithNotices {
  for (const notice of loaded.notices) log.warning(notice)
  return loaded
}

function readWorkers(text: string): number {
  const workers = Number(text)
  if (!/^\d+$/u.test(text) || workers < 1 || workers > MOST_WORKERS)
    throw new HoldfastError('Usage', `Cannot run "${text}" workers: expected a number from 1 to ${MOST_WORKERS}`)
  return workers
}

function writePidfile(file: string): void {
  try {
    writeFileSync(file, `${process.pid}\n`)
  } catch (thrown) {
    throw new HoldfastError('FileUnwritable', `Cannot write "${file}": ${messageOf(thrown)}`, { cause: thrown })
  }
}

/** Follows the configuration when it has `reload`. */
function follow(
  source: ConfigSource,
  { config }: LoadedConfig,
  log: Log,
  reload: () => Promise<void>,
): ConfigWatch | undefined {
  const intervalMs = Math.max(...config.blocks.map(({ reloadMs }) => reloadMs))
  if (intervalMs === 0) return undefined
  return new ConfigWatch(source, { intervalMs, reload, onProblem: (message) => log.warning(message) })
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
