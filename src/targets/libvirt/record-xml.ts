// The record of a machine as the metadata of its domain: JSON in one element of a namespace of ours, which libvirt keeps
// with the domain and does not look into. Domains without that element belong to others and are never touched.

import { HoldfastError, messageOf } from '../../lib/errors.ts'
import type { Domain } from './hypervisor.ts'
import type { MachineRecord } from './machine-record.ts'
import type { PlacedDisk } from './placement.ts'
import { xmlText } from './xml-text.ts'

/** Its last part is the version of the format. */
export const RECORD_NAMESPACE = 'urn:holdfast:machine:1'
export const RECORD_PREFIX = 'holdfast'
export const RECORD_ELEMENT = 'machine'

export function formatRecord(record: MachineRecord): string {
  // The two characters that JSON allows and XML does not.
  return JSON.stringify(record).replaceAll(/[\ufffe\uffff]/gu, (character) =>
    character === '\ufffe' ? String.raw`\ufffe` : String.raw`\uffff`,
  )
}

/** `<holdfast:machine xmlns:holdfast="…">JSON</holdfast:machine>` */
export function recordElement(record: MachineRecord): string {
  const name = `${RECORD_PREFIX}:${RECORD_ELEMENT}`
  return `<${name} xmlns:${RECORD_PREFIX}="${RECORD_NAMESPACE}">${xmlText(formatRecord(record))}</${name}>`
}

type Described = Pick<Domain, 'name' | 'metadata'>

/** The record of a domain of this stack; undefined for domains of others, whatever their metadata say. */
export function readRecord(domain: Described, stack: string): MachineRecord | undefined {
  const { name } = domain
  const record = tryReadRecord(domain, {
    of: `the metadata of domain "${name}"`,
    hint: `if the machine may go, remove it with virsh ("destroy ${name}", "undefine ${name}"); "holdfast up" makes it anew`,
  })
  if (record instanceof HoldfastError) {
    if (domain.name.startsWith(`${stack}-`)) throw record
    return undefined
  }
  return record?.stack === stack ? record : undefined
}

/** The record of a domain of any stack; undefined where there is none that could be read. */
export function readAnyRecord(domain: Described): MachineRecord | undefined {
  const record = tryReadRecord(domain, { of: '', hint: '' })
  return record instanceof HoldfastError ? undefined : record
}

export interface RecordSource {
  /** For messages: `the metadata of domain "lab-etcd-1"`. */
  readonly of: string
  /** What to do when it is damaged. */
  readonly hint: string
}

export function tryReadRecord(
  { metadata }: Pick<Described, 'metadata'>,
  { of, hint }: RecordSource,
): MachineRecord | HoldfastError | undefined {
  if (metadata === undefined) return undefined
  const refusal = (what: string) =>
    new HoldfastError('StateInvalid', `Cannot read ${of}: ${what}; it was damaged`, { hint })
  try {
    const value: unknown = JSON.parse(metadata)
    return isMachineRecord(value) ? value : refusal('not what Holdfast writes there')
  } catch (thrown) {
    return refusal(messageOf(thrown))
  }
}

const SERVICE_NAME = /^[a-z0-9-]+$/u
const KINDS: readonly unknown[] = ['etcd', 'dns', 'postgres', 'haproxy']

function isMachineRecord(value: unknown): value is MachineRecord {
  if (!isObject(value)) return false
  const { stack, machine, kind, address, instanceId, seedDigest, disks, hardware } = value
  const { stackId, appliedDigest, started, pending, leftovers } = value
  return (
    [stack, machine, address, instanceId, seedDigest].every((text) => typeof text === 'string') &&
    KINDS.includes(kind) &&
    isObject(disks) &&
    isDisk(disks.root) &&
    isDisk(disks.seed) &&
    [disks.data, disks.program].every((disk) => disk === undefined || isDisk(disk)) &&
    isObject(hardware) &&
    Object.values(hardware).every((text) => typeof text === 'string') &&
    [stackId, appliedDigest].every((text) => text === undefined || typeof text === 'string') &&
    (started === undefined || (Array.isArray(started) && started.every(isService))) &&
    (pending === undefined || isObject(pending)) &&
    (leftovers === undefined || (Array.isArray(leftovers) && leftovers.every((path) => typeof path === 'string')))
  )
}

function isService(value: unknown): boolean {
  return (
    isObject(value) && typeof value.name === 'string' && SERVICE_NAME.test(value.name) && Array.isArray(value.command)
  )
}

function isDisk(value: unknown): value is PlacedDisk {
  return (
    isObject(value) &&
    typeof value.path === 'string' &&
    typeof value.format === 'string' &&
    typeof value.isOurs === 'boolean'
  )
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
