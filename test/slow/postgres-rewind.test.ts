// An old primary whose pg_rewind fails half way: its data is of no use any more, and it comes back with a copy of the new
// primary's. pg_rewind is replaced by a program that damages the data in the way that a lost source does, so that this does
// not depend on who is faster.

import {
  existsSync,
  mkdtempSync,
  chmodSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, onTestFailed, test } from 'vitest'
import { PATHS, versionPaths } from '../../src/clusters/postgres/paths.ts'
import { PatroniApi } from '../../src/clusters/postgres/patroni-api.ts'
import type { PostgresMember } from '../../src/clusters/postgres/spec.ts'
import { copyAgain, membersWithUnusableData } from '../../src/clusters/postgres/unusable-data.ts'
import { loopbackNetwork } from '../support/loopback.ts'
import { patiently, PostgresLab, postmasterPid, READY_MS } from '../support/postgres-lab.ts'
import { QUICK_PATRONI } from '../support/postgres-spec.ts'
import { until } from '../support/until.ts'

const { signal } = new AbortController()
const TEST_MS = 4 * READY_MS
const LOG_LINES = 100
let lab: PostgresLab
let programs: string

/** With a file "damage" next to it, it fails after it has changed the data, once the file "wait" is gone. */
const PG_REWIND = `#!/bin/sh
here=$(dirname "$0")
[ -e "$here/damage" ] && [ "$1" != --help ] || exec "$here/real_pg_rewind" "$@"
rm "$here/damage"
while [ "$1" != -D ]; do shift; done
rm "$2/postmaster.opts" "$2"/pg_wal/0*
touch "$here/damaged"
while [ -e "$here/wait" ]; do sleep 0.1; done
echo 'pg_rewind: error: could not fetch remote file: server closed the connection unexpectedly' >&2
exit 1
`

beforeAll(async () => {
  // Without a watchdog: a PostgreSQL that is stopped in time has nothing that it would have to be rewound from.
  lab = await PostgresLab.create(`${loopbackNetwork()}.33`, { patroni: QUICK_PATRONI }, '/dev/no-watchdog')
  programs = mkdtempSync(join(tmpdir(), 'holdfast-programs-'))
  chmodSync(programs, 0o777)
  const { programs: real } = versionPaths(lab.site.postgresVersion)
  for (const name of readdirSync(real))
    symlinkSync(join(real, name), join(programs, name === 'pg_rewind' ? 'real_pg_rewind' : name))
  writeFileSync(join(programs, 'pg_rewind'), PG_REWIND, { mode: 0o755 })
  for (const machine of lab.machines) {
    const path = machine.path(PATHS.patroni)
    const config = JSON.parse(readFileSync(path, 'utf8'))
    writeFileSync(path, JSON.stringify({ ...config, postgresql: { ...config.postgresql, bin_dir: programs } }))
  }
  await lab.start()
}, TEST_MS)

afterAll(async () => {
  await lab.stop()
  rmSync(programs, { recursive: true })
})

beforeEach(() =>
  onTestFailed(() => {
    for (const { machine, log } of lab.machines.map((each) => ({ machine: each.machine, log: each.log('patroni') })))
      process.stderr.write(`${machine.name}:\n${log.split('\n').slice(-LOG_LINES).join('\n')}\n`)
  }),
)

const dataOf = ({ name }: PostgresMember) => lab.machine(name).path(versionPaths(lab.site.postgresVersion).data)
const logOf = ({ name }: PostgresMember) => lab.machine(name).log('patroni')

/** Its Patroni stops until another member leads; meanwhile its PostgreSQL writes what nobody else has. */
async function depose(old: PostgresMember): Promise<PostgresMember> {
  await lab.psql(old.address, `set synchronous_commit = local; create table only_here_${Date.now()} ()`)
  lab.machine(old.name).signal('patroni', 'SIGSTOP')
  // On disk when it is done: an immediate stop loses nothing of it.
  const message = "set synchronous_commit = local; select pg_logical_emit_message(true, 'test', 'only here')"
  const write = () => lab.psql(old.address, message)
  const next = await patiently('another primary', async () => {
    await write().catch(() => undefined)
    const found = await lab.primary()
    return found.name !== old.name && found
  })
  await write().catch(() => undefined)
  await lab.psql(next.address, 'create table if not exists written (value int); insert into written values (1)')
  lab.machine(old.name).signal('patroni', 'SIGCONT')
  return next
}

test(
  'a member whose pg_rewind failed comes back with a copy of the primary, and its old data is kept aside',
  async () => {
    const old = await lab.primary()
    writeFileSync(join(programs, 'damage'), '')
    await depose(old)
    await patiently('pg_rewind', async () => existsSync(join(programs, 'damaged')))
    rmSync(join(programs, 'damaged'))
    await lab.ready()
    expect(existsSync(`${dataOf(old)}.aside/PG_VERSION`)).toBe(true)
    expect(existsSync(`${dataOf(old)}.rewinding`)).toBe(false)
    expect(logOf(old)).toContain(`the old data is kept in "${dataOf(old)}.aside"`)
    const status = await new PatroniApi(old.address, lab.access.credentials).status(signal)
    expect(status.data_kept_aside).toBe(`${dataOf(old)}.aside`)
    const { members } = await lab.status()
    expect(members.find(({ machine }) => machine === old.name)?.problem).toContain(`${dataOf(old)}.aside`)
  },
  TEST_MS,
)

test(
  'a source that is lost during pg_rewind: the damaged data is neither started nor rewound again, but replaced',
  async () => {
    const old = await lab.primary()
    const before = logOf(old).length
    for (const name of ['damage', 'wait']) writeFileSync(join(programs, name), '')
    const source = await depose(old)
    await patiently('pg_rewind', async () => existsSync(join(programs, 'damaged')))
    await lab.lose(source.name)
    rmSync(join(programs, 'wait'))
    const third = await until(
      'the third member leads',
      async () => {
        const found = await lab.primary()
        return found.name !== source.name && found
      },
      READY_MS,
    )
    expect(third.name).not.toBe(old.name)
    lab.machine(source.name).start('patroni')
    await lab.ready()
    expect(
      logOf(old)
        .slice(before)
        .match(/running pg_rewind from dbname/gu),
    ).toHaveLength(1)
    expect(await lab.psql((await lab.primary()).address, 'select count(*) from written')).toBe('2')
  },
  TEST_MS,
)

test(
  'a member that does not start with its data is found while another one leads, and gets a copy when it is asked for',
  async () => {
    const { loopWait } = lab.spec.patroni
    const primary = await lab.primary()
    const member = lab.spec.members.find(({ name }) => name !== primary.name)
    if (member === undefined) throw new Error('no replica')
    expect((await membersWithUnusableData(lab.access, { loopWait }, signal)).unusable).toEqual(new Set())
    writeFileSync(`${dataOf(member)}/backup_label`, 'damaged')
    process.kill(postmasterPid(lab.machine(member.name)) ?? 0, 'SIGKILL')
    const found = await patiently('unusable data', async () => {
      const { unusable } = await membersWithUnusableData(lab.access, { loopWait }, signal)
      return unusable.size > 0 && unusable
    })
    expect(found).toEqual(new Set([member.name]))
    rmSync(`${dataOf(member)}.aside`, { recursive: true, force: true })
    await copyAgain(lab.access, member, signal)
    await lab.ready()
    expect(readFileSync(`${dataOf(member)}.aside/backup_label`, 'utf8')).toBe('damaged')
  },
  TEST_MS,
)
