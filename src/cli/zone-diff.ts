// `holdfast zone diff`: how a file differs from what is stored, record by record.

import { command } from './command.ts'
import { EXIT } from './exit-code.ts'
import { diffJson, diffZones, printDiff } from './zone-changes.ts'
import { checkText, printProblems, readInput } from './zone-input.ts'
import { parseOrigin, withZoneStore, ZONE_FLAGS } from './zone-store.ts'

export const zoneDiffCommand = command({
  name: 'zone diff',
  summary: 'Compare a zone in etcd with a file; exits 4 if they differ',
  usage: 'ORIGIN FILE|- [--json]',
  positionals: ['ORIGIN', 'FILE'],
  options: { json: { summary: 'print one JSON object' }, ...ZONE_FLAGS },
  async run({ positionals: [name, path], options }, io) {
    const origin = parseOrigin(name)
    const input = await readInput(path, origin, io)
    const [stored] = await withZoneStore(options, io, (store) => store.find([name]))
    if (!input.accepted) {
      printProblems(input, io)
      return EXIT.invalidInput
    }
    const before = stored === undefined ? undefined : checkText(`stored ${stored.name}`, origin, stored.text)
    if (before?.accepted === false) printProblems(before, io)
    const diff = diffZones(before?.zone, input.zone)
    if (options.json) io.stdout.write(`${JSON.stringify(diffJson(diff))}\n`)
    else printDiff(diff, io)
    return diff.length === 0 ? EXIT.done : EXIT.changes
  },
})
