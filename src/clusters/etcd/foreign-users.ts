// Users of an etcd cluster that may do more than the stack file says. Users may be added on purpose, so most of them are only
// reported. A user with role root may do everything, for ever: one that the stack file does not name is an intruder until
// its name is in the file.

import type { EtcdClient } from '../../etcd/client.ts'
import { HoldfastError } from '../../lib/errors.ts'
import { OWN_USERS, ROOT } from './access.ts'
import type { EtcdSpec } from './spec.ts'

export interface ForeignUser {
  readonly name: string
  /** Those that the stack did not give it. */
  readonly roles: readonly string[]
  /** The stack file has a user of this name in `users`. */
  readonly isNamed: boolean
}

/** Users with a role that the stack did not give them. */
export async function readForeignUsers(
  { users }: EtcdSpec,
  client: Pick<EtcdClient, 'userList' | 'userRoles'>,
  signal: AbortSignal,
): Promise<readonly ForeignUser[]> {
  const named = new Set(users.map(({ name }) => name))
  const found: ForeignUser[] = []
  for (const name of await client.userList(signal)) {
    const own = name === ROOT ? ROOT : named.has(name) ? `holdfast-${name}` : undefined
    const roles = (await client.userRoles(name, signal)).filter((role) => role !== own)
    if (roles.length > 0) found.push({ name, roles, isNamed: named.has(name) && !OWN_USERS.has(name) })
  }
  return found
}

/** For people; undefined where there is nothing to report. */
export function describeForeignUsers(users: readonly ForeignUser[]): string | undefined {
  if (users.length === 0) return undefined
  const list = users.map(({ name, roles }) => `${JSON.stringify(name)} (${roles.join(', ')})`)
  return `etcd has users with roles that the stack file does not give them: ${list.join(', ')}`
}

/** Throws for a user that may do everything without being named in the stack file. */
export function refuseForeignRoot(users: readonly ForeignUser[]): void {
  const intruders = users.filter(({ roles, isNamed }) => roles.includes(ROOT) && !isNamed).map(({ name }) => name)
  if (intruders.length === 0) return
  const [first] = intruders
  throw new HoldfastError(
    'EtcdForeignRoot',
    `Cannot accept the users of etcd: ${intruders.map((name) => JSON.stringify(name)).join(', ')} may do everything (role root); expected only root, or users that "etcd.users" of the stack file names`,
    {
      hint: OWN_USERS.has(first)
        ? `take the role away with "etcdctl user revoke-role ${first} root", and find out who gave it`
        : `remove the user with "etcdctl user delete ${first}" and find out who made it; or name it in "etcd.users" if it was you`,
    },
  )
}
