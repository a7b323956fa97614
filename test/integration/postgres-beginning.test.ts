// What is left of a cluster's or a member's beginning when everything is killed in the middle of it, and what becomes of it: the
// scripts that machines are rendered with, with PostgreSQL's programs, a real etcd and Debian's Patroni.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { BOOTSTRAP_STEP } from '../../src/clusters/postgres/bootstrap-step.ts'
import { programUrl } from '../../src/clusters/postgres/programs.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'

const PYTHON = '/usr/bin/python3'
const NOBODY = 65534
const run = promisify(execFile)

describe('a data directory', () => {
  let directory: string
  let data: string
  const children: ChildProcess[] = []

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-unfinished-'))
    data = join(directory, 'main')
  })
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
    rmSync(directory, { recursive: true })
  })

  const clear = fileURLToPath(programUrl('clear-unfinished'))
  const begin = async () => (await run(PYTHON, [clear, data, '/bin/echo', 'begun'])).stdout
  const make = (path: string, ...names: readonly string[]) => {
    mkdirSync(path)
    for (const name of names) writeFileSync(join(path, name), '')
  }

  test('in which PostgreSQL has run stays, and one that was put aside before it goes', async () => {
    make(data, 'PG_VERSION', 'postmaster.opts')
    make(`${data}.unfinished`, 'PG_VERSION')
    expect(await begin()).toBe('begun\n')
    expect(readdirSync(directory).toSorted()).toEqual(['main'])
    expect(readdirSync(data)).toEqual(['PG_VERSION', 'postmaster.opts'])
  })

  test('in which PostgreSQL has never run is put aside, in place of an earlier one', async () => {
    make(data, 'PG_VERSION')
    make(`${data}.unfinished`, 'earlier')
    expect(await begin()).toMatch(/^".*main" was never finished: put aside as ".*", to be made again\nbegun\n$/u)
    expect(existsSync(data)).toBe(false)
    expect(readdirSync(`${data}.unfinished`)).toEqual(['PG_VERSION'])
  })

  test('that is empty, or not there at all, is left alone', async () => {
    expect(await begin()).toBe('begun\n')
    mkdirSync(data)
    expect(await begin()).toBe('begun\n')
    expect(existsSync(data)).toBe(true)
  })

  test('that is still being made by somebody who was left alone is not made by two', async () => {
    make(data, 'PG_VERSION')
    const sleeps = ['-c', 'import time; time.sleep(60)', `--pgdata=${data}`]
    const maker = spawn(PYTHON, sleeps, { argv0: 'pg_basebackup' })
    const reader = spawn(PYTHON, sleeps)
    children.push(maker, reader)
    await Promise.all([once(maker, 'spawn'), once(reader, 'spawn')])
    const ended = once(maker, 'exit')
    await begin()
    await ended
    expect(reader.exitCode ?? reader.signalCode).toBeNull()
  })

  test.skipIf(process.getuid?.() !== 0)('is put aside whatever the processes of other users are called', async () => {
    make(data, 'PG_VERSION')
    chmodSync(directory, 0o711)
    for (const path of [directory, data]) chownSync(path, NOBODY, NOBODY)
    const foreign = spawn(PYTHON, ['-c', 'import time; time.sleep(60)', data], { argv0: 'postgres' })
    children.push(foreign)
    await once(foreign, 'spawn')
    // The program is where only its owner may read it.
    const copy = join(directory, 'programs')
    cpSync(dirname(clear), copy, { recursive: true })
    const { stdout } = await run('setpriv', [
      ...[`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'],
      ...[PYTHON, join(copy, 'clear-unfinished.py'), data, '/bin/echo', 'begun'],
    ])
    expect(stdout).toContain('was never finished')
    expect(existsSync(data)).toBe(false)
    expect(foreign.exitCode ?? foreign.signalCode).toBeNull()
  })

  test('in which pg_rewind did not finish stays until there is a leader, and pg_rewind is ended', async () => {
    make(data, 'PG_VERSION')
    const { dev, ino } = statSync(data)
    writeFileSync(`${data}.rewinding`, `${dev} ${ino}\n`)
    const sleeps = ['-c', 'import time; time.sleep(60)', '-D', data, '--source-server', 'host=db']
    const rewind = spawn(PYTHON, sleeps, { argv0: 'pg_rewind' })
    children.push(rewind)
    await once(rewind, 'spawn')
    const ended = once(rewind, 'exit')
    expect(await begin()).toContain('pg_rewind did not finish')
    await ended
    expect(readdirSync(data)).toEqual(['PG_VERSION'])
  })
})

describe('the key of a member that began to make the cluster', () => {
  /** Arguments: etcd, and scopes of clusters. Looks at each for a while. */
  const DRIVER = `
import sys
import time
${BOOTSTRAP_STEP}

FIRST_LOOK_SECONDS, LOOK_AGAIN_SECONDS = 0, 0.1
settings = {'ttl': 0.5, 'loop_wait': 1, 'retry_timeout': 5}
clusters = [Bootstrap({'etcd3': {'host': sys.argv[1]}, 'scope': scope, 'namespace': '/patroni/', 'name': 'a'}, settings)
            for scope in sys.argv[2:]]
# Each is seen to be idle for longer than the TTL, however long a look takes.
for _ in range(12):
    for cluster in clusters:
        cluster.look()
    time.sleep(0.12)
`
  let etcd: EtcdCluster
  beforeAll(async () => {
    etcd = await EtcdCluster.start({ members: 1 })
  })
  afterAll(() => etcd.stop())

  const put = (scope: string, key: string, value: string) => etcd.etcdctl('put', `/patroni/${scope}/${key}`, value)
  const member = (state: string) => JSON.stringify({ state, conn_url: 'postgres://10.0.0.1:5432/postgres' })

  test('is removed when no member is at it any more, and only then', async () => {
    const scopes = ['gone', 'waiting', 'begun', 'starting', 'made', 'led']
    for (const scope of scopes) await put(scope, 'initialize', scope === 'made' ? '7400000000000000000' : '')
    for (const name of ['a', 'b']) await put('waiting', `members/${name}`, member('stopped'))
    await put('begun', 'members/a', member('initializing new cluster'))
    await put('starting', 'members/a', member('starting'))
    await put('led', 'leader', 'a')
    const endpoint = etcd.endpoints[0].replace(/^https?:\/\//u, '')
    const { stdout } = await run(PYTHON, ['-c', DRIVER, endpoint, ...scopes])
    expect(stdout.match(/any member may begin anew/gu)).toHaveLength(2)
    const left = await etcd.etcdctl('get', '--prefix', '--keys-only', '/patroni/')
    const keys = left.split('\n').filter((key) => key.endsWith('/initialize'))
    expect(keys).toEqual(['begun', 'led', 'made', 'starting'].map((scope) => `/patroni/${scope}/initialize`))
  })
})
