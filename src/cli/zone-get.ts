// `holdfast zone get`: the text of a zone as it is stored.

import { command } from './command.ts'
import { EXIT } from './exit-code.ts'
import { withZoneStore, ZONE_FLAGS, zoneJson } from './zone-store.ts'

export const zoneGetCommand = command({
  name: 'zone get',
  summary: 'Print a zone from etcd',
  usage: 'ORIGIN [--json]',
  positionals: ['ORIGIN'],
  options: {
    json: { summary: 'print a JSON object; its revision is for "zone put --expect-revision"' },
    ...ZONE_FLAGS,
  },
  async run({ positionals, options }, io) {
    const [zone] = await withZoneStore(options, io, (store) => store.require(positionals))
    if (options.json) {
      const text = Buffer.from(zone.text).toString()
      io.stdout.write(`${JSON.stringify({ ...zoneJson(zone), text })}\n`)
    } else io.stdout.write(zone.text)
    return EXIT.done
  },
})
