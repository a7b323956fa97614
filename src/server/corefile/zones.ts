// Zones as a Corefile writes them: `example.org`, `dns://example.org:1053`, `10.0.0.0/24`. Port and scheme mean
// something for the key of a server block only; elsewhere CoreDNS drops them, and so do we.

import { parseDomain, parseZones } from '../notation.ts'
import type { Token } from './lexer.ts'
import { reject } from './problem.ts'

export interface ZoneKey {
  readonly zones: readonly string[]
  readonly port: number | undefined
}

/** `SCHEME://` of encrypted or other transports that CoreDNS has and we have not. */
const OTHER_SCHEMES = /^(tls|https|https3|quic|grpc|unix):\/\//iu

export function readKey(token: Token): ZoneKey {
  const scheme = OTHER_SCHEMES.exec(token.text)
  if (scheme !== null) reject(token, `"${scheme[0]}" is not supported yet; expected a plain zone or dns://`)
  const text = token.text.replace(/^dns:\/\//iu, '')
  const [, host, port] = /^(.*?)(?::(\d+))?$/su.exec(text) as unknown as [string, string, string | undefined]
  if (port !== undefined && Number(port) > 65535) reject(token, `port ${port} is too large; expected at most 65535`)
  if (host === '') reject(token, `"${token.text}" names no zone; expected a zone such as ".${text}"`)
  return { zones: zonesOf(token, host), port: port === undefined ? undefined : Number(port) }
}

/** One zone or, for a network between label boundaries, several. */
export function readZones(tokens: readonly Token[]): string[] {
  return tokens.flatMap((token) => readKey(token).zones)
}

/** A plain domain name, absolute and lower case. */
export function readName(token: Token): string {
  const wanted = `"${token.text}" is not a domain name; expected a name such as example.org`
  return parseDomain(token.text) ?? reject(token, wanted)
}

function zonesOf(token: Token, host: string): readonly string[] {
  const zones = parseZones(host)
  if (zones !== undefined) return zones
  if (/[/:]/u.test(host)) reject(token, `"${host}" is not a network; expected a zone, or a network such as 10.0.0.0/24`)
  return [readName({ ...token, text: host })]
}
