// The configuration of `holdfast dns --zones DIR --listen ADDRESS:PORT`, without a Corefile: every zone file of
// the directories, on every address given.

import { isIP } from 'node:net'
import { HoldfastError } from '../../lib/errors.ts'
import type { AutoConfig, HttpAddress, ServerBlock, ServerConfig } from '../config.ts'
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
  const { directories, listen, reloadMs = 60_000, ...settings } = options
  const addressesByPort = new Map<number, Set<string>>()
  for (const text of listen.length === 0 ? [':53'] : listen) {
    const { host, port } = readListen(text)
    addressesByPort.set(port, (addressesByPort.get(port) ?? new Set()).add(host))
  }
  const autos = directories.map(
    (directory): AutoConfig => ({
      zones: ['.'],
      directory,
      pattern: PATTERN,
      template: TEMPLATE,
      reloadMs,
      fallthrough: [],
    }),
  )
  const blocks = [...addressesByPort].map(([port, hosts]): ServerBlock => {
    // No address at all is every address, and then the others are among them.
    const bind = hosts.has('') ? [] : [...hosts]
    return { ...DEFAULT_SETTINGS, ...settings, at: '--listen', zones: ['.'], port, bind, autos, errors: true }
  })
  return { blocks }
}

function readListen(text: string): HttpAddress {
  if (isIP(text) !== 0) return { host: text, port: 53 }
  const match = /^(?:\[([^\]]+)\]|([^:[\]]*))(?::(\d{1,5}))?$/u.exec(text)
  const host = match?.[1] ?? match?.[2] ?? ''
  const port = Number(match?.[3] ?? 53)
  const family = match?.[1] === undefined ? 4 : 6
  const valid = match !== null && text !== '' && port > 0 && port <= 65535 && (host === '' || isIP(host) === family)
  if (!valid) throw new HoldfastError('Usage', `Cannot listen on "${text}": not an address; wanted ADDRESS:PORT`)
  return { host, port }
}
