// SkyDNS entries in etcd as records of names. An entry's key spells its name from the right, often with a label more
// that only keeps the keys of several records of one name apart: `targetstrip` counts such labels. CoreDNS also takes
// them off the target of MX and SRV records, so for those `targetstrip` has to stay 0, and the field `record`, which
// others pass over, says that the last label is not part of the name.

import { isSubdomain, parseName } from '../dns/name.ts'
import { formatRdata } from '../dns/rdata/rdata.ts'
import { TYPE } from '../dns/types.ts'
import type { KeyValue } from '../etcd/client.ts'
import { bytesOf, latin1, nameOf, readPath, strip } from '../names/skydns/path.ts'
import { parseService, type ServiceValue } from '../names/skydns/parse-service.ts'

export const RECORD_TYPES = ['A', 'AAAA', 'CNAME', 'MX', 'NS', 'PTR', 'SRV', 'TXT'] as const
export type RecordType = (typeof RECORD_TYPES)[number]

/** The value of an entry. Known names are in lower case; the others are nothing to us and stay. */
export type Fields = Readonly<Record<string, unknown>>

export interface RecordEntry {
  readonly key: Uint8Array
  readonly revision: bigint
  readonly lease: bigint
  /** The name it belongs to, in wire form; undefined when the key spells none. */
  readonly owner: Uint8Array | undefined
  /** At the owner's own key, without a label more. */
  readonly isOwn: boolean
  /** Empty when the value is broken. */
  readonly fields: Fields
  /** What it says: at most one record from its host and one from its text. */
  readonly records: readonly EntryRecord[]
  /** Why it says nothing. */
  readonly problem: string | undefined
}

export interface EntryRecord {
  readonly type: RecordType
  /** As in a zone file. */
  readonly value: string
  /** Equal for what is the same record with other settings: the host, for SRV with the port, or the text. */
  readonly identity: string
  /** Undefined: the server's default. */
  readonly ttl: number | undefined
}

export const SERVICE_FIELDS: readonly string[] = [
  'host',
  'port',
  'priority',
  'weight',
  'text',
  'mail',
  'ttl',
  'targetstrip',
  'group',
  'record',
]

const NAME_SERVERS = '/dns/ns/'
const REVERSE: readonly Uint8Array[] = [parseName('in-addr.arpa.'), parseName('ip6.arpa.')]

/** `prefix` has no slash at its end. */
export function readEntry(
  { key, value, modRevision, lease }: Pick<KeyValue, 'key' | 'value' | 'modRevision' | 'lease'>,
  prefix: string,
): RecordEntry {
  const common = { key, revision: modRevision, lease }
  const broken = { ...common, isOwn: true, fields: {}, records: [] }
  const { path, problem } = readPath(latin1(key).slice(Buffer.byteLength(prefix) + 1))
  if (problem !== undefined) return { ...broken, owner: undefined, problem }
  const service = parseService(value)
  if (typeof service === 'string') return { ...broken, owner: nameOf(path), problem: service }
  const fields = readFields(value)
  // A slash in front and behind, so that whole labels are compared.
  const nameServers = `/${path}/`.lastIndexOf(NAME_SERVERS)
  const labels = fields.record === undefined ? service.targetStrip : Math.max(1, service.targetStrip)
  const ownerPath = nameServers < 0 ? strip(path, labels) : `/${path}`.slice(1, nameServers)
  const owner = nameOf(ownerPath)
  const server = nameServers < 0 ? undefined : path.slice(nameServers + NAME_SERVERS.length - 1)
  const records = recordsOf(service, owner, server)
  return { ...common, owner, isOwn: ownerPath === path, fields, records, problem: undefined }
}

export function isReverse(name: Uint8Array): boolean {
  return REVERSE.some((zone) => isSubdomain(name, zone))
}

function readFields(value: Uint8Array): Fields {
  const given = Object.entries(JSON.parse(new TextDecoder().decode(value)) as object)
  return Object.fromEntries(
    given.map(([name, field]): [string, unknown] => {
      const lower = name.toLowerCase()
      return [SERVICE_FIELDS.includes(lower) ? lower : name, field]
    }),
  )
}

/** `server`: the label of a name server's key. */
function recordsOf(service: ServiceValue, owner: Uint8Array, server: string | undefined): EntryRecord[] {
  const { kind, text, port } = service
  const ttl = service.ttl === 0 ? undefined : service.ttl
  const records: EntryRecord[] = []
  if (kind !== 0) {
    const host = formatRdata(kind, bytesOf(service.host))
    const type = server === undefined ? hostType(service, owner) : 'NS'
    const value = type === 'NS' && server !== '' ? `${server}=${host}` : valueOf(type, host, service)
    records.push({ type, value, identity: (type === 'SRV' ? `${host} ${port}` : host).toLowerCase(), ttl })
  }
  if (text !== '') records.push({ type: 'TXT', value: quote(text), identity: text, ttl })
  return records
}

/** What a host is stored for; CoreDNS answers with other types from it as well. */
function hostType({ kind, mail, port }: ServiceValue, owner: Uint8Array): RecordType {
  if (mail) return 'MX'
  if (kind !== TYPE.CNAME) return kind === TYPE.A ? 'A' : 'AAAA'
  if (isReverse(owner)) return 'PTR'
  return port > 0 ? 'SRV' : 'CNAME'
}

function valueOf(type: RecordType, host: string, { priority, weight, port }: ServiceValue): string {
  if (type === 'MX') return `${priority} ${host}`
  return type === 'SRV' ? `${priority} ${weight === 0 ? DEFAULT_WEIGHT : weight} ${port} ${host}` : host
}

const DEFAULT_WEIGHT = 100

/** A text with one character per byte. */
function quote(text: string): string {
  const escape = (character: string) => `\\${character.charCodeAt(0).toString().padStart(3, '0')}`
  return `"${text.replaceAll(/["\\]/gu, String.raw`\$&`).replaceAll(/[^ -~]/gu, escape)}"`
}
