// NSD. It keeps no zone database (the default since 4.2) and is compiled by Debian with rate limiting: switched off.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Peer } from './peer.ts'
import { run } from '../processes.ts'
import { zoneFile } from '../zones.ts'
import { installed } from './installed.ts'

export const nsd: Peer = {
  title: 'NSD',
  settings:
    '`nsd -d`; `server-count: 1`, `minimal-responses: yes`, `rrl-ratelimit: 0`, `reuseport: yes`, `database: ""`',
  locate: () => installed('nsd', 'nsd'),
  async version(program) {
    const { stdout, stderr } = await run(program, ['-v'])
    return /version (\S+)/i.exec(stdout + stderr)?.[1] ?? 'unknown'
  },
  async prepare(program, { zones, directory, port, workers }) {
    const at = (name: string) => join(directory, name)
    const server = `server:
  ip-address: 127.0.0.1@${port}
  server-count: ${workers}
  reuseport: yes
  minimal-responses: yes
  rrl-ratelimit: 0
  rrl-whitelist-ratelimit: 0
  username: ""
  database: ""
  zonesdir: "${directory}"
  pidfile: "${at('nsd.pid')}"
  xfrdfile: "${at('xfrd.state')}"
  zonelistfile: "${at('zone.list')}"
  xfrdir: "${directory}"
  verbosity: 0
remote-control:
  control-enable: no
`
    const zone = (name: string) => `zone:\n  name: "${name}"\n  zonefile: "${zoneFile(zones.directory, name)}"\n`
    await writeFile(at('nsd.conf'), server + zones.names.map(zone).join(''))
    return { file: program, args: ['-d', '-c', at('nsd.conf')] }
  },
}
