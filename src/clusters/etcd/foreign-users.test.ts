import { expect, test } from 'vitest'
import { etcdSpec, etcdUser } from '../../../test/support/etcd-machines.ts'
import { describeForeignUsers, readForeignUsers, refuseForeignRoot } from './foreign-users.ts'

const spec = etcdSpec(['10.0.0.1'], { users: [etcdUser('dns'), etcdUser('grafana')] })
const ours = { root: ['root'], dns: ['holdfast-dns'], grafana: ['holdfast-grafana'] }

function read(users: Readonly<Record<string, readonly string[]>>) {
  const client = { userList: async () => Object.keys(users), userRoles: async (name: string) => users[name] ?? [] }
  return readForeignUsers(spec, client, new AbortController().signal)
}

test('the users of the stack are its own, and one without a role can do nothing', async () => {
  const users = await read({ ...ours, idle: [] })
  expect(users).toEqual([])
  expect(describeForeignUsers(users)).toBeUndefined()
  expect(() => refuseForeignRoot(users)).not.toThrow()
})

test('others that have a role are reported', async () => {
  const users = await read({ ...ours, app: ['app', 'more'] })
  expect(describeForeignUsers(users)).toBe(
    'etcd has users with roles that the stack file does not give them: "app" (app, more)',
  )
  expect(() => refuseForeignRoot(users)).not.toThrow()
})

test('one that may do everything is not accepted', async () => {
  expect(() => refuseForeignRoot([{ name: 'evil', roles: ['root'], isNamed: false }])).toThrow(
    'Cannot accept the users of etcd: "evil" may do everything (role root); expected only root, or users that "etcd.users" of the stack file names',
  )
  // A role of the stack's own names gives nothing away.
  const planted = await read({ ...ours, evil: ['holdfast-evil', 'root'] })
  expect(() => refuseForeignRoot(planted)).toThrow('"evil"')
})

test('not even one of the stack itself', async () => {
  const users = await read({ ...ours, dns: ['holdfast-dns', 'root'] })
  expect(() => refuseForeignRoot(users)).toThrow(
    expect.objectContaining({ code: 'EtcdForeignRoot', hint: expect.stringContaining('revoke-role dns root') }),
  )
})

test('one that the stack file names is accepted, and reported', async () => {
  const users = await read({ ...ours, grafana: ['holdfast-grafana', 'root'] })
  expect(() => refuseForeignRoot(users)).not.toThrow()
  expect(describeForeignUsers(users)).toContain('"grafana" (root)')
})
