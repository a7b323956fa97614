// Which keys change when records of a name are replaced or removed. Each record gets a key of its own below the name,
// as ExternalDNS writes them: an entry at the name's own key would be hidden by any other below it, so such a one is
// moved. Only in reverse zones it stays, as that is where CoreDNS looks for PTR records. An entry may have a host and
// a text; the one that is not concerned is kept.

import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { equalNames, formatName } from '../dns/name.ts'
import { HoldfastError } from '../lib/errors.ts'
import { type Fields, isReverse, type RecordEntry, type RecordType, SERVICE_FIELDS } from './record-entry.ts'
import type { NameEntries, RecordChange, RecordStore } from './record-store.ts'
import type { RecordValue } from './record-value.ts'

const HOST_FIELDS: readonly string[] = ['host', 'port', 'priority', 'weight', 'mail', 'record']

/** One entry on its way from what it is to what it shall be. */
interface Slot {
  readonly key: Uint8Array
  readonly entry: RecordEntry | undefined
  fields: Fields | undefined
  /** One of the values asked for. */
  wanted: boolean
}

export function planSet(
  store: RecordStore,
  seen: NameEntries,
  type: RecordType,
  values: readonly RecordValue[],
): RecordChange[] {
  const { name } = seen
  refuseClash(seen, type, values.length)
  const slots: Slot[] = seen.entries
    .filter(({ problem }) => problem === undefined)
    .map((entry) => ({ key: entry.key, entry, fields: without(entry, type), wanted: false }))
  const places = new Set<string>()
  for (const value of values) {
    const planned = planValue(store, name, type, value)
    refuseTwice(planned, type, name, places)
    const slot = slots.find((each) => !each.wanted && each.entry !== undefined && isPlaceOf(planned, type, each.entry))
    if (slot?.entry === undefined) {
      slots.push({ key: planned.key, entry: undefined, fields: planned.fields, wanted: true })
      continue
    }
    const place = slot.entry.isOwn ? {} : pick(slot.entry.fields, ['targetstrip', 'record'])
    slot.fields = { ...foreign(slot.entry), ...slot.fields, ...planned.fields, ...place, ...value.fields }
    slot.wanted = true
  }
  return slots.flatMap((slot) => changesOf(store, name, slot))
}

/** Without a type everything goes, also what cannot be read. */
export function planRemove(seen: NameEntries, type: RecordType | undefined, value: string | undefined): RecordChange[] {
  return seen.entries.flatMap((entry): RecordChange[] => {
    const { key, lease, records } = entry
    if (type === undefined) return [{ key, before: entry, after: undefined, lease }]
    const concerned = records.some((record) => record.type === type && (value === undefined || isValue(record, value)))
    return concerned ? [{ key, before: entry, after: without(entry, type), lease }] : []
  })
}

/** The value as an entry of its own; refused when it would be read as something else. */
function planValue(
  store: RecordStore,
  name: Uint8Array,
  type: RecordType,
  { fields, label }: RecordValue,
): RecordEntry {
  const isExact = type === 'PTR' || type === 'NS'
  const labels = type === 'PTR' ? [] : type === 'NS' ? ['dns', 'ns', label ?? ''] : [labelFor(type, fields)]
  // CoreDNS would take a label off the target of these.
  const isTarget = (type === 'MX' || type === 'SRV') && isIP(String(fields.host)) === 0
  const place = isExact ? {} : isTarget ? { record: type } : { targetstrip: 1 }
  const entry = store.entry(store.keyOf(name, ...labels), { ...place, ...fields })
  const shown = String(fields.host ?? fields.text)
  const [record] = entry.records
  if (record.type !== type)
    throw new HoldfastError(
      'Usage',
      `Cannot set ${type} "${shown}" at "${formatName(name)}": with this name and these settings it is ${record.type} in SkyDNS; expected ${record.type} or other settings`,
    )
  if (entry.owner === undefined || !equalNames(entry.owner, name))
    throw new HoldfastError(
      'Usage',
      `Cannot set ${type} "${shown}" at "${formatName(name)}": its key would spell another name${fields.targetstrip === undefined ? '' : '; expected another --targetstrip'}`,
    )
  return entry
}

