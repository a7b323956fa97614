// `cache [TTL] [ZONES...] { success … denial … prefetch … serve_stale … servfail … disable … keepttl }`.

import type { CacheConfig } from '../../config.ts'
import { readArguments, readDuration, readInteger, readOptions } from '../arguments.ts'
import type { Token } from '../lexer.ts'
import { reject } from '../problem.ts'
import type { Statement } from '../syntax.ts'
import { readZones } from '../zones.ts'
import type { BlockScope, Directive } from './directive.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** RFC 2308 section 7.1. */
const MAX_SERVFAIL_MS = 300_000

export const CACHE_DEFAULTS: Omit<CacheConfig, 'zones'> = {
  successCapacity: 9984,
  successMaxTtlSeconds: 3600,
  successMinTtlSeconds: 5,
  denialCapacity: 9984,
  denialMaxTtlSeconds: 1800,
  denialMinTtlSeconds: 5,
  prefetchAmount: 0,
  prefetchDurationMs: 60_000,
  prefetchPercentage: 10,
  servfailTtlSeconds: 5,
  serveStaleMs: 0,
  serveStaleVerify: false,
  keepTtl: false,
  disableSuccess: [],
  disableDenial: [],
}

export const cache: Directive = (statement, scope) => {
  const first = statement.args[0]
  const ttl = first !== undefined && /^[+-]?\d+$/u.test(first.text) ? readInteger(first, 1) : undefined
  const zones = ttl === undefined ? statement.args : statement.args.slice(1)
  const config: Mutable<CacheConfig> = { ...CACHE_DEFAULTS, zones: zones.length === 0 ? scope.zones : readZones(zones) }
  if (ttl !== undefined) {
    config.successMaxTtlSeconds = ttl
    config.denialMaxTtlSeconds = ttl
  }
  readOptions(statement, {
    success: (option) => {
      const [capacity, max, min] = readArguments(option, 'success CAPACITY [TTL] [MINTTL]', 1, 3)
      config.successCapacity = readInteger(capacity, 0)
      if (max !== undefined) config.successMaxTtlSeconds = readInteger(max, 1)
      if (min !== undefined) config.successMinTtlSeconds = readInteger(min, 0)
    },
    denial: (option) => {
      const [capacity, max, min] = readArguments(option, 'denial CAPACITY [TTL] [MINTTL]', 1, 3)
      config.denialCapacity = readInteger(capacity, 0)
      if (max !== undefined) config.denialMaxTtlSeconds = readInteger(max, 1)
      if (min !== undefined) config.denialMinTtlSeconds = readInteger(min, 0)
    },
    prefetch: (option) => {
      const [amount, duration, percentage] = readArguments(option, 'prefetch AMOUNT [DURATION [PERCENTAGE%]]', 1, 3)
      config.prefetchAmount = readInteger(amount, 0)
      if (duration !== undefined) config.prefetchDurationMs = readDuration(duration)
      if (percentage !== undefined) config.prefetchPercentage = readPercentage(percentage)
    },
    serve_stale: (option) => Object.assign(config, serveStale(option, scope)),
    serve_stale_policy: (option) => {
      readArguments(option, 'serve_stale_policy prefer_positive', 1)
      scope.notice(option.name, '"serve_stale_policy" has no effect yet')
    },
    servfail: (option) => {
      const [duration] = readArguments(option, 'servfail DURATION', 1)
      const ms = readDuration(duration)
      if (ms > MAX_SERVFAIL_MS)
        reject(duration, `"${duration.text}" is longer than RFC 2308 allows; expected at most 5m`)
      config.servfailTtlSeconds = ms / 1000
    },
    disable: (option) => {
      const [what, ...names] = readArguments(option, 'disable success|denial [ZONES...]', 1, Infinity)
      const disabled = names.length === 0 ? ['.'] : readZones(names)
      if (what.text === 'success') config.disableSuccess = disabled
      else if (what.text === 'denial') config.disableDenial = disabled
      else reject(what, `"${what.text}" cannot be disabled; expected success or denial`)
    },
    keepttl: (option) => {
      readArguments(option, 'keepttl', 0)
      config.keepTtl = true
    },
  })
  return { cache: config }
}

function serveStale(option: Statement, { notice }: BlockScope): Partial<CacheConfig> {
  const [duration, mode, ...rest] = readArguments(option, 'serve_stale [DURATION [immediate|verify]]', 0, 5)
  if (mode !== undefined && !/^(?:immediate|verify)$/iu.test(mode.text)) {
    reject(mode, `unknown refresh mode "${mode.text}"; expected immediate or verify`)
  }
  for (const each of rest) readDuration(each)
  if (rest.length > 0) notice(rest[0], 'verify timeout, response TTL and recheck of serve_stale have no effect yet')
  return {
    serveStaleMs: duration === undefined ? 3_600_000 : readDuration(duration),
    serveStaleVerify: mode?.text.toLowerCase() === 'verify',
  }
}

function readPercentage(token: Token): number {
  if (!token.text.endsWith('%')) reject(token, `"${token.text}" has no "%"; expected 10% to 90%`)
  return readInteger({ ...token, text: token.text.slice(0, -1) }, 10, 90)
}
