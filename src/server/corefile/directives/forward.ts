// `forward FROM TO... { options }`: questions below FROM go to these servers. For now plain DNS only; what would
// change answers or secrecy and is not built yet is refused, what only tunes is accepted with a notice.

import type { ForwardConfig, ForwardPolicy } from '../../config.ts'
import { readArguments, readDuration, readInteger, readOptions, readRcode } from '../arguments.ts'
import type { Token } from '../lexer.ts'
import { reject } from '../problem.ts'
import type { Statement } from '../syntax.ts'
import { readUpstreams } from '../upstreams.ts'
import { readName, readZones } from '../zones.ts'
import type { BlockScope, Directive } from './directive.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export const POLICIES: readonly ForwardPolicy[] = ['random', 'round_robin', 'sequential']

export const FORWARD_DEFAULTS: Omit<ForwardConfig, 'from' | 'to'> = {
  except: [],
  policy: 'random',
  forceTcp: false,
  preferUdp: false,
  maxFails: 2,
  expireMs: 10_000,
  healthCheckMs: 500,
  healthCheckName: '.',
  healthCheckRecursionDesired: true,
  maxConcurrent: 0,
  failoverRcodes: [],
  failfastAllUnhealthy: false,
}

export const forward: Directive = (statement, scope) => {
  const [from, ...to] = readArguments(statement, 'forward FROM TO...', 2, Infinity)
  const config: Mutable<ForwardConfig> = plainForward(from, to, scope)
  const notBuilt = ({ name }: Statement) =>
    reject(name, `"${name.text}" is not supported yet; expected plain forwarding`)
  const noEffect = (option: Statement) => {
    readArguments(option, `${option.name.text} VALUE`, 1)
    scope.notice(option.name, `"${option.name.text}" of forward has no effect`)
  }
  const readOne = (option: Statement, what: string) => readArguments(option, `${option.name.text} ${what}`, 1)[0]
  readOptions(statement, {
    except: (option) => {
      config.except = [...config.except, ...readZones(readArguments(option, 'except ZONES...', 1, Infinity))]
    },
    policy: (option) => {
      config.policy = readPolicy(readOne(option, POLICIES.join('|')))
    },
    force_tcp: (option) => {
      readArguments(option, 'force_tcp', 0)
      config.forceTcp = true
    },
    prefer_udp: (option) => {
      readArguments(option, 'prefer_udp', 0)
      config.preferUdp = true
    },
    max_fails: (option) => {
      config.maxFails = readInteger(readOne(option, 'NUMBER'), 0)
    },
    expire: (option) => {
      config.expireMs = readDuration(readOne(option, 'DURATION'))
    },
    health_check: (option) => Object.assign(config, healthCheck(option)),
    max_concurrent: (option) => {
      config.maxConcurrent = readInteger(readOne(option, 'NUMBER'), 0)
    },
    failover: (option) => {
      const rcodes = readArguments(option, 'failover RCODE...', 1, Infinity).map((token) => {
        const rcode = readRcode(token)
        return rcode === 0 ? reject(token, 'NOERROR is no failure; expected another rcode') : rcode
      })
      config.failoverRcodes = [...config.failoverRcodes, ...rcodes]
    },
    failfast_all_unhealthy_upstreams: (option) => {
      readArguments(option, 'failfast_all_unhealthy_upstreams', 0)
      config.failfastAllUnhealthy = true
    },
    tls: notBuilt,
    tls_servername: notBuilt,
    next: notBuilt,
    next_on_nodata: notBuilt,
    resolver: notBuilt,
    source_address: notBuilt,
    doh_method: notBuilt,
    max_age: noEffect,
    max_idle_conns: noEffect,
    max_connect_attempts: noEffect,
    read_timeout: noEffect,
  })
  return { forwards: [config] }
}

/** FROM and TO with CoreDNS's defaults for everything else. */
export function plainForward(from: Token, to: readonly Token[], scope: BlockScope): ForwardConfig {
  const zones = readZones([from])
  if (zones.length > 1)
    scope.notice(from, `"${from.text}" is several zones, only ${zones[0]} is forwarded, as in CoreDNS`)
  return { ...FORWARD_DEFAULTS, from: zones[0], to: readUpstreams(to, scope.readFile) }
}

function readPolicy(token: Token): ForwardPolicy {
  const found = POLICIES.find((each) => each === token.text)
  return found ?? reject(token, `unknown policy "${token.text}"; expected ${POLICIES.join(', ')}`)
}

function healthCheck(option: Statement): Partial<ForwardConfig> {
  const [interval, ...rest] = readArguments(option, 'health_check DURATION [no_rec] [domain NAME]', 1, 4)
  let healthCheckName = '.'
  let healthCheckRecursionDesired = true
  for (let at = 0; at < rest.length; at++) {
    if (rest[at].text === 'no_rec') healthCheckRecursionDesired = false
    else if (rest[at].text === 'domain' && at + 1 < rest.length) healthCheckName = readName(rest[++at])
    else reject(rest[at], `"${rest[at].text}" is no option of health_check; expected no_rec or domain NAME`)
  }
  return { healthCheckMs: readDuration(interval), healthCheckName, healthCheckRecursionDesired }
}
