// Knot DNS. Zones are read from their files only: no journal, no write-back.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Peer } from './peer.ts'
import { run } from '../processes.ts'
import { installed } from './installed.ts'

export const knot: Peer = {
  title: 'Knot',
  settings:
    '`knotd`; `udp-workers: 1`, `tcp-workers: 1`, `background-workers: 1`, no `mod-rrl`, `journal-content: none`',
  locate: () => installed('knotd', 'knot'),
  async version(program) {
    const { stdout } = await run(program, ['--version'])
    return /version (\S+)/.exec(stdout)?.[1] ?? 'unknown'
  },
  async prepare(program, { zones, directory, port, workers }) {
    const config = `server:
  listen: 127.0.0.1@${port}
  rundir: "${directory}"
  udp-workers: ${workers}
  tcp-workers: ${workers}
  background-workers: ${workers}
log:
  - target: stderr
    any: error
database:
  storage: "${directory}"
template:
  - id: default
    storage: "${zones.directory}"
    file: "db.%s"
    zonefile-sync: -1
    journal-content: none
zone:
${zones.names.map((name) => `  - domain: ${name}\n`).join('')}`
    const file = join(directory, 'knot.conf')
    await writeFile(file, config)
    return { file: program, args: ['-c', file] }
  },
}
