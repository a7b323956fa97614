// Host names of routes and listeners: a name belongs to a listener when the two overlap. `*.example.com` stands for
// every name below example.com, however deep; no name at all stands for all of them.

import { isIP } from 'node:net'

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/u

/** In small letters; undefined for what is no name that the Gateway API takes. */
export function listenerHostname(written: string): string | undefined {
  const host = written.toLowerCase()
  const labels = (host.startsWith('*.') ? host.slice(2) : host).split('.')
  if (host.length > 255 || isIP(host) !== 0 || !labels.every((label) => LABEL.test(label))) return undefined
  return host
}

/** The narrower of two names in small letters that overlap; the empty name overlaps with every other. */
export function overlap(a: string, b: string): string | undefined {
  if (a === '' || a === b) return b
  if (b === '' || isBelow(a, b)) return a
  return isBelow(b, a) ? b : undefined
}

function isBelow(host: string, wildcard: string): boolean {
  return wildcard.startsWith('*.') && host.length > wildcard.length - 1 && host.endsWith(wildcard.slice(1))
}
