// `etcd [ZONES...] { path endpoint credentials tls fallthrough min-lease-ttl max-lease-ttl mode }`: names from SkyDNS
// records in etcd. `mode` is ours. Certificate files are not looked at here: whoever connects reads them, each time.

import { Secret } from '../../../lib/secret.ts'
import type { EtcdConnection, SkydnsConfig } from '../../config.ts'
import { parseDuration, parseEndpoint } from '../../../document/notation.ts'
import { ETCD_DEFAULT_ENDPOINT, SKYDNS_DEFAULTS, skydnsPath } from '../../skydns-defaults.ts'
import { readArguments, readOptions } from '../arguments.ts'
import type { Token } from '../lexer.ts'
import { reject } from '../problem.ts'
import type { Statement } from '../syntax.ts'
import { readZones } from '../zones.ts'
import type { BlockScope, Directive } from './directive.ts'
import { ignoreUpstream, readFallthrough, underRoot } from './zone-files.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const MOST_SECONDS = 2 ** 32 - 1

export const etcd: Directive = (statement, scope) => {
  const zones = statement.args.length === 0 ? scope.zones : readZones(statement.args)
  const connection: Mutable<EtcdConnection> = { endpoints: [ETCD_DEFAULT_ENDPOINT] }
  const config: Mutable<SkydnsConfig> = { ...SKYDNS_DEFAULTS, zones, fallthrough: [], etcd: connection }
  const noEffect = (option: Statement) => {
    readArguments(option, option.name.text, 0)
    scope.notice(option.name, `"${option.name.text}" of etcd has no effect, as in CoreDNS`)
  }
  readOptions(statement, {
    path: (option) => {
      config.path = skydnsPath(readArguments(option, 'path PATH', 1)[0].text)
    },
    endpoint: (option) => {
      connection.endpoints = readArguments(option, 'endpoint ENDPOINT...', 1, Infinity).map(readEndpoint)
    },
    credentials: (option) => Object.assign(connection, readCredentials(option, scope)),
    tls: (option) => {
      connection.tls = readTls(option, scope)
    },
    fallthrough: (option) => {
      config.fallthrough = readFallthrough(option)
    },
    'min-lease-ttl': (option) => {
      config.minLeaseTtlSeconds = readLeaseTtl(option)
    },
    'max-lease-ttl': (option) => {
      config.maxLeaseTtlSeconds = readLeaseTtl(option)
    },
    mode: (option) => {
      config.mode = readMode(readArguments(option, 'mode compatible|exact', 1)[0])
    },
    upstream: (option) => ignoreUpstream(option, scope),
    stubzones: noEffect,
    debug: noEffect,
  })
  return { skydns: [config] }
}

function readEndpoint(token: Token): string {
  // The text may hold a password before an "@".
  const what = token.text.includes('@') ? 'the endpoint has a user in it' : `"${token.text}" is not an endpoint`
  const wanted = token.text.includes('@')
    ? 'a line "credentials USERNAME PASSWORD"'
    : 'one such as http://10.0.0.1:2379'
  return parseEndpoint(token.text) ?? reject(token, `${what}; expected ${wanted}`)
}

/** Without a user or a password there is none of both, as in CoreDNS: a variable that is not set is an empty text. */
function readCredentials(option: Statement, { notice }: BlockScope): Partial<EtcdConnection> {
  const [username, password] = readArguments(option, 'credentials USERNAME PASSWORD', 2)
  if (username.text !== '' && password.text !== '')
    return { username: username.text, password: new Secret(password.text) }
  notice(option.name, '"credentials" of etcd is half empty and has no effect, as in CoreDNS')
  return {}
}

/** One file is an authority, two are a certificate and its key, three are all of them. */
function readTls(option: Statement, { root }: BlockScope): NonNullable<EtcdConnection['tls']> {
  const files = readArguments(option, 'tls [CERT KEY] [CACERT]', 0, 3).map(({ text }) => underRoot(root, text))
  if (files.length === 0) return {}
  if (files.length === 1) return { caFile: files[0] }
  const [certFile, keyFile, caFile] = files
  return { certFile, keyFile, ...(caFile !== undefined && { caFile }) }
}

/** Whole seconds; unlike elsewhere in a Corefile the unit may be missing, and nothing at all is 0. */
function readLeaseTtl(option: Statement): number {
  const [token] = readArguments(option, `${option.name.text} DURATION`, 1)
  const text = token.text.trim()
  const ms = text === '' ? 0 : parseDuration(/^\d+$/u.test(text) ? `${text}s` : text)
  if (ms === undefined) return reject(token, `"${token.text}" is not a duration; expected one such as 30, 30s or 1h30m`)
  const seconds = Math.floor(ms / 1000)
  if (seconds > MOST_SECONDS) reject(token, `"${token.text}" is too long; expected at most ${MOST_SECONDS} seconds`)
  return seconds
}

function readMode(token: Token): SkydnsConfig['mode'] {
  if (token.text === 'compatible' || token.text === 'exact') return token.text
  return reject(token, `unknown mode "${token.text}"; expected compatible or exact`)
}
