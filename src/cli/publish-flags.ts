// What publishers have in common on the command line.

import { hostname } from 'node:os'
import { parseDuration } from '../document/notation.ts'
import { HoldfastError } from '../lib/errors.ts'
import type { PublishOptions } from '../names/outputs/publish-endpoints.ts'
import type { HttpAddress } from '../server/config.ts'
import { parseHttpAddress } from '../server/notation.ts'
import type { Io } from './command.ts'

export const LEASE_FLAG = {
  value: '[NAMESPACE/]NAME',
  bare: 'holdfast-publish',
  summary: 'of several replicas, the one that holds this Lease writes',
} as const

export const HTTP_FLAG = { value: 'ADDR:PORT', summary: 'serve /metrics and /healthz there' } as const

export function readHttpAddress(text: string): HttpAddress {
  const address = parseHttpAddress(text)
  if (address !== undefined) return address
  throw new HoldfastError('Usage', `Cannot serve metrics on "${text}": not an address; ADDR:PORT or :PORT is wanted`)
}

export function readLease(text: string | undefined, io: Io): PublishOptions['lease'] {
  if (text === undefined) return undefined
  const [, namespace, name] = /^(?:([^/]+)\/)?([^/]+)$/u.exec(text) ?? []
  if (name === undefined)
    throw new HoldfastError('Usage', `Cannot use "${text}" as a Lease: NAME or NAMESPACE/NAME is wanted`)
  // Pods have their name as host name; two processes on one host are two as well.
  return { namespace, name, identity: `${io.env.POD_NAME ?? hostname()}_${process.pid}` }
}

export function readDeletions(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,9}$/u.test(text)) return Number(text)
  throw new HoldfastError('Usage', `Cannot read "${text}" as --max-deletions: a whole number is wanted`)
}

/** Whole seconds of a duration. */
export function readSeconds(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const ms = /^\d+$/u.test(text) ? Number(text) * 1000 : parseDuration(text)
  if (ms !== undefined && ms >= 1000 && ms <= 2_147_483_647_000) return Math.floor(ms / 1000)
  throw new HoldfastError('Usage', `Cannot read "${text}" as --${name}: a duration such as 30s or 1h is wanted`)
}
