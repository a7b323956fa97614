// `holdfast record rm`: removes records of a name: all, those of a type, or one.

import { formatName } from '../dns/name.ts'
import { HoldfastError } from '../lib/errors.ts'
import { confirm } from './ask.ts'
import { command } from './command.ts'
import { EXIT } from './exit-code.ts'
import { printRecordChanges } from './record-changes.ts'
import { planRemove } from './record-plan.ts'
import { readType } from './record-set.ts'
import { RECORD_FLAGS, withRecordStore } from './record-store.ts'
import { parseOrigin } from './zone-store.ts'

export const recordRmCommand = command({
  name: 'record rm',
  summary: 'Remove SkyDNS records from etcd',
  usage: 'NAME [TYPE [VALUE]] [--yes]',
  positionals: ['NAME', '[TYPE]', '[VALUE]'],
  options: {
    yes: { summary: 'do not ask' },
    'dry-run': { summary: 'show what would be removed and remove nothing' },
    json: { summary: 'print one JSON object' },
    ...RECORD_FLAGS,
  },
  async run({ positionals: [nameText, typeText, value], options }, io) {
    const name = parseOrigin(nameText)
    const type = typeText === undefined ? undefined : readType(typeText)
    return withRecordStore(options, io, async (store) => {
      const seen = await store.of(name)
      const changes = planRemove(seen, type, value)
      const what = [formatName(name), type ?? [], value ?? []].flat().join(' ')
      if (changes.length === 0)
        throw new HoldfastError(
          'NoSuchRecord',
          `Cannot find "${what}": there is no such record; "holdfast record ls" shows those there are`,
        )
      const dryRun = options['dry-run']
      if (!dryRun && !options.yes && !(await confirm(io, `Remove ${what} (${changes.length} keys)?`)))
        return EXIT.failed
      const revision = dryRun ? undefined : await store.apply(seen, changes)
      printRecordChanges(store, { name, changes, revision, json: options.json, dryRun }, io)
      return EXIT.done
    })
  },
})
