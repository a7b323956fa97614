// The servers a question can be sent on to: an address with or without port, or a file like /etc/resolv.conf
// whose servers stand in its place.

import { isIP } from 'node:net'
import { messageOf } from '../../lib/errors.ts'
import type { UpstreamAddress } from '../config.ts'
import type { Token } from './lexer.ts'
import { reject } from './problem.ts'

const DNS_PORT = 53

export function readUpstreams(tokens: readonly Token[], readFile: (path: string) => string): UpstreamAddress[] {
  return tokens.flatMap((token) => readUpstream(token, readFile))
}

function readUpstream(token: Token, readFile: (path: string) => string): UpstreamAddress[] {
  const scheme = /^([a-z0-9]+):\/\//iu.exec(token.text)
  if (scheme !== null && scheme[1].toLowerCase() !== 'dns') {
    reject(token, `upstream "${token.text}" is not supported yet; wanted: a plain address`)
  }
  const text = scheme === null ? token.text : token.text.slice(scheme[0].length)
  const address = parseUpstream(text)
  if (address !== undefined) return [address]
  return readResolvConf(token, text, readFile)
}

/** `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1`, `[2001:db8::1]:53`, with or without `%zone`. */
function parseUpstream(text: string): UpstreamAddress | undefined {
  if (isIP(text) !== 0) return { host: text, port: DNS_PORT }
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/u.exec(text)
  if (match === null) return undefined
  const [, bracketed, bare, digits] = match
  const host = bracketed ?? bare
  const port = digits === undefined ? DNS_PORT : Number(digits)
  if (isIP(host) !== (bracketed === undefined ? 4 : 6) || port === 0 || port > 65535) return undefined
  return { host, port }
}

function readResolvConf(token: Token, path: string, readFile: (path: string) => string): UpstreamAddress[] {
  let text: string
  try {
    text = readFile(path)
  } catch (error) {
    return reject(
      token,
      `"${path}" is neither an address nor a readable file (${messageOf(error)}); wanted: one of them`,
    )
  }
  const servers = text.split('\n').flatMap((line) => {
    const [keyword, address] = line.trim().split(/\s+/u)
    return keyword === 'nameserver' && isIP(address ?? '') !== 0 ? [{ host: address, port: DNS_PORT }] : []
  })
  if (servers.length === 0) reject(token, `"${path}" names no server; wanted: a line "nameserver ADDRESS"`)
  return servers
}
