import { describe, expect, test } from 'vitest'
import { etcdSpec, etcdUser } from '../../../test/support/etcd-machines.ts'
import { machine } from '../../../test/support/local-stack.ts'
import { applyStack, type EtcdHistory } from './apply-stack.ts'
import { EtcdWorld } from './testing.ts'

const spec = etcdSpec(['10.0.0.1', '10.0.0.2', '10.0.0.3'])
const formed: EtcdHistory = { isFormed: true, onFormed: async () => undefined }

/** With a name server that is to be made. */
function world(): EtcdWorld {
  const made = new EtcdWorld().formed(spec)
  made.more.push({ ...machine('dns-1', []), kind: 'dns' })
  return made
}

/** etcd of these machines does not come up any more; their data is there. */
function breakDown({ etcd, target }: EtcdWorld, ...names: readonly string[]): void {
  for (const name of names) {
    etcd.running.delete(name)
    target.broken.add(name)
  }
}

describe('etcd with quorum and without a member', () => {
  test('holds up nothing else, and is reported at the end', async () => {
    const broken = world()
    breakDown(broken, 'etcd-3')
    await expect(applyStack(await broken.work(spec), formed)).rejects.toMatchObject({
      code: 'NotReady',
      message: expect.stringContaining('2 of 3 members; etcd-3: not reachable'),
    })
    expect(broken.happened).toContain('start dns-1')
  })

  test('holds up nothing else when it cannot be changed, either', async () => {
    const broken = world()
    breakDown(broken, 'etcd-3')
    const changed = { ...spec, spaceQuotaBytes: 2 ** 30 }
    await expect(applyStack(await broken.work(changed), formed)).rejects.toMatchObject({ code: 'NotReady' })
    expect(broken.happened).toContain('start dns-1')
    expect(broken.happened).not.toContain('restart etcd-1/etcd')
    expect(broken.reported).toContainEqual({
      machine: undefined,
      state: 'warning',
      message: expect.stringMatching(/^etcd has quorum, so the rest continues/u),
    })
  })
})

test('without quorum nothing else is tried', async () => {
  const broken = world()
  breakDown(broken, 'etcd-2', 'etcd-3')
  await expect(applyStack(await broken.work(spec), formed)).rejects.toMatchObject({ code: 'EtcdUnreachable' })
  expect(broken.happened).toEqual([])
})

test('without authentication nothing else is tried after a failure', async () => {
  const broken = world()
  breakDown(broken, 'etcd-3')
  broken.etcd.hasAuth = false
  const changed = { ...spec, spaceQuotaBytes: 2 ** 30 }
  await expect(applyStack(await broken.work(changed), formed)).rejects.toMatchObject({ code: 'NotReady' })
  expect(broken.happened).not.toContain('start dns-1')
})

test('a user who may do everything and is not in the stack file ends it, after everything else is done', async () => {
  const intruded = world()
  intruded.etcd.users = { root: ['root'], evil: ['root'] }
  await expect(applyStack(await intruded.work(spec), formed)).rejects.toMatchObject({ code: 'EtcdForeignRoot' })
  expect(intruded.happened).toContain('start dns-1')
})

test('a user that the stack file names is only reported', async () => {
  const named = world()
  const users = [etcdUser('admin')]
  named.etcd.users = { root: ['root'], admin: ['holdfast-admin', 'root'] }
  await applyStack(await named.work({ ...spec, users }), formed)
  expect(named.reported).toContainEqual({
    machine: undefined,
    state: 'warning',
    message: 'etcd has users with roles that the stack file does not give them: "admin" (root)',
  })
})
