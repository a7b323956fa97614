// The functions that ExternalDNS adds to its templates.

import { isIPv4, isIPv6 } from 'node:net'
import type { TemplateFunction } from './builtin-functions.ts'
import { textOf } from './builtin-functions.ts'
import { TemplateError } from './template-error.ts'
import type { Value } from './template-value.ts'
import { ABSENT, describe, MapValue, valueOf } from './template-value.ts'

/** Names that `isSource` takes, whether or not there is such a source here; others are a slip of the pen. */
const SOURCES: readonly string[] = [
  ...['node', 'service', 'ingress', 'pod', 'crd', 'fake', 'empty', 'connector', 'unstructured'],
  ...['gateway-httproute', 'gateway-grpcroute', 'gateway-tlsroute', 'gateway-tcproute', 'gateway-udproute'],
  ...['istio-gateway', 'istio-virtualservice', 'ambassador-host', 'contour-httpproxy', 'gloo-proxy', 'traefik-proxy'],
  ...['openshift-route', 'skipper-routegroup', 'kong-tcpingress', 'f5-virtualserver', 'f5-transportserver'],
]

export const NAME_FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  contains: text(2, 'contains', (whole, part) => whole.includes(part)),
  trimPrefix: text(2, 'trimPrefix', (whole, prefix) => (whole.startsWith(prefix) ? whole.slice(prefix.length) : whole)),
  trimSuffix: text(2, 'trimSuffix', (whole, suffix) =>
    whole.endsWith(suffix) ? whole.slice(0, whole.length - suffix.length) : whole,
  ),
  trim: text(1, 'trim', (whole) => whole.trim()),
  toLower: text(1, 'toLower', (whole) => whole.toLowerCase()),
  replace: text(3, 'replace', (from, to, whole) => whole.replaceAll(from, () => to)),
  isIPv4: text(1, 'isIPv4', (address) => isIPv4(address)),
  isIPv6: text(1, 'isIPv6', (address) => isIPv6(address)),
  fromJson: text(1, 'fromJson', decoded),
  isSource: { fewest: 1, most: 1, call: ([wanted], source) => isSource(source, textOf(wanted, 'isSource')) },
  hasKey: { fewest: 2, most: 2, call: ([map, key]) => hasKey(map, textOf(key, 'hasKey')) },
}

function isSource(active: string, wanted: string): boolean {
  if (!SOURCES.includes(wanted.toLowerCase()))
    throw new TemplateError(`isSource got "${wanted}"; expected one of ${SOURCES.join(', ')}`)
  return wanted.toLowerCase() === active
}

function text(count: number, name: string, call: (...texts: readonly string[]) => Value): TemplateFunction {
  return { fewest: count, most: count, call: (args) => call(...args.map((arg) => textOf(arg, name))) }
}

/** What is no JSON is nothing. */
function decoded(json: string): Value {
  try {
    return valueOf(JSON.parse(json), 'json')
  } catch {
    return undefined
  }
}

function hasKey(map: Value, key: string): boolean {
  if (map === ABSENT || map === undefined) return false
  if (map instanceof MapValue) return map.has(key)
  throw new TemplateError(`hasKey got ${describe(map)}; expected a map`)
}
