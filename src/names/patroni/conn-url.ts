// Where a member's conn_url leads, such as postgres://10.0.0.1:5432/postgres: addresses, or names, which nobody resolves
// here. Several hosts are separated by commas, as libpq has it. What is wrong is told without the text itself, which
// may hold a password.

import { parseName } from '../../dns/name.ts'
import { readIpv4, readIpv6 } from '../../dns/rdata/fields/address.ts'
import { TYPE } from '../../dns/types.ts'

/** An address as A or AAAA, a name as CNAME. */
export interface Target {
  readonly type: number
  readonly rdata: Uint8Array
}

/** With a domain, and not a malformed address: a top-level domain has a letter (RFC 3696 2). */
const HOST_NAME = /^(?:[\w-]{1,63}\.)+(?=[\w-]*[A-Za-z])[\w-]{1,63}\.?$/u

/** The targets, or a sentence that says what is wrong. */
export function connTargets(url: string): readonly Target[] | string {
  const [, authority] = /^postgres(?:ql)?:\/\/([^/?#]*)/iu.exec(url) ?? []
  if (authority === undefined) return 'its conn_url does not begin with postgres://'
  const targets: Target[] = []
  for (const place of authority.slice(authority.lastIndexOf('@') + 1).split(',')) {
    const [, bracketed, plain] = /^(?:\[([^[\]]*)\]|([^:[\]]*))(?::\d*)?$/u.exec(place) ?? []
    const host = bracketed ?? plain ?? ''
    if (host === '') return 'its conn_url names no host'
    if (/^(?:%2f|%40|@)/iu.test(host)) return 'its conn_url names a Unix socket'
    const target = bracketed === undefined ? (ipv4Target(host) ?? nameTarget(host)) : ipv6Target(host)
    if (target === undefined) return 'its conn_url has a host that is neither an address nor a name with a domain'
    targets.push(target)
  }
  return targets
}

function ipv4Target(host: string): Target | undefined {
  const text = Buffer.from(host)
  const rdata = new Uint8Array(4)
  return readIpv4(text, 0, text.length, rdata, 0) ? { type: TYPE.A, rdata } : undefined
}

function ipv6Target(host: string): Target | undefined {
  const text = Buffer.from(host)
  const rdata = new Uint8Array(16)
  return readIpv6(text, 0, text.length, rdata, 0) ? { type: TYPE.AAAA, rdata } : undefined
}

function nameTarget(host: string): Target | undefined {
  if (!HOST_NAME.test(host) || host.length > 253) return undefined
  return { type: TYPE.CNAME, rdata: parseName(host.endsWith('.') ? host : `${host}.`) }
}
