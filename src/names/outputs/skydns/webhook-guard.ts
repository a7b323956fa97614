// Who may use the webhook: ExternalDNS, not a web page that a browser on this host has open, and with a password no other
// user of this host. A page can send requests without asking first only with a few content types, cannot leave its
// Origin out, and by rebinding its own name to this address it still sends that name as Host.

import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import type { Secret } from '../../../lib/secret.ts'

const MEDIA_TYPE = /^application\/external\.dns\.webhook\+json(?:$|[\s;])/iu

export interface GuardOptions {
  /** Names, in lower case, that requests may have in Host next to `localhost` and addresses. */
  readonly hosts: readonly string[]
  /** Expected by Basic authentication, with any user name. */
  readonly password: Secret | undefined
}

export interface Refusal {
  readonly status: 401 | 403 | 415
  readonly reason: string
}

interface Request {
  readonly method?: string | undefined
  readonly headers: IncomingHttpHeaders
}

/** Undefined: the request may pass. */
export function refusalOf({ method, headers }: Request, { hosts, password }: GuardOptions): Refusal | undefined {
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined)
    return { status: 403, reason: 'Cannot serve a browser; expected ExternalDNS' }
  const host = hostName(headers.host)
  if (host !== undefined && !isAllowed(host, hosts))
    return { status: 403, reason: `Cannot serve Host "${host}"; expected localhost, an address or an --allow-host` }
  if (password !== undefined && !isPassword(headers.authorization, password))
    return { status: 401, reason: 'Cannot serve without the password of --password-file; put it into the URL' }
  if (method === 'POST' && !MEDIA_TYPE.test(headers['content-type'] ?? ''))
    return { status: 415, reason: 'Cannot read this content type; expected application/external.dns.webhook+json' }
  return undefined
}

function isAllowed(host: string, hosts: readonly string[]): boolean {
  return host === 'localhost' || isIP(host) !== 0 || hosts.includes(host)
}

/** Without port and brackets, in lower case. */
function hostName(host: string | undefined): string | undefined {
  if (host === undefined) return undefined
  const [, address, name] = /^(?:\[(.*)\]|([^:]*))(?::\d*)?$/u.exec(host) ?? []
  return (address ?? name ?? host).toLowerCase().replace(/\.$/u, '')
}

function isPassword(authorization: string | undefined, password: Secret): boolean {
  const [, encoded = ''] = /^Basic +([\w+/=-]+) *$/iu.exec(authorization ?? '') ?? []
  const [, given = ''] = /^[^:]*:(.*)$/su.exec(Buffer.from(encoded, 'base64').toString()) ?? []
  return timingSafeEqual(digest(given), digest(password.reveal()))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
