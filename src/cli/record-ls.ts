// `holdfast record ls`: the SkyDNS records in etcd, and what is wrong with those that cannot be served.

import { compareNames, formatName, ROOT } from '../dns/name.ts'
import { shorten } from '../dns/zonefile/problem.ts'
import { command } from './command.ts'
import { EXIT } from './exit-code.ts'
import type { RecordEntry } from './record-entry.ts'
import { RECORD_FLAGS, withRecordStore } from './record-store.ts'
import { formatTable } from './table.ts'
import { parseOrigin } from './zone-store.ts'

export const recordLsCommand = command({
  name: 'record ls',
  summary: 'List the SkyDNS records in etcd',
  usage: '[NAME] [--json]',
  positionals: ['[NAME]'],
  options: { json: { summary: 'print one JSON object for each record' }, ...RECORD_FLAGS },
  async run({ positionals: [name], options }, io) {
    const top = name === undefined ? ROOT : parseOrigin(name)
    const entries: RecordEntry[] = []
    await withRecordStore(options, io, async (store) => {
      for await (const entry of store.below(top)) entries.push(entry)
    })
    entries.sort((a, b) => compareNames(a.owner ?? ROOT, b.owner ?? ROOT))
    const rows = entries.flatMap(rowsOf).sort((a, b) => (a.name === b.name ? compareTexts(a, b) : 0))
    if (options.json) for (const row of rows) io.stdout.write(`${JSON.stringify(row)}\n`)
    else {
      const cells = rows.map(({ name: owner, key, ttl, type, value, error }) => [
        owner ?? shorten(key),
        String(ttl ?? '-'),
        type ?? '-',
        error === null ? (value ?? '') : `error: ${error}`,
      ])
      io.stdout.write(formatTable(['NAME', 'TTL', 'TYPE', 'VALUE'], cells, ['TTL']))
    }
    return EXIT.done
  },
})

interface Row {
  readonly name: string | null
  readonly type: string | null
  readonly value: string | null
  readonly ttl: number | null
  readonly key: string
  readonly revision: number
  /** Id of the lease, in hexadecimal as etcdctl prints it. */
  readonly lease: string | null
  readonly error: string | null
}

/** By type, then by value. */
function compareTexts(a: Row, b: Row): number {
  const text = ({ type, value }: Row) => `${type} ${value}`
  return text(a) < text(b) ? -1 : 1
}

function rowsOf({ key, owner, revision, lease, records, problem }: RecordEntry): Row[] {
  const common = {
    name: owner === undefined ? null : formatName(owner),
    key: Buffer.from(key).toString(),
    revision: Number(revision),
    lease: lease === 0n ? null : lease.toString(16),
  }
  if (problem !== undefined) return [{ ...common, type: null, value: null, ttl: null, error: problem }]
  return records.map(({ type, value, ttl }) => ({ ...common, type, value, ttl: ttl ?? null, error: null }))
}
