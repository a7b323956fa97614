// `holdfast zone rm`: removes zones from etcd, all or none, and only as they were looked at.

import { HoldfastError } from '../lib/errors.ts'
import { confirm } from './ask.ts'
import { command } from './command.ts'
import { EXIT } from './exit-code.ts'
import { transact } from './etcd-transact.ts'
import { printable } from './table.ts'
import { withZoneStore, ZONE_FLAGS, zoneJson } from './zone-store.ts'

export const zoneRmCommand = command({
  name: 'zone rm',
  summary: 'Remove zones from etcd',
  usage: 'ORIGIN... [--yes]',
  positionals: ['ORIGIN...'],
  options: {
    yes: { summary: 'do not ask' },
    'dry-run': { summary: 'show what would be removed and remove nothing' },
    json: { summary: 'print one JSON object for each zone' },
    ...ZONE_FLAGS,
  },
  async run({ positionals, options }, io) {
    return withZoneStore(options, io, async (store) => {
      const zones = await store.require(positionals)
      const dryRun = options['dry-run']
      const names = listed(zones.map(({ name }) => printable(name)))
      if (!dryRun && !options.yes && !(await confirm(io, `Remove ${names}?`))) return EXIT.failed
      if (!dryRun) {
        const compare = zones.map(({ key, revision }) => ({ key, target: 'mod', revision }) as const)
        const operations = zones.map(({ key }) => ({ delete: { key } }))
        const { succeeded } = await transact(store.client, `remove ${names}`, compare, operations)
        if (!succeeded)
          throw new HoldfastError(
            'Conflict',
            `Cannot remove ${names}: changed by somebody else meanwhile; nothing was removed`,
          )
      }
      for (const zone of zones) {
        if (options.json) io.stdout.write(`${JSON.stringify({ ...zoneJson(zone), removed: !dryRun })}\n`)
        else
          io.stdout.write(
            `${printable(zone.name)}: ${dryRun ? 'would be removed' : 'removed'}, it had revision ${zone.revision}\n`,
          )
      }
      return EXIT.done
    })
  },
})

/** As many as can be read. */
const LISTED = 5

function listed(names: readonly string[]): string {
  if (names.length <= LISTED) return names.join(', ')
  return `${names.length} zones (${names.slice(0, LISTED).join(', ')}, …)`
}
