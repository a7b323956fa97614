// BIND. `-n` sets its network threads; zones are primaries from text files.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Peer } from './peer.ts'
import { run } from '../processes.ts'
import { zoneFile } from '../zones.ts'
import { installed } from './installed.ts'

export const bind: Peer = {
  title: 'BIND',
  settings: '`named -f -4 -n 1`; `recursion no`, `minimal-responses yes`, no `rate-limit`, `notify no`',
  locate: () => installed('named', 'bind9'),
  async version(program) {
    const { stdout } = await run(program, ['-v'])
    return /BIND (\d[\d.]*)/.exec(stdout)?.[1] ?? 'unknown'
  },
  async prepare(program, { zones, directory, port, workers }) {
    const config = `options {
  directory "${directory}";
  pid-file "${join(directory, 'named.pid')}";
  session-keyfile "${join(directory, 'session.key')}";
  listen-on port ${port} { 127.0.0.1; };
  listen-on-v6 { none; };
  recursion no;
  minimal-responses yes;
  dnssec-validation no;
  notify no;
  empty-zones-enable no;
};
controls { };
logging {
  channel problems { stderr; severity error; };
  category default { problems; };
};
`
    const zone = (name: string) => `zone "${name}" { type primary; file "${zoneFile(zones.directory, name)}"; };\n`
    const file = join(directory, 'named.conf')
    await writeFile(file, config + zones.names.map(zone).join(''))
    return { file: program, args: ['-f', '-4', '-n', String(workers), '-c', file] }
  },
}
