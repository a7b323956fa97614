// One SkyDNS value: JSON with a host (an address or a name), a text, or both, and what goes with them. Field names match in
// any letter case and unknown ones are ignored, as CoreDNS reads them. Strings hold one character per byte, ready for rdata.

import { encodeNameText, nameProblem } from '../../dns/name.ts'
import { readIpv4, readIpv6 } from '../../dns/rdata/fields/address.ts'
import { TYPE } from '../../dns/types.ts'
import { messageOf } from '../../lib/errors.ts'
import { latin1 } from './path.ts'

export interface ServiceValue {
  /** What `host` is: an address, a name, or 0 for none. */
  readonly kind: typeof TYPE.A | typeof TYPE.AAAA | typeof TYPE.CNAME | 0
  /** The host as rdata. */
  readonly host: string
  readonly text: string
  readonly mail: boolean
  /** -1: not an SRV record. */
  readonly port: number
  readonly priority: number
  /** 0: not given. */
  readonly weight: number
  /** 0: not given. */
  readonly ttl: number
  /** Labels of the key that the target of its records does without. */
  readonly targetStrip: number
  /** Labels of the key that only tell the records of one name apart. */
  readonly keyLabels: number
  readonly group: string
}

/** A value in the tree. */
export interface Service extends ServiceValue {
  readonly key: string
  /** Of the name it stands at. */
  readonly path: string
  /** The name that SRV, MX and NS records point at: the host, or for an address the name of the key. */
  readonly target: string
  /** Of its records, given or not. */
  readonly ttl: number
  /** Unix seconds at which its lease ends; Infinity without one. */
  readonly expiresAt: number
}

const DEFAULT_PRIORITY = 10
const LONGEST_TEXT = 64_000

const WHOLE_NUMBERS = {
  port: [-1, 0xffff],
  priority: [0, 0xffff],
  weight: [0, 0xffff],
  ttl: [0, 0x7fff_ffff],
  targetstrip: [0, 127],
} as const

/** The service, or `<what is>; <what is wanted>` when it is none. */
export function parseService(value: Uint8Array): ServiceValue | string {
  const fields = {
    ...{ host: '', text: '', group: '', record: '', mail: false },
    ...{ port: 0, priority: 0, weight: 0, ttl: 0, targetstrip: 0 },
  }
  let json: unknown
  try {
    json = JSON.parse(Buffer.from(value).toString())
  } catch (thrown) {
    return `its value is not JSON (${oneLine(messageOf(thrown))}); expected an object such as {"host":"192.0.2.1"}`
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    return `its value is ${shown(json)}; expected an object such as {"host":"192.0.2.1"}`
  for (const key of Object.keys(json)) {
    const given = (json as Record<string, unknown>)[key]
    const name = key.toLowerCase()
    if (given === null || !Object.hasOwn(fields, name)) continue
    const problem = fieldProblem(name, given)
    if (problem !== undefined) return `"${key}" is ${shown(given)}; expected ${problem}`
    ;(fields as Record<string, unknown>)[name] = given
  }
  const text = utf8(fields.text)
  if (text.length > LONGEST_TEXT) return `"text" has ${text.length} bytes; expected at most ${LONGEST_TEXT}`
  if (fields.host === '' && text === '') return 'it has neither "host" nor "text"; expected one of them'
  const host = parseHost(fields.host)
  if (typeof host === 'string')
    return `"host" is ${shown(fields.host)}, neither an address nor a name; expected ${host}`
  const { mail, port, weight, ttl, targetstrip: targetStrip } = fields
  const priority = fields.priority === 0 ? DEFAULT_PRIORITY : fields.priority
  // `record` is ours: CoreDNS takes targetstrip off written targets too, so entries that must suit both go without it.
  const keyLabels = fields.record === '' ? targetStrip : Math.max(1, targetStrip)
  return { ...host, text, mail, port, priority, weight, ttl, targetStrip, keyLabels, group: utf8(fields.group) }
}

function fieldProblem(name: string, given: unknown): string | undefined {
  if (name === 'mail') return typeof given === 'boolean' ? undefined : 'true or false'
  if (!(name in WHOLE_NUMBERS)) return typeof given === 'string' ? undefined : 'a string'
  const [least, most] = WHOLE_NUMBERS[name as keyof typeof WHOLE_NUMBERS]
  const fits = typeof given === 'number' && Number.isInteger(given) && given >= least && given <= most
  return fits ? undefined : `a whole number from ${least} to ${most}`
}

/** Or what was expected. */
function parseHost(text: string): Pick<ServiceValue, 'kind' | 'host'> | string {
  if (text === '') return { kind: 0, host: '' }
  const bytes = Buffer.from(text)
  const rdata = Buffer.allocUnsafe(bytes.length + 16)
  if (readIpv4(bytes, 0, bytes.length, rdata, 0)) return { kind: TYPE.A, host: latin1(rdata.subarray(0, 4)) }
  if (readIpv6(bytes, 0, bytes.length, rdata, 0)) {
    const address = latin1(rdata.subarray(0, 16))
    return address.startsWith(MAPPED)
      ? { kind: TYPE.A, host: address.slice(MAPPED.length) }
      : { kind: TYPE.AAAA, host: address }
  }
  const length = encodeNameText(bytes, 0, bytes.length, ROOT_ORIGIN, rdata, 0)
  return length < 0 ? nameProblem(length) : { kind: TYPE.CNAME, host: latin1(rdata.subarray(0, length)) }
}

/** ::ffff:0:0/96, IPv4 in the form of IPv6. */
const MAPPED = '\0\0\0\0\0\0\0\0\0\0\xff\xff'
const ROOT_ORIGIN = Uint8Array.of(0)

function utf8(text: string): string {
  return text === '' ? '' : Buffer.from(text, 'utf8').toString('latin1')
}

function shown(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

function oneLine(message: string): string {
  return message.replaceAll(/[\x00-\x1f\x7f]+/gu, ' ')
}
