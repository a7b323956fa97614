// How a command reaches etcd: etcdctl's flags and its ETCDCTL_* variables, so that a shell set up for etcdctl is set up
// for holdfast. A flag wins over its variable.

import type { EtcdOptions, TlsOptions } from '../etcd/options.ts'
import { HoldfastError } from '../lib/errors.ts'
import { parseDuration, parseEndpoint } from '../document/notation.ts'
import { askPassword } from './ask.ts'
import type { Io } from './command.ts'

const DEFAULT_ENDPOINT = '127.0.0.1:2379'

export const ETCD_FLAGS = {
  endpoints: {
    value: 'HOST:PORT,...',
    summary: `members of the etcd cluster, or ETCDCTL_ENDPOINTS (and so on, as with etcdctl); ${DEFAULT_ENDPOINT} unless given`,
  },
  cacert: { value: 'FILE', summary: 'trust the authorities in this file' },
  cert: { value: 'FILE', summary: 'identify with this certificate' },
  key: { value: 'FILE', summary: 'key of that certificate' },
  user: { value: 'NAME[:PASSWORD]', summary: 'identify as this user; the password is asked for when it is missing' },
  password: {
    value: 'PASSWORD',
    summary: 'of the user; ETCDCTL_PASSWORD is better, as everyone on this host can read arguments',
  },
  'insecure-transport': {
    value: 'BOOL',
    bare: 'true',
    summary: 'no TLS to endpoints without a scheme; true unless there is a certificate',
  },
  'insecure-skip-tls-verify': { value: 'BOOL', bare: 'true', summary: 'take any certificate' },
  'dial-timeout': { value: 'DURATION', summary: 'for making a connection; 2s unless given' },
  'command-timeout': { value: 'DURATION', summary: 'for a request; 5s unless given' },
} as const

type Flag = keyof typeof ETCD_FLAGS
export type EtcdFlags = { readonly [name in Flag]: string | undefined }

/** May ask for a password. */
export async function readEtcdFlags(flags: EtcdFlags, io: Io): Promise<EtcdOptions> {
  const read = (name: Flag): string | undefined => {
    const variable = io.env[variableOf(name)]
    return flags[name] ?? (variable === '' ? undefined : variable)
  }
  const endpoints = readEndpoints(read('endpoints') ?? DEFAULT_ENDPOINT)
  const tls = readTls(read)
  const dialTimeoutMs = readTimeout('dial-timeout', read('dial-timeout'))
  const requestTimeoutMs = readTimeout('command-timeout', read('command-timeout'))
  return {
    endpoints,
    ...(tls !== undefined && { tls }),
    ...(await readUser(read, flags, io)),
    ...(dialTimeoutMs !== undefined && { dialTimeoutMs }),
    ...(requestTimeoutMs !== undefined && { requestTimeoutMs }),
  }
}

type Read = (name: Flag) => string | undefined

function variableOf(flag: string): string {
  return `ETCDCTL_${flag.toUpperCase().replaceAll('-', '_')}`
}

export function readEndpoints(text: string): string[] {
  return text.split(',').map((each) => {
    const endpoint = parseEndpoint(each.trim())
    if (endpoint !== undefined) return endpoint
    // What stands before an "@" may be a password.
    if (each.includes('@'))
      throw new HoldfastError('Usage', 'Cannot use an endpoint with a user in it; expected --user and ETCDCTL_PASSWORD')
    throw new HoldfastError(
      'Usage',
      `Cannot use endpoint "${each.trim()}": not an address; expected HOST:PORT, http://HOST:PORT or https://HOST:PORT`,
    )
  })
}

/** Undefined where endpoints without a scheme are spoken to in the clear. */
function readTls(read: Read): TlsOptions | undefined {
  const caFile = read('cacert')
  const certFile = read('cert')
  const keyFile = read('key')
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new HoldfastError(
      'Usage',
      `Cannot use --${certFile === undefined ? 'key' : 'cert'} alone: a certificate and its key go together; expected both`,
    )
  const insecure = readBoolean('insecure-skip-tls-verify', read) ?? false
  const secure = readBoolean('insecure-transport', read) === false
  if (caFile === undefined && certFile === undefined && !insecure && !secure) return undefined
  return {
    ...(caFile !== undefined && { caFile }),
    ...(certFile !== undefined && { certFile }),
    ...(keyFile !== undefined && { keyFile }),
    ...(insecure && { insecure }),
  }
}

async function readUser(read: Read, flags: EtcdFlags, io: Io): Promise<{ username?: string; password?: string }> {
  const user = read('user')
  if (user === undefined) return {}
  // With a password beside it, a colon belongs to the name; etcdctl has it so.
  if (flags.password !== undefined) return { username: user, password: flags.password }
  const colon = user.indexOf(':')
  if (colon >= 0) return { username: user.slice(0, colon), password: user.slice(colon + 1) }
  return { username: user, password: read('password') ?? (await missingPassword(user, io)) }
}

async function missingPassword(user: string, io: Io): Promise<string> {
  if (io.stdin.isTTY === true) return askPassword(io, `Password of ${user}: `)
  throw new HoldfastError(
    'Usage',
    `Cannot identify as "${user}": there is no password and nobody to ask; expected ETCDCTL_PASSWORD`,
  )
}

function readBoolean(name: Flag, read: Read): boolean | undefined {
  const text = read(name)
  if (text === undefined) return undefined
  if (/^(?:1|t|true)$/iu.test(text)) return true
  if (/^(?:0|f|false)$/iu.test(text)) return false
  throw new HoldfastError('Usage', `Cannot read "${text}" as --${name}: expected true or false`)
}

function readTimeout(name: Flag, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const ms = parseDuration(text)
  if (ms === undefined || ms <= 0)
    throw new HoldfastError('Usage', `Cannot read "${text}" as --${name}: expected a duration such as 5s or 1m30s`)
  return ms
}
