// What a publisher is about to change, for people as a table, for programs as JSON.

import type { Changes, Endpoint } from '../names/endpoints/endpoint.ts'
import { LABEL } from '../names/endpoints/endpoint.ts'
import { formatTable } from './table.ts'

interface Row {
  readonly action: 'create' | 'update' | 'delete'
  readonly name: string
  readonly type: string
  readonly before: readonly string[]
  readonly after: readonly string[]
  readonly ttl: number
  readonly resource: string
}

const HEADING = ['ACTION', 'NAME', 'TYPE', 'BEFORE', 'AFTER', 'TTL', 'OBJECT'] as const

/** Of several plans, one. */
export function together(plans: readonly Changes[]): Changes {
  return {
    create: plans.flatMap(({ create }) => create),
    updateOld: plans.flatMap(({ updateOld }) => updateOld),
    updateNew: plans.flatMap(({ updateNew }) => updateNew),
    delete: plans.flatMap(({ delete: gone }) => gone),
  }
}

export function changesText(changes: Changes): string {
  const rows = rowsOf(changes).map(({ action, name, type, before, after, ttl, resource }) => [
    ...[action, name, type, before.join(' ') || '-', after.join(' ') || '-'],
    ...[ttl === 0 ? '-' : String(ttl), resource || '-'],
  ])
  return rows.length === 0 ? 'Nothing to change\n' : formatTable(HEADING, rows, ['TTL'])
}

/** One line. */
export function changesJson(changes: Changes): string {
  return `${JSON.stringify({ changes: rowsOf(changes) })}\n`
}

/** What a single dry run found, after Kubernetes and etcd were read. */
export interface Preview {
  readonly changes: Changes
  /** Names that objects ask for, and those of them that the domain filters let through. */
  readonly filtered: { readonly names: number; readonly matching: number }
  /** Some kinds of objects could not be listed, so the changes are not all. */
  readonly isPartial: boolean
}

export function previewText({ changes, filtered, isPartial }: Preview): string {
  const rows = rowsOf(changes).length
  const [table, count] = rows === 0 ? ['', 'Nothing to change'] : [changesText(changes), `${rows} to change`]
  const found = isPartial ? `Incomplete, as some objects could not be read: ${rows} to change so far` : count
  return `${table}${found}; ${matching(filtered)}\n`
}

/** One line. */
export function previewJson({ changes, filtered, isPartial }: Preview): string {
  return `${JSON.stringify({ changes: rowsOf(changes), ...filtered, complete: !isPartial })}\n`
}

function matching({ names, matching: count }: Preview['filtered']): string {
  return `${count} of ${names} ${names === 1 ? 'name matches' : 'names match'} the domain filters`
}

function rowsOf({ create, updateOld, updateNew, delete: gone }: Changes): Row[] {
  const rows = [
    ...create.map((after) => row('create', undefined, after)),
    ...updateNew.map((after, index) => row('update', updateOld[index], after)),
    ...gone.map((before) => row('delete', before, undefined)),
  ]
  return rows.toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)))
}

function row(action: Row['action'], before: Endpoint | undefined, after: Endpoint | undefined): Row {
  const { dnsName = '', recordType = '', recordTTL = 0, labels = {} } = after ?? before ?? {}
  return {
    ...{ action, name: dnsName, type: recordType, ttl: recordTTL },
    before: before?.targets ?? [],
    after: after?.targets ?? [],
    resource: labels[LABEL.resource] ?? '',
  }
}