/** `places`: what the values before it are. */
function refuseTwice({ key, records }: RecordEntry, type: RecordType, name: Uint8Array, places: Set<string>): void {
  const place = type === 'NS' ? Buffer.from(key).toString('latin1') : records[0].identity
  if (places.has(place))
    throw new HoldfastError(
      'Usage',
      `Cannot set ${type} ${records[0].value} twice at "${formatName(name)}": expected once`,
    )
  places.add(place)
}

function isPlaceOf(planned: RecordEntry, type: RecordType, entry: RecordEntry): boolean {
  if (type === 'PTR') return entry.isOwn
  if (type === 'NS') return Buffer.from(entry.key).equals(planned.key)
  return entry.records.some((record) => record.type === type && record.identity === planned.records[0].identity)
}

function changesOf(store: RecordStore, name: Uint8Array, { key, entry, fields }: Slot): RecordChange[] {
  if (entry === undefined) return [{ key, before: undefined, after: fields, lease: 0n }]
  const { lease } = entry
  if (fields === undefined) return [{ key, before: entry, after: undefined, lease }]
  if (!entry.isOwn || isReverse(name))
    return isEqual(fields, entry.fields) ? [] : [{ key, before: entry, after: fields, lease }]
  const moved = store.keyOf(name, labelFor('', fields))
  return [
    { key, before: entry, after: undefined, lease },
    { key: moved, before: undefined, after: { targetstrip: 1, ...fields }, lease },
  ]
}

/** What is left of an entry that no longer is of this type; undefined when nothing is. */
function without({ fields, records }: RecordEntry, type: RecordType): Fields | undefined {
  if (!records.some((record) => record.type === type)) return fields
  if (records.length === 1) return undefined
  const gone = type === 'TXT' ? ['text'] : HOST_FIELDS
  const rest = Object.fromEntries(Object.entries(fields).filter(([name]) => !gone.includes(name)))
  // It said whose the last label is.
  return type === 'TXT' || fields.record === undefined ? rest : { ...rest, targetstrip: 1 }
}

/** Fields that belong to others, such as the owner that ExternalDNS writes down. */
function foreign({ fields }: RecordEntry): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !SERVICE_FIELDS.includes(name)))
}

function pick(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)))
}

/** The same for the same record, so that whoever sets it twice, or with another, sets one. */
function labelFor(type: string, { host, text, port }: Fields): string {
  return createHash('sha256')
    .update(JSON.stringify([type, host, text, port]))
    .digest('hex')
    .slice(0, 8)
}

function isValue({ value, identity }: { value: string; identity: string }, given: string): boolean {
  const plain = (text: string) => text.trim().toLowerCase().replace(/\.$/u, '')
  const host = value.split(' ').at(-1) ?? value
  return [value, identity, host].some((text) => plain(text) === plain(given)) || identity === given
}

function isEqual(a: Fields, b: Fields): boolean {
  const text = (fields: Fields) => JSON.stringify(Object.entries(fields).toSorted(([x], [y]) => (x < y ? -1 : 1)))
  return text(a) === text(b)
}

/** An alias stands alone, and there is one of it. Texts may stand beside it, as ExternalDNS writes its notes there. */
function refuseClash({ name, entries }: NameEntries, type: RecordType, count: number): void {
  if ((type === 'CNAME' || type === 'PTR') && count > 1)
    throw new HoldfastError('Usage', `Cannot set ${count} ${type} records at "${formatName(name)}": expected one`)
  const others = entries
    .flatMap(({ records }) => records)
    .filter((record) => record.type !== type && record.type !== 'TXT')
  const clash =
    type === 'CNAME' ? others[0] : type === 'TXT' ? undefined : others.find((record) => record.type === 'CNAME')
  if (clash !== undefined)
    throw new HoldfastError(
      'RecordClash',
      `Cannot set ${type} at "${formatName(name)}": there is ${clash.type} ${clash.value}, and a CNAME stands alone; it has to be removed first`,
    )
}
