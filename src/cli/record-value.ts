// What `record set` is given, as the fields of SkyDNS entries; checked before anything is stored.

import { isIP, isIPv4, isIPv6 } from 'node:net'
import { formatName, NameError, parseName, ROOT } from '../dns/name.ts'
import { HoldfastError } from '../lib/errors.ts'
import { parseService } from '../names/skydns/parse-service.ts'
import type { Fields, RecordType } from './record-entry.ts'

export interface RecordValue {
  readonly fields: Fields
  /** Of its key, where it is not ours to choose. */
  readonly label: string | undefined
}

/** `settings`: fields given by flags. */
export function readValue(type: RecordType, value: string, settings: Fields): RecordValue {
  const { label, ...given } = READERS[type](value)
  const fields: Fields = { ...given, ...settings, ...(type === 'MX' && { mail: true }) }
  const zero = ['ttl', 'priority', 'weight'].find((name) => fields[name] === 0)
  if (zero !== undefined) throw refused(type, value, `${zero} 0 means "not given" in SkyDNS; expected 1 or more`)
  if (type === 'SRV' && !(Number(fields.port) > 0))
    throw refused(type, value, 'it has no port; expected "PRIORITY WEIGHT PORT TARGET" or --port')
  // A name with a text is nothing but a text to CoreDNS.
  if (settings.text !== undefined && isIP(String(given.host)) === 0)
    throw refused(type, value, '--text goes with addresses; expected a TXT record of its own')
  const problem = parseService(Buffer.from(JSON.stringify(fields)))
  if (typeof problem === 'string') throw refused(type, value, problem)
  return { fields, label }
}

const READERS: Readonly<Record<RecordType, (value: string) => Fields & { label?: string }>> = {
  A(value) {
    if (isIPv4(value)) return { host: value }
    throw refused('A', value, 'not an IPv4 address; expected one such as 192.0.2.1')
  },
  AAAA(value) {
    if (isIPv6(value)) return { host: value }
    throw refused('AAAA', value, 'not an IPv6 address; expected one such as 2001:db8::1')
  },
  CNAME: (value) => ({ host: readHost('CNAME', value) }),
  PTR: (value) => ({ host: readHost('PTR', value) }),
  TXT(value) {
    if (value !== '') return { text: value }
    throw refused('TXT', value, 'it is empty; expected a text')
  },
  MX(value) {
    const [, priority, host] = /^(?:(\d+)\s+)?(\S+)$/u.exec(value.trim()) ?? []
    if (host === undefined) throw refused('MX', value, 'it has too many words; expected "PRIORITY HOST" or HOST')
    return { host: readTarget('MX', host), ...(priority !== undefined && { priority: Number(priority) }) }
  },
  SRV(value) {
    const [, priority, weight, port, host] = /^(?:(\d+)\s+(\d+)\s+(\d+)\s+)?(\S+)$/u.exec(value.trim()) ?? []
    if (host === undefined)
      throw refused('SRV', value, 'its words do not fit; expected "PRIORITY WEIGHT PORT TARGET" or TARGET')
    const numbers = { priority: Number(priority), weight: Number(weight), port: Number(port) }
    return { host: readTarget('SRV', host), ...(priority !== undefined && numbers) }
  },
  NS(value) {
    const [, label, host = ''] = /^([a-z0-9-]{1,63})=(.+)$/iu.exec(value) ?? []
    if (isIP(host) !== 0) return { host, label: label.toLowerCase() }
    const wanted = 'SkyDNS holds the address of a server named LABEL.ns.dns.ZONE; expected LABEL=ADDRESS'
    throw refused('NS', value, wanted)
  },
}

/** SRV and MX may have an address: then the target is the name itself. */
function readTarget(type: RecordType, text: string): string {
  return isIP(text) !== 0 ? text : readHost(type, text)
}

/** Without the final dot, as others write hosts. */
function readHost(type: RecordType, text: string): string {
  if (isIP(text) !== 0) throw refused(type, text, 'it is an address; expected a name')
  if (/(?:^|\.)\d+\.?$/u.test(text)) throw refused(type, text, 'it ends in a number as addresses do; expected a name')
  try {
    return formatName(parseName(text, ROOT)).replace(/(?<=[^.])\.$/u, '')
  } catch (error) {
    if (error instanceof NameError) throw refused(type, text, error.message.replace(/^.*?": /u, ''))
    throw error
  }
}

function refused(type: RecordType, value: string, problem: string): HoldfastError {
  return new HoldfastError('Usage', `Cannot set ${type} "${value}": ${problem}`)
}
