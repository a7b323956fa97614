// How ExternalDNS is told of etcd: ETCD_URLS and its companions. Our own flags win over them, and they over etcdctl's
// variables.

import type { EtcdOptions } from '../etcd/options.ts'
import { HoldfastError } from '../lib/errors.ts'
import type { Io } from './command.ts'
import { type EtcdFlags, readEtcdFlags } from './etcd-flags.ts'

const DEFAULT_URL = 'http://localhost:2379'

/** An empty flag is none. May ask for a password, if there is a --user without one. */
export async function readEtcdUrls(given: EtcdFlags, io: Io): Promise<EtcdOptions> {
  const flags = withoutEmpty(given)
  const variable = (name: string): string | undefined => io.env[name] || undefined
  const endpoints = flags.endpoints ?? readUrls(variable('ETCD_URLS')) ?? variable('ETCDCTL_ENDPOINTS') ?? DEFAULT_URL
  const tls = /^https:/iu.test(endpoints) ? readTls(flags, variable) : {}
  const user = flags.user === undefined ? readUser(variable) : {}
  const options = await readEtcdFlags({ ...flags, endpoints, ...tls, ...user }, io)
  const serverName = variable('ETCD_TLS_SERVER_NAME')
  if (options.tls === undefined || serverName === undefined) return options
  return { ...options, tls: { ...options.tls, serverName } }
}

/** But a password can be empty. */
function withoutEmpty(given: EtcdFlags): EtcdFlags {
  const entries = Object.entries(given).map(([name, value]) => [name, name === 'password' ? value : value || undefined])
  return Object.fromEntries(entries) as EtcdFlags
}

type Variable = (name: string) => string | undefined

function readUrls(text: string | undefined): string | undefined {
  const bad = text?.split(',').find((url) => !/^https?:\/\//iu.test(url.trim()))
  if (bad === undefined) return text
  throw new HoldfastError(
    'Usage',
    `Cannot use "${bad.replace(/.*@/u, '***@')}" of ETCD_URLS: it does not begin with http:// or https://; expected "https://HOST:2379"`,
  )
}

/** As with ExternalDNS, the variables count only if the first URL is https. */
function readTls(flags: EtcdFlags, variable: Variable): Partial<EtcdFlags> {
  const cert = flags.cert ?? variable('ETCD_CERT_FILE')
  const key = flags.key ?? variable('ETCD_KEY_FILE')
  if ((cert === undefined) !== (key === undefined))
    throw new HoldfastError(
      'Usage',
      `Cannot use ${cert === undefined ? 'ETCD_KEY_FILE' : 'ETCD_CERT_FILE'} alone: a certificate and its key go together; expected both, or none`,
    )
  const isInsecure = /^(?:true|yes|1)$/iu.test(variable('ETCD_TLS_INSECURE') ?? '')
  return {
    cacert: flags.cacert ?? variable('ETCD_CA_FILE'),
    cert,
    key,
    'insecure-transport': 'false',
    'insecure-skip-tls-verify': flags['insecure-skip-tls-verify'] ?? (isInsecure ? 'true' : undefined),
  }
}

function readUser(variable: Variable): Partial<EtcdFlags> {
  const user = variable('ETCD_USERNAME')
  const password = variable('ETCD_PASSWORD')
  if (user === undefined) return {}
  if (password !== undefined) return { user, password }
  throw new HoldfastError('Usage', `Cannot identify as "${user}": ETCD_PASSWORD is missing; expected both, or none`)
}
