// How addresses and names are written, in Corefiles and names.yaml alike. Each reader returns undefined for a text that
// is not one; the caller knows the place and says what was wanted.

import { isIP } from 'node:net'
import { formatName, lowerName, NameError, parseName, ROOT } from '../dns/name.ts'
import type { HttpAddress, UpstreamAddress } from './config.ts'
import { reverseZones } from './corefile/reverse-zones.ts'

const DNS_PORT = 53

/** `host:port`, `[::1]:port` or `:port`. */
export function parseHttpAddress(text: string): HttpAddress | undefined {
  const match = /^(?:\[([^\]]*)\]|([^:[\]]*)):(\d{1,5})$/u.exec(text)
  const port = Number(match?.[3])
  const valid = match !== null && port <= 65535 && (match[1] === undefined || isIP(match[1]) === 6)
  return valid ? { host: match[1] ?? match[2], port } : undefined
}

/** Where to answer DNS: `ADDRESS:PORT`, `[ADDRESS]:PORT`, `:PORT` or `ADDRESS`; port 53 unless given. */
export function parseListen(text: string): HttpAddress | undefined {
  if (isIP(text) !== 0) return { host: text, port: DNS_PORT }
  const match = /^(?:\[([^\]]+)\]|([^:[\]]*))(?::(\d{1,5}))?$/u.exec(text)
  const host = match?.[1] ?? match?.[2] ?? ''
  const port = Number(match?.[3] ?? DNS_PORT)
  const family = match?.[1] === undefined ? 4 : 6
  const valid = match !== null && text !== '' && port > 0 && port <= 65535 && (host === '' || isIP(host) === family)
  return valid ? { host, port } : undefined
}

/** A server to ask: `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1`, `[2001:db8::1]:53`, with or without `%zone`. */
export function parseUpstream(text: string): UpstreamAddress | undefined {
  if (isIP(text) !== 0) return { host: text, port: DNS_PORT }
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/u.exec(text)
  if (match === null) return undefined
  const [, bracketed, bare, digits] = match
  const host = bracketed ?? bare
  const port = digits === undefined ? DNS_PORT : Number(digits)
  if (isIP(host) !== (bracketed === undefined ? 4 : 6) || port === 0 || port > 65535) return undefined
  return { host, port }
}

/** The servers of a file like /etc/resolv.conf. */
export function parseResolvConf(text: string): UpstreamAddress[] {
  return text.split('\n').flatMap((line) => {
    const [keyword, address] = line.trim().split(/\s+/u)
    return keyword === 'nameserver' && isIP(address ?? '') !== 0 ? [{ host: address, port: DNS_PORT }] : []
  })
}

/** A domain name, made absolute and lower case. */
export function parseDomain(text: string): string | undefined {
  try {
    return formatName(lowerName(parseName(text, ROOT)))
  } catch (error) {
    if (!(error instanceof NameError)) throw error
    return undefined
  }
}

/** A zone, or the reverse zones of a network: one or, between label boundaries, several. */
export function parseZones(text: string): readonly string[] | undefined {
  const reverse = reverseZones(text)
  if (reverse !== undefined) return reverse
  // A mistyped network, not a name with a slash such as 0/25.2.0.192.in-addr.arpa (RFC 2317 4).
  const isNetwork = text.includes(':') || /^[\d.]*\/\d*$/u.test(text)
  const domain = isNetwork ? undefined : parseDomain(text)
  return domain === undefined ? undefined : [domain]
}
