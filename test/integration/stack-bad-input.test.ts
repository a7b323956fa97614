// Stacks that cannot be brought up: each is refused with one clear error and the right exit code before anything is touched.

import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { loopbackNetwork } from '../support/loopback.ts'
import { opensslAuthority } from '../support/openssl.ts'
import { HOLDFAST, StackLab } from '../support/stack-lab.ts'

const NETWORK = loopbackNetwork()
const HEAD = `domain: lab.test\nnetwork: ${NETWORK}.0.0/16\n`
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
    expect(stderr).toMatch(/^holdfast: stack.yaml:4:\d+: .*use an odd number\n$/u)
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
    await once(server.listen(2379, `${NETWORK}.10.1`), 'listening')
    try {
      const { code, stderr } = await lab.run('up', '--yes')
      expect(code).toBe(1)
      expect(stderr).toMatch(
        new RegExp(
          `^holdfast: Cannot bring up "${lab.name}": ${NETWORK}.10.1:2379/tcp .*in use by process ${process.pid} `,
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
    expect(stderr).toMatch(/^holdfast: Cannot read ".*": not a directory \[\w+\]\n/u)
  })

  test.runIf(isRoot)('where the disk is full is refused', async () => {
    mkdirSync(lab.state)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m,mode=711', 'tmpfs', lab.state])
    try {
      const { code, stderr } = await lab.run('up', '--yes')
      expect(code).toBe(1)
      expect(stderr).toMatch(/Cannot bring up "bad-host-\d+": \d+ MiB free at .*needed/u)
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
  })
  afterAll(() => lab.close())

  test('from another file is refused, unless it is to be taken over', async () => {
    const before = await lab.pids()
    const other = lab.write('other/stack.yaml', `name: ${lab.name}\n${HEAD}${ETCD}\n`)
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
      `holdfast: Cannot bring up "${lab.name}": a stack of that name runs in ${lab.path()}; stop it, or give this one another name [StackElsewhere]`,
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
