// What publishers have in common on the command line.

import { createHash, randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { parseDuration } from '../document/notation.ts'
import { HoldfastError } from '../lib/errors.ts'
import type { PublishOptions } from '../names/outputs/publish-endpoints.ts'
import type { HttpAddress } from '../server/config.ts'
import { parseHttpAddress } from '../server/notation.ts'
import type { Io } from './command.ts'

export const DEFAULT_PREFIX = '/skydns/'

export const LEASE_FLAG = {
  value: '[NAMESPACE/]NAME',
  bare: 'true',
  summary:
    'of several replicas, the one that holds this Lease writes; named after the command and the owner unless given',
} as const

export const DELETIONS_FLAG = {
  value: 'N',
  summary:
    'maximum deletions per run (default: refuses to delete most names unless their objects were seen being deleted)',
} as const

export const HTTP_FLAG = { value: 'ADDR:PORT', summary: 'serve /metrics and /healthz there' } as const

export function readHttpAddress(text: string): HttpAddress {
  const address = parseHttpAddress(text)
  if (address !== undefined) return address
  throw new HoldfastError('Usage', `Cannot serve metrics on "${text}": not an address; expected ADDR:PORT or :PORT`)
}

/** What keys begin with. */
export function readPrefix(flag: string, text: string | undefined): string {
  const prefix = text ?? DEFAULT_PREFIX
  if (!/^\/*$/u.test(prefix)) return prefix
  throw new HoldfastError(
    'Usage',
    `Cannot use --${flag} "${prefix}": it stands for every key of etcd; expected one such as ${DEFAULT_PREFIX}`,
  )
}

/** `standard` is its name where none is given. */
export function readLease(text: string | undefined, standard: string, io: Io): PublishOptions['lease'] {
  if (text === undefined || text === '' || text === 'false') return undefined
  const [, namespace, name] = /^(?:([^/]+)\/)?([^/]+)$/u.exec(text === LEASE_FLAG.bare ? standard : text) ?? []
  if (name === undefined)
    throw new HoldfastError('Usage', `Cannot use "${text}" as a Lease: expected NAME or NAMESPACE/NAME`)
  // Pods have their name as host name, and keep it when their container starts again.
  return { namespace, name, identity: `${io.env.POD_NAME || hostname()}_${randomUUID().slice(0, 8)}` }
}

/** Who writes other names, as another command or another owner, needs a Lease of its own. */
export function leaseName(command: string, owner: string): string {
  const label = owner
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/gu, '-')
    .slice(0, 40)
    .replaceAll(/^-|-$/gu, '')
  const digest = createHash('sha256').update(owner).digest('hex').slice(0, 8)
  return ['holdfast', ...command.split(' '), ...(label === owner ? [owner] : [label, digest])]
    .filter((part) => part !== '')
    .join('-')
}

export function readDeletions(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  if (/^\d{1,9}$/u.test(text)) return Number(text)
  throw new HoldfastError('Usage', `Cannot read "${text}" as --max-deletions: expected a whole number`)
}

/** Whole seconds of a duration. */
export function readSeconds(name: string, text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  const ms = /^\d+$/u.test(text) ? Number(text) * 1000 : parseDuration(text)
  if (ms !== undefined && ms >= 1000 && ms <= 2_147_483_647_000) return Math.floor(ms / 1000)
  throw new HoldfastError('Usage', `Cannot read "${text}" as --${name}: expected a duration such as 30s or 1h`)
}
