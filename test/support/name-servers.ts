// The servers that conformance tests compare: ours and three that the field trusts. Their settings make them
// comparable (no rate limits, no rotation, no recursion) and leave everything that shapes an answer at its default,
// except BIND's minimal responses, which the others do by default.

import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nameServer } from './name-server.ts'

export const nsd = nameServer('nsd', async (directory, port, zones) => {
  const config = join(directory, 'nsd.conf')
  const lines = [
    'server:',
    `  ip-address: 127.0.0.1@${port}`,
    '  server-count: 1',
    '  username: ""',
    '  chroot: ""',
    '  database: ""',
    `  zonesdir: "${directory}"`,
    `  pidfile: "${directory}/nsd.pid"`,
    `  xfrdfile: "${directory}/xfrd.state"`,
    `  xfrdir: "${directory}"`,
    `  zonelistfile: "${directory}/zone.list"`,
    '  rrl-ratelimit: 0',
    '  rrl-whitelist-ratelimit: 0',
    '  round-robin: no',
    'remote-control:',
    '  control-enable: no',
    ...zones.flatMap((zone) => ['zone:', `  name: "${zone.origin}"`, `  zonefile: "${zone.file}"`]),
  ]
  await writeFile(config, `${lines.join('\n')}\n`)
  return { program: '/usr/sbin/nsd', args: ['-d', '-c', config] }
})

export const knot = nameServer('knot', async (directory, port, zones) => {
  const config = join(directory, 'knot.conf')
  const lines = [
    'server:',
    `  rundir: "${directory}"`,
    `  listen: 127.0.0.1@${port}`,
    '  udp-workers: 1',
    '  tcp-workers: 1',
    '  background-workers: 1',
    'log:',
    '  - target: stderr',
    '    any: info',
    'database:',
    `  storage: "${directory}"`,
    'template:',
    '  - id: default',
    `    storage: "${directory}"`,
    '    zonefile-sync: -1',
    '    journal-content: none',
    '    semantic-checks: off',
    'zone:',
    ...zones.flatMap((zone) => [`  - domain: "${zone.origin}"`, `    file: "${zone.file}"`]),
  ]
  await writeFile(config, `${lines.join('\n')}\n`)
  return { program: '/usr/sbin/knotd', args: ['-c', config] }
})

export const bind = nameServer('bind', async (directory, port, zones) => {
  const config = join(directory, 'named.conf')
  const lines = [
    'options {',
    `  directory "${directory}";`,
    `  listen-on port ${port} { 127.0.0.1; };`,
    '  listen-on-v6 { none; };',
    '  pid-file none;',
    '  lock-file none;',
    '  session-keyfile none;',
    '  recursion no;',
    '  allow-transfer { none; };',
    '  allow-query { any; };',
    '  notify no;',
    '  empty-zones-enable no;',
    '  dnssec-validation no;',
    '  minimal-responses yes;',
    '  minimal-any yes;',
    '  check-names master ignore;',
    '  check-integrity no;',
    '  rrset-order { order none; };',
    '};',
    'controls { };',
    ...zones.map((zone) => `zone "${zone.origin}" { type primary; file "${zone.file}"; };`),
  ]
  await writeFile(config, `${lines.join('\n')}\n`)
  return { program: '/usr/sbin/named', args: ['-g', '-n', '1', '-c', config, '-p', String(port)] }
})

/** The directory mode takes the origin from the file name. */
export const holdfast = nameServer('holdfast', async (directory, port, zones) => {
  const served = join(directory, 'zones')
  await mkdir(served)
  const nameOf = (origin: string): string => (origin === '.' ? 'db..' : `${origin}zone`)
  await Promise.all(zones.map(({ file, origin }) => copyFile(file, join(served, nameOf(origin)))))
  const program = fileURLToPath(new URL('../../bin/holdfast', import.meta.url))
  return { program, args: ['dns', '--zones', served, '--listen', `127.0.0.1:${port}`] }
})
