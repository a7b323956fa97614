// A SkyDNS value as ExternalDNS reads and writes it. Written byte for byte as Go's encoding/json has it, so that a value
// looks the same whoever wrote it, and nothing changes when one program takes over from the other.

import { messageOf } from '../../../lib/errors.ts'
import { targetType } from '../../endpoints/targets.ts'

/** Empty, 0 and false: not given. */
export interface Service {
  readonly host: string
  readonly port: number
  readonly priority: number
  readonly weight: number
  readonly text: string
  readonly mail: boolean
  readonly ttl: number
  /** Labels of the key that are not of the name. */
  readonly targetstrip: number
  readonly group: string
  readonly owner: string
}

/** In the order of its fields in Go, which is that of the JSON. */
export const NO_SERVICE: Service = {
  host: '',
  port: 0,
  priority: 0,
  weight: 0,
  text: '',
  mail: false,
  ttl: 0,
  targetstrip: 0,
  group: '',
  owner: '',
}

export const MAX_TTL = 0xffff_ffff

/** The service, or `<what is>; <what is wanted>` when it is none. */
export function parseService(value: Uint8Array): Service | string {
  let json: unknown
  try {
    json = JSON.parse(Buffer.from(value).toString())
  } catch (thrown) {
    return `its value is not JSON (${messageOf(thrown)}); expected an object such as {"host":"192.0.2.1"}`
  }
  if (json === null) return NO_SERVICE
  if (typeof json !== 'object' || Array.isArray(json))
    return `its value is ${shown(json)}; expected an object such as {"host":"192.0.2.1"}`
  const service: Record<string, unknown> = { ...NO_SERVICE }
  // Names in any letter case, the last one counts, null is nothing: so Go reads it.
  for (const [key, given] of Object.entries(json)) {
    const name = key.toLowerCase()
    if (given === null || !Object.hasOwn(NO_SERVICE, name)) continue
    const wanted = wantedInstead(name as keyof Service, given)
    if (wanted !== undefined) return `"${key}" is ${shown(given)}; expected ${wanted}`
    service[name] = typeof given === 'string' ? given.toWellFormed() : given
  }
  return service as unknown as Service
}

function wantedInstead(name: keyof Service, given: unknown): string | undefined {
  const kind = typeof NO_SERVICE[name]
  if (kind === 'string') return typeof given === kind ? undefined : 'a string'
  if (kind === 'boolean') return typeof given === kind ? undefined : 'true or false'
  if (!Number.isSafeInteger(given)) return 'a whole number'
  const fits = name !== 'ttl' || (Number(given) >= 0 && Number(given) <= MAX_TTL)
  return fits ? undefined : `a whole number from 0 to ${MAX_TTL}`
}

export function formatService(service: Service): string {
  const given = Object.keys(NO_SERVICE).map((name) => [name, service[name as keyof Service]] as const)
  const json = JSON.stringify(Object.fromEntries(given.filter(([, value]) => Boolean(value))))
  return json.replaceAll(/[<>&\u2028\u2029]/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** What a host stands for at a name: below the reverse zones everything is a PTR record. */
export function hostType(name: string, host: string): 'A' | 'AAAA' | 'CNAME' | 'PTR' {
  return isReverse(name) ? 'PTR' : targetType(host)
}

/** CoreDNS looks for the PTR record of such a name at the very key of it, and nowhere below. */
export function isReverse(name: string): boolean {
  return /\.(?:in-addr|ip6)\.arpa$/iu.test(name)
}

function shown(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
