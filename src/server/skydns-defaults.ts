// What CoreDNS's etcd plugin, and the updater that feeds CoreDNS with zones, take where a configuration says nothing.

import { posix } from 'node:path'
import type { SkydnsConfig } from './config.ts'

export const ETCD_DEFAULT_ENDPOINT = 'http://localhost:2379'

/** Before the domain in the key of a zone, as in the updater's documentation. */
export const ZONES_DEFAULT_PREFIX = '/coredns/'

export const SKYDNS_DEFAULTS: Pick<SkydnsConfig, 'path' | 'mode' | 'minLeaseTtlSeconds' | 'maxLeaseTtlSeconds'> = {
  path: '/skydns',
  mode: 'compatible',
  minLeaseTtlSeconds: 30,
  maxLeaseTtlSeconds: 86_400,
}

/** `skydns`, `/skydns` and `/skydns/` are one; the root is the empty text, so that a slash always follows. */
export function skydnsPath(text: string): string {
  return posix.join('/', text).replace(/\/$/u, '')
}

/** `/coredns` is `/coredns/`: nobody means keys such as `/corednsexample.org`. */
export function zonesPrefix(text: string): string {
  return /[\p{L}\p{N}]$/u.test(text) ? `${text}/` : text
}
