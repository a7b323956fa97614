// The configuration of `holdfast dns --zones DIR --listen ADDRESS:PORT`, without a Corefile: every zone file of
// the directories, on every address given.

import { HoldfastError } from '../../lib/errors.ts'
import type { AutoConfig, HttpAddress, ServerBlock, ServerConfig } from '../config.ts'
import { parseListen } from '../notation.ts'
import { DEFAULT_RELOAD_MS } from './directives/zone-files.ts'
import { DEFAULT_SETTINGS } from './server-block.ts'

export interface ZonesOptions {
  readonly directories: readonly string[]
  /** `ADDRESS:PORT`, `[ADDRESS]:PORT`, `:PORT` or `ADDRESS`. None means port 53 of every address. */
  readonly listen: readonly string[]
  /** Safety-net interval; changes are noticed at once. */
  readonly reloadMs?: number
  readonly nsid?: string
  readonly health?: HttpAddress
  readonly ready?: HttpAddress
  readonly prometheus?: HttpAddress
}

/**
 * `db.NAME`, `NAME.zone` or `NAME`; one of the two decorations is taken off, so db.example.zone is example.zone.
 * Hidden files and what editors and name servers leave beside zone files are none.
 */
const PATTERN = /^(?![.#]|.*(?:~|#|\.(?:swp|bak|jnl|tmp))$)(?:db\.(.+)|(.+)\.zone|(.+))$/u
const TEMPLATE = '${1}${2}${3}'

export function zonesConfig(options: ZonesOptions): ServerConfig {
  const { directories, listen, reloadMs = DEFAULT_RELOAD_MS, ...settings } = options
  const addresses = (listen.length === 0 ? [':53'] : listen).map(readListen)
  const autos = directories.map((directory) => everyZoneOf(directory, reloadMs))
  return { blocks: blocksOn(addresses, { ...settings, at: '--listen', autos }) }
}

export function everyZoneOf(directory: string, reloadMs: number): AutoConfig {
  return { zones: ['.'], directory, pattern: PATTERN, template: TEMPLATE, reloadMs, fallthrough: [] }
}

/** The same for every address: a block has one port, so there is one for each of them. */
export function blocksOn(
  addresses: readonly HttpAddress[],
  settings: Partial<ServerBlock> & Pick<ServerBlock, 'at'>,
): ServerBlock[] {
  const hostsByPort = Map.groupBy(addresses, ({ port }) => port)
  return [...hostsByPort].map(([port, served]): ServerBlock => {
    const hosts = new Set(served.map(({ host }) => host))
    // No address at all is every address, and then the others are among them.
    const bind = hosts.has('') ? [] : [...hosts]
    return { ...DEFAULT_SETTINGS, errors: true, ...settings, zones: ['.'], port, bind }
  })
}

function readListen(text: string): HttpAddress {
  const address = parseListen(text)
  if (address !== undefined) return address
  throw new HoldfastError('Usage', `Cannot listen on "${text}": not an address; expected ADDRESS:PORT`)
}
