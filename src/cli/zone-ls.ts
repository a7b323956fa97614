// `holdfast zone ls`: the zones stored in etcd, each with what the server would say of it.

import { formatName, lowerName } from '../dns/name.ts'
import { formatProblem, shorten } from '../dns/zonefile/problem.ts'
import { loadZoneText } from '../names/load-zone.ts'
import { countRecords } from '../zone/count-records.ts'
import { command } from './command.ts'
import { EXIT } from './exit-code.ts'
import { formatTable } from './table.ts'
import { type StoredZone, withZoneStore, ZONE_FLAGS, zoneJson } from './zone-store.ts'

export const zoneLsCommand = command({
  name: 'zone ls',
  summary: 'List the zones in etcd and whether they are valid',
  usage: '[--json]',
  options: { json: { summary: 'print one JSON object for each zone' }, ...ZONE_FLAGS },
  async run({ options }, io) {
    const rows: Row[] = []
    await withZoneStore(options, io, async (store) => {
      const firstKeys = new Map<string, string>()
      for await (const zone of store.list()) rows.push(rowOf(zone, firstKeys))
    })
    if (options.json) for (const row of rows) io.stdout.write(`${JSON.stringify(row)}\n`)
    else {
      const heading = ['ZONE', 'SERIAL', 'RECORDS', 'BYTES', 'REVISION', 'STATE']
      const cells = rows.map(({ zone, key, serial, records, bytes, revision, error }) => [
        zone ?? shorten(key),
        serial === null ? '-' : String(serial),
        records === null ? '-' : String(records),
        String(bytes),
        String(revision),
        error === null ? 'ok' : `error: ${error}`,
      ])
      io.stdout.write(formatTable(heading, cells, ['SERIAL', 'RECORDS', 'BYTES', 'REVISION']))
    }
    return EXIT.done
  },
})

interface Row {
  readonly zone: string | null
  readonly key: string
  readonly revision: number
  readonly bytes: number
  /** Null when the zone is not good. */
  readonly serial: number | null
  readonly records: number | null
  readonly error: string | null
}

/** `firstKeys`: which key each zone was first seen under. */
function rowOf(stored: StoredZone, firstKeys: Map<string, string>): Row {
  const common = { ...zoneJson(stored), bytes: stored.text.length }
  const refused = (error: string) => ({ ...common, serial: null, records: null, error })
  if (stored.origin === undefined) return refused('the key is not a domain name')
  const name = formatName(lowerName(stored.origin))
  const first = firstKeys.get(name)
  if (first !== undefined) return refused(`the key "${first}" names the same zone`)
  firstKeys.set(name, stored.name)
  const { zone, problems } = loadZoneText(stored.text, '', stored.origin, { requireNs: true })
  const problem = problems.find(({ severity }) => severity === 'error')
  // The place is line:column; there is no file to name.
  if (problem !== undefined) return refused(formatProblem(problem).replace(/^:\s*/u, ''))
  return { ...common, serial: zone.serial, records: countRecords(zone), error: null }
}
