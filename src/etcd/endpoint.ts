// Where a member listens, from the forms people write: http://host:port, https://host:port, host:port.

import { HoldfastError } from '../lib/errors.ts'
import type { EtcdOptions } from './options.ts'

export interface Endpoint {
  /** As shown to users: always with scheme and port. */
  readonly url: string
  readonly host: string
  readonly port: number
  readonly secure: boolean
}

const DEFAULT_PORT = 2379

export function parseEndpoints({ endpoints, tls }: EtcdOptions): readonly Endpoint[] {
  const parsed = endpoints.map((text) => parseEndpoint(text, tls !== undefined))
  if (parsed.length > 0) return parsed
  throw new HoldfastError(
    'EtcdEndpoint',
    'Cannot use etcd: no endpoint is given; expected at least one "https://host:2379"',
  )
}

function parseEndpoint(text: string, secureByDefault: boolean): Endpoint {
  const full = text.includes('://') ? text : `${secureByDefault ? 'https' : 'http'}://${text}`
  const url = URL.parse(full)
  const isPlain = url !== null && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === ''
  if (!isPlain || !/^https?:$/u.test(url.protocol) || url.hostname === '') {
    throw new HoldfastError(
      'EtcdEndpoint',
      `Cannot use etcd endpoint "${text.replace(/^([a-z]+:\/\/)?.*@/iu, '$1***@')}": it is not of the form https://host:port; "https://127.0.0.1:2379" is`,
    )
  }
  const secure = url.protocol === 'https:'
  const port = givenPort(full, url) ?? DEFAULT_PORT
  return {
    url: `${url.protocol}//${url.hostname}:${port}`,
    host: url.hostname.replace(/^\[(.*)\]$/u, '$1'),
    port,
    secure,
  }
}

/** URL drops a port that is the scheme's own; 80 and 443 are as good as any. */
function givenPort(text: string, url: URL): number | undefined {
  if (url.port !== '') return Number(url.port)
  const written = /:(\d+)\/?$/u.exec(text)
  return written === null ? undefined : Number(written[1])
}
