// Users that services run as. Those of Debian's packages come with them; our own is made here.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HoldfastError } from '../../lib/errors.ts'
import { exec } from '../../lib/exec.ts'
import { SYSTEM_PATH } from './apt.ts'

/** Runs what is our own program: name servers. */
export const OWN_USER = 'holdfast'

const TIMEOUT_MS = 30_000

/** Which of them the host does not have, in the order given. */
export async function missingUsers(names: readonly string[], root = '/'): Promise<readonly string[]> {
  const table = await readFile(join(root, 'etc/passwd'), 'utf8').catch(() => '')
  const known = new Set(table.split('\n').map((line) => line.split(':', 1)[0]))
  return names.filter((name) => !known.has(name))
}

/** For people to run, with sudo before it. */
export function userCommand(name: string): readonly string[] {
  const nowhere = ['--no-create-home', '--home-dir', '/nonexistent', '--shell', '/usr/sbin/nologin']
  return ['useradd', '--system', '--user-group', ...nowhere, name]
}

/** A user without a password, a home or a shell. */
export async function makeSystemUser(name: string, signal: AbortSignal): Promise<void> {
  if ((await missingUsers([name])).length === 0) return
  let said = ''
  const env = { PATH: SYSTEM_PATH, LC_ALL: 'C' }
  const onLine = (line: string) => {
    said = line
  }
  const { reason } = await exec(userCommand(name), { timeoutMs: TIMEOUT_MS, signal, env, onLine })
  if (reason === undefined) return
  throw new HoldfastError('UserFailed', `Cannot make the user "${name}": ${said === '' ? reason : said}`, {
    hint: `run this first: sudo ${userCommand(name).join(' ')}`,
  })
}
