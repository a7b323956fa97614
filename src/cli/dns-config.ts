// What `holdfast dns` is asked to serve: the flags choose between names.yaml, a Corefile and directories of zone files,
// each of which becomes the same configuration.

import { existsSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { HoldfastError } from '../lib/errors.ts'
import { parseSelector } from '../kube/selector.ts'
import { endpointSources } from '../names/kubernetes/endpoint-sources.ts'
import type { HttpAddress, ServerConfig } from '../server/config.ts'
import type { Notice } from '../server/corefile/problem.ts'
import { parseCorefile } from '../server/corefile/parse-corefile.ts'
import { zonesConfig } from '../server/corefile/zones-config.ts'
import { loadNames, type ZonefilesOutput } from '../server/names-yaml/load-names.ts'
import { parseHttpAddress } from '../server/notation.ts'
import type { Io } from './command.ts'
import { ConfigSource } from './config-source.ts'
import type { LoadedConfig } from './dns-service.ts'
import { withState } from './state-directory.ts'

export interface DnsOptions {
  readonly config: string | undefined
  readonly conf: string | undefined
  readonly zones: readonly string[]
  readonly listen: readonly string[]
  readonly 'dns.port': string | undefined
  readonly health: string | undefined
  readonly ready: string | undefined
  readonly metrics: string | undefined
  readonly state: string | undefined
}

export interface ConfigWithNotices extends LoadedConfig {
  readonly notices: readonly string[]
  readonly write: readonly ZonefilesOutput[]
}

export interface ChosenConfig {
  /** The file behind it, to be followed; undefined with --zones. */
  readonly source: ConfigSource | undefined
  /** Reads it anew each time. */
  readonly load: () => ConfigWithNotices
}

export function configOf(options: DnsOptions, io: Io): ChosenConfig {
  const { source, load } = textOf(options, io)
  const isRoot = process.getuid?.() === 0
  return {
    source,
    load: () => {
      const loaded = load()
      return { ...loaded, config: withState(loaded.config, options.state, io.env, isRoot) }
    },
  }
}

function textOf(options: DnsOptions, io: Io): ChosenConfig {
  const { config, conf } = chosen(options)
  if (config === undefined && conf === undefined) return { source: undefined, load: () => loadZones(options) }
  const { zones, listen, health, ready, metrics } = options
  if (zones.length > 0 || listen.length > 0 || (health ?? ready ?? metrics) !== undefined)
    throw usage(
      `Cannot use --zones, --listen, --health, --ready or --metrics with ${conf === undefined ? 'names.yaml' : 'a Corefile'}: it says what is served and where`,
    )
  const source = new ConfigSource(config ?? conf ?? '')
  if (conf !== undefined) return { source, load: () => loadCorefile(source, options, io) }
  refuseDefaultPort(options, '--config', 'a port in "listen"')
  return { source, load: () => loadNamesFile(source, io) }
}

/** Without a flag it is the file that lies here. */
function chosen(options: DnsOptions): Pick<DnsOptions, 'config' | 'conf'> {
  const { config, conf, zones } = options
  if (config !== undefined && conf !== undefined)
    throw usage('Cannot use --config with -conf: they are two ways to say what is served; expected one of them')
  if (config !== undefined || conf !== undefined || zones.length > 0) return { config, conf }
  const here = { config: existsSync('names.yaml'), conf: existsSync('Corefile') }
  if (here.config && here.conf)
    throw usage('Cannot choose between ./names.yaml and ./Corefile: both are here; expected --config or -conf')
  return { config: here.config ? 'names.yaml' : undefined, conf: here.conf ? 'Corefile' : undefined }
}

function loadNamesFile(source: ConfigSource, io: Io): ConfigWithNotices {
  const { config, notices, write } = loadNames(source.readMain(), {
    file: source.file,
    env: io.env,
    readFile: (path) => source.readImport(path),
    readSecret: (path) => source.readSecret(path),
    hostname: hostname(),
  })
  checkKubernetes(config, source.file)
  return { config, hash: source.hash(), requireNs: true, notices: notices.map(print), write }
}

/** Templates and selectors are read where names are made of them; a slip in one is told before anything is served. */
function checkKubernetes({ blocks }: ServerConfig, file: string): void {
  try {
    for (const { from, settings } of blocks.flatMap((block) => block.kubernetes)) endpointSources(from, settings)
    for (const { labelSelector } of blocks.flatMap((block) => block.kubevirts))
      if (labelSelector !== undefined) parseSelector(labelSelector)
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError)) throw thrown
    throw new HoldfastError('NamesInvalid', `Cannot load ${file}: ${thrown.message}`, { cause: thrown })
  }
}

function loadCorefile(source: ConfigSource, options: DnsOptions, io: Io): ConfigWithNotices {
  const port = options['dns.port']
  const { config, notices } = parseCorefile(source.readMain(), {
    file: source.file,
    env: io.env,
    readFile: (path) => source.readImport(path),
    glob: (pattern) => source.glob(pattern),
    hostname: hostname(),
    ...(port === undefined ? {} : { defaultPort: readPort(port) }),
  })
  return { config, hash: source.hash(), requireNs: false, notices: notices.map(print), write: [] }
}

function loadZones(options: DnsOptions): ConfigWithNotices {
  const { zones, listen } = options
  if (zones.length === 0)
    throw usage('Cannot run "holdfast dns": nothing to serve; expected --config FILE, -conf FILE or --zones DIR')
  refuseDefaultPort(options, '--zones', '--listen ADDR:PORT')
  for (const directory of zones) requireDirectory(directory)
  const http = Object.entries({ health: options.health, ready: options.ready, prometheus: options.metrics })
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .map(([name, text]) => [name, readHttpAddress(text)] as const)
  const config = zonesConfig({ directories: zones, listen, ...Object.fromEntries(http) })
  return { config, hash: undefined, requireNs: true, notices: [], write: [] }
}

function refuseDefaultPort(options: DnsOptions, flag: string, wanted: string): void {
  if (options['dns.port'] !== undefined)
    throw usage(`Cannot use -dns.port with ${flag}: it is for Corefiles; expected ${wanted}`)
}

function requireDirectory(directory: string): void {
  const stats = statSync(directory, { throwIfNoEntry: false })
  if (stats?.isDirectory() === true) return
  const what = stats === undefined ? 'there is no such directory' : 'not a directory'
  throw new HoldfastError('FileUnreadable', `Cannot read "${directory}": ${what}; expected a directory of zone files`)
}

function readPort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/u.test(text) || port > 65_535) throw usage(`Cannot use port "${text}": not a number up to 65535`)
  return port
}

function readHttpAddress(text: string): HttpAddress {
  const address = parseHttpAddress(text)
  if (address === undefined) throw usage(`Cannot listen on "${text}": not an address; expected ADDRESS:PORT`)
  return address
}

function usage(message: string): HoldfastError {
  return new HoldfastError('Usage', message)
}

function print({ at, message }: Notice): string {
  return `${at}: ${message}`
}
