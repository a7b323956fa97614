// What has to be installed: packages, and the users that services run as.

import { HoldfastError } from '../../../lib/errors.ts'
import { installCommand, missingPackages } from '../packages.ts'
import { missingUsers, OWN_USER, userCommand } from '../system-user.ts'
import { type Finding, ok, problem } from '../../finding.ts'
import { type HostMachine, packagesOf, usersOf } from './host-machine.ts'

/** Of users that packages bring. */
const PACKAGES_OF_USERS: ReadonlyMap<string, RegExp> = new Map([
  ['etcd', /^etcd-server$/u],
  ['haproxy', /^haproxy$/u],
  ['postgres', /^postgresql/u],
])
const FIX = 'holdfast doctor --fix'

export async function checkInstalled(
  machines: readonly HostMachine[],
  isRoot: boolean,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const packages = packagesOf(machines)
  let missing: readonly string[]
  try {
    missing = await missingPackages(packages, signal)
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    return [problem('packages', error.message)]
  }
  const users = isRoot ? await checkUsers(usersOf(machines), missing) : []
  if (missing.length === 0) return [ok('packages', packages.join(', ') || 'none needed'), ...users]
  return [problem('packages', `not installed: ${missing.join(', ')}`, isRoot ? FIX : installCommand(missing)), ...users]
}

/** A user that comes with a package which is missing is no news. */
export async function checkUsers(
  wanted: readonly string[],
  missing: readonly string[],
  root = '/',
): Promise<readonly Finding[]> {
  const isToCome = (user: string) => missing.some((name) => PACKAGES_OF_USERS.get(user)?.test(name))
  const absent = (await missingUsers(wanted, root)).filter((user) => !isToCome(user))
  if (absent.length === 0) return [ok('users', wanted.join(', '))]
  return absent.map((user) =>
    problem('users', `there is no user "${user}"`, user === OWN_USER ? FIX : `sudo ${userCommand(user).join(' ')}`),
  )
}
