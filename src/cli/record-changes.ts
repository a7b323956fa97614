// What a command changed, or would change, in the records of a name.

import { formatName } from '../dns/name.ts'
import type { Io } from './command.ts'
import { diffLines } from './diff-lines.ts'
import type { RecordEntry } from './record-entry.ts'
import type { RecordChange, RecordStore } from './record-store.ts'
import { printable } from './table.ts'

interface Changed {
  readonly name: Uint8Array
  readonly changes: readonly RecordChange[]
  /** Undefined: nothing was stored. */
  readonly revision: bigint | undefined
  readonly dryRun: boolean
  readonly json: boolean
}

export function printRecordChanges(store: RecordStore, changed: Changed, io: Io): void {
  const { name, changes, revision, dryRun, json } = changed
  const before = changes.flatMap((change) => (change.before === undefined ? [] : linesOf(name, change.before)))
  const after = changes.flatMap(({ key, after: fields }) =>
    fields === undefined ? [] : linesOf(name, store.entry(key, fields)),
  )
  // What only moved to another key is on both sides.
  const removed = before.filter((line) => !after.includes(line))
  const added = after.filter((line) => !before.includes(line))
  if (json) {
    const keys = changes.map(({ key, before: entry, after: fields }) => ({
      key: Buffer.from(key).toString(),
      before: entry === undefined ? null : (entry.problem ?? entry.fields),
      after: fields ?? null,
    }))
    const stored = revision !== undefined
    const number = revision === undefined ? null : Number(revision)
    io.stdout.write(`${JSON.stringify({ name: formatName(name), stored, revision: number, added, removed, keys })}\n`)
    return
  }
  const { gone, come } = diffLines(io, io.stdout)
  for (const line of removed) gone(line)
  for (const line of added) come(line)
  const what = changes.length === 0 ? 'unchanged' : `${added.length} added, ${removed.length} removed`
  const where =
    revision !== undefined ? `, revision ${revision}` : dryRun && changes.length > 0 ? ', not stored (--dry-run)' : ''
  io.stdout.write(`${formatName(name)} ${what}${where}\n`)
}

/** `name TTL TYPE value`, as far as they are known. */
function linesOf(name: Uint8Array, { records, problem, key }: RecordEntry): string[] {
  if (problem !== undefined) return [printable(`${Buffer.from(key).toString()}: ${problem}`)]
  return records.map(({ type, value, ttl }) => printable([formatName(name), ttl ?? [], type, value].flat().join(' ')))
}
