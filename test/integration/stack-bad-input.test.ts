// What cannot be, and what goes wrong on the way: each is told with one clear error and the right exit code before
// anything is touched, and a run that was cut short goes on with the next one.

import { execFileSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { opensslAuthority } from '../support/openssl.ts'
import { DNS_PORT, HOLDFAST, StackLab } from '../support/stack-lab.ts'

const HEAD = 'domain: lab.test\nnetwork: 127.243.0.0/16\n'
const ETCD = 'etcd: { members: 1 }'
const isRoot = process.getuid?.() === 0

let lab: StackLab

describe('a stack file', () => {
  beforeEach(() => {
    lab = new StackLab('bad-input', '')
  })
  afterEach(() => lab.close())

  const refused = async (body: string) => {
    lab.file(HEAD + body)
    const { code, stderr } = await lab.run('up', '--yes')
    expect(existsSync(lab.state)).toBe(false)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(stderr).toContain('holdfast: Cannot load stack.yaml:')
    return { code, stderr }
  }

  test.each([
    [
      'an unknown key',
      'etcd: { members: 1, spacequota: 1 }',
      /stack.yaml:4:21: unknown key "spacequota" in etcd; did you mean "space_quota"\?/u,
    ],
    [
      'a name that two machines have',
      'etcd: { members: [{ name: a }, { name: a }, { name: b }] }',
      /"a" is the name of another machine, too/u,
    ],
    [
      'an address that two machines have',
      'etcd: { members: [{ name: a, local_address: 127.1.1.1 }] }\ndns: { servers: [{ name: b, local_address: 127.1.1.1 }] }',
      /127.1.1.1 is the address of "a", too/u,
    ],
    ['a zone directory that is not there', 'dns: { servers: 1, zones: ./nowhere }', /nowhere/u],
    ['an empty password', `${ETCD}\npostgres: { members: 2, superuser_password: "" }`, /password/u],
    ['strict synchronous replication with nobody to replicate to', `${ETCD}\npostgres: { members: 1 }`, /synchronous/u],
  ])('with %s is refused', async (_, body, message) => {
    const { code, stderr } = await refused(body)
    expect(code).toBe(3)
    expect(stderr).toMatch(message)
  })

  test('with an authority that has the key of another is refused', async () => {
    await opensslAuthority(lab.directory, 'one')
    await opensslAuthority(lab.directory, 'other')
    const { code, stderr } = await refused(`ca: { certificate: { file: one.pem }, key: { file: other.key } }\n${ETCD}`)
    expect(code).toBe(3)
    expect(stderr).toMatch(/does not match|key/u)
  })

  test('with an even number of etcd members is planned, with a warning', async () => {
    lab.file(`${HEAD}etcd: { members: 2 }`)
    const { code, stderr } = await lab.run('plan')
    expect(code).toBe(4)
    expect(stderr).toMatch(/^holdfast: stack.yaml:4:\d+: .*an odd number is better\n$/u)
    expect(existsSync(lab.state)).toBe(false)
  })

  test('that is not there is named', async () => {
    expect(await lab.run('up', 'nowhere.yaml', '--yes')).toMatchObject({
      stderr: expect.stringContaining('nowhere.yaml'),
    })
  })

  test('is asked about before anything is done', async () => {
    lab.file(HEAD + ETCD)
    const { code, stderr } = await lab.run('up')
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/--yes/u)
    expect(existsSync(lab.state)).toBe(false)
  })
})

