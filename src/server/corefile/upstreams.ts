// The servers a question can be sent on to: an address with or without port, or a file like /etc/resolv.conf
// whose servers stand in its place.

import { messageOf } from '../../lib/errors.ts'
import type { UpstreamAddress } from '../config.ts'
import { parseResolvConf, parseUpstream } from '../notation.ts'
import type { Token } from './lexer.ts'
import { reject } from './problem.ts'

export function readUpstreams(tokens: readonly Token[], readFile: (path: string) => string): UpstreamAddress[] {
  return tokens.flatMap((token) => readUpstream(token, readFile))
}

function readUpstream(token: Token, readFile: (path: string) => string): UpstreamAddress[] {
  const scheme = /^([a-z0-9]+):\/\//iu.exec(token.text)
  if (scheme !== null && scheme[1].toLowerCase() !== 'dns') {
    reject(token, `upstream "${token.text}" is not supported yet; expected a plain address`)
  }
  const text = scheme === null ? token.text : token.text.slice(scheme[0].length)
  const address = parseUpstream(text)
  if (address !== undefined) return [address]
  return readResolvConf(token, text, readFile)
}

function readResolvConf(token: Token, path: string, readFile: (path: string) => string): UpstreamAddress[] {
  let text: string
  try {
    text = readFile(path)
  } catch (error) {
    return reject(
      token,
      `"${path}" is neither an address nor a readable file (${messageOf(error)}); expected one of them`,
    )
  }
  const servers = parseResolvConf(text)
  if (servers.length === 0) reject(token, `"${path}" names no server; expected a line "nameserver ADDRESS"`)
  return servers
}