describe('a host', () => {
  beforeEach(() => {
    lab = new StackLab('bad-host', HEAD + ETCD)
  })
  afterEach(() => lab.close())

  test('where a port is in use is refused, with whose it is', async () => {
    const server = createServer()
    await once(server.listen(2379, '127.243.10.1'), 'listening')
    try {
      const { code, stderr } = await lab.run('up', '--yes')
      expect(code).toBe(1)
      expect(stderr).toMatch(
        new RegExp(
          `^holdfast: Cannot bring up "bad-host": 127.243.10.1:2379/tcp .*in use by process ${process.pid} `,
          'u',
        ),
      )
      expect(existsSync(lab.state)).toBe(false)
    } finally {
      server.close()
    }
  })

  test('where the state directory cannot be made is refused', async () => {
    const file = lab.write('file', '')
    const { code, stderr } = await lab.exec(HOLDFAST, ['up', '--yes', '--state', join(file, 'state')])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^holdfast: Cannot read ".*": not a directory\n$/u)
  })

  test.runIf(isRoot)('where the disk is full is refused', async () => {
    mkdirSync(lab.state)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m,mode=711', 'tmpfs', lab.state])
    try {
      const { code, stderr } = await lab.run('up', '--yes')
      expect(code).toBe(1)
      expect(stderr).toMatch(/Cannot bring up "bad-host": \d+ MiB free at .*wanted/u)
      expect(existsSync(lab.path())).toBe(false)
    } finally {
      execFileSync('umount', [lab.state])
    }
  })

  test.runIf(isRoot)('where users of services cannot pass is refused', async () => {
    chmodSync(lab.directory, 0o700)
    const { code, stderr } = await lab.run('up', '--yes')
    expect(code).toBe(1)
    expect(stderr).toContain(`users of services cannot pass "${lab.directory}"`)
    expect(existsSync(lab.state)).toBe(false)
  })
})

describe('a stack of the same name', () => {
  beforeAll(async () => {
    lab = new StackLab('namesake', HEAD + ETCD)
    await lab.up()
  }, 60_000)
  afterAll(() => lab.close(), 60_000)

  test('from another file is refused, unless it is to be taken over', async () => {
    const before = await lab.pids()
    const other = lab.write('other/stack.yaml', `name: namesake\n${HEAD}${ETCD}\n`)
    const { code, stderr } = await lab.run('up', other, '--yes')
    expect(code).toBe(1)
    expect(stderr).toContain(`a stack of that name was brought up from ${lab.directory}/stack.yaml`)
    await lab.done('up', other, '--yes', '--detach', '--adopt')
    await lab.done('up', '--yes', '--detach', '--adopt')
    expect(await lab.pids()).toEqual(before)
  })

  test('kept in another directory is refused while this one runs', async () => {
    const state = join(lab.directory, 'other-state')
    const { code, stderr } = await lab.exec(HOLDFAST, ['up', '--yes', '--state', state])
    expect(code).toBe(1)
    expect(stderr.trimEnd().split('\n')[0]).toBe(
      `holdfast: Cannot bring up "namesake": a stack of that name runs in ${lab.path()}; stop it, or give this one another name`,
    )
    expect(existsSync(state)).toBe(false)
  })

  test('is changed by one command at a time', async () => {
    lab.file(`${HEAD}etcd: { members: 1, space_quota: 1073741824 }`)
    const ups = await Promise.all([lab.run('up', '--yes', '--detach'), lab.run('up', '--yes', '--detach')])
    const [done, locked] = ups.toSorted((one, other) => one.code - other.code)
    expect(done.code).toBe(0)
    // Whoever came late enough found nothing to do.
    if (locked.code !== 0)
      expect(locked.stderr).toContain('another command is changing it just now; wait for it to end')
    expect((await lab.run('plan')).code).toBe(0)
  })
})

describe('a first run that is cut short', () => {
  const FILE = `${HEAD}etcd: { members: 3 }\ndns: { servers: 2, zones: ./zones, port: ${DNS_PORT} }`
  beforeEach(() => {
    lab = new StackLab('cut-short', FILE)
  })
  afterEach(() => lab.close(), 60_000)

  test.each([
    ['while etcd starts', /etcd-1: starting/u],
    ['while name servers start', /dns-1: starting/u],
    ['at any moment', randomInt(100, 2500)],
  ])(
    'by kill -9 %s is gone on with by the next one',
    async (_, moment) => {
      const up = lab.spawn('up', '--yes', '--detach')
      await (typeof moment === 'number' ? sleep(moment) : up.logged(moment))
      await up.end()
      expect(await lab.up()).toMatchObject({ isReady: true })
      expect((await lab.run('plan')).code).toBe(0)
    },
    120_000,
  )

  test.each([
    ['after the plan', /^Plan for/mu],
    ['while etcd starts', /etcd-1: starting/u],
    ['while name servers start', /dns-1: starting/u],
  ])('by Ctrl-C %s says so', async (_, moment) => {
    const up = lab.spawn('up', '--yes', '--detach')
    await up.logged(moment)
    up.kill('SIGINT')
    expect(await up.ended()).toBe(1)
    expect(up.output).toContain(
      'holdfast: Cannot go on: interrupted; what was done so far stays, and "up" goes on from there\n',
    )
  })
})
