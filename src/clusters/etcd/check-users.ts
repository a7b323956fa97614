// What names and passwords of etcd users have to be, so that etcdctl, which makes the users, takes them as they are:
// it reads a password up to the first white space, and takes a name up to a colon.

import { HoldfastError } from '../../lib/errors.ts'
import type { Secret } from '../../lib/secret.ts'
import { ROOT } from './access.ts'
import type { EtcdSpec } from './spec.ts'

/** Of bcrypt, by which etcd keeps them. */
const LONGEST_PASSWORD_BYTES = 72

export function checkUsers({ users, rootPassword }: EtcdSpec): void {
  checkPassword(ROOT, rootPassword)
  const names = new Set([ROOT])
  for (const { name, password } of users) {
    if (!/^[a-z\d][\w.-]*$/iu.test(name))
      throw refused(name, 'it has other characters than letters, digits and "_.-"; choose another name')
    if (names.has(name)) throw refused(name, 'the name is taken; choose another one')
    names.add(name)
    checkPassword(name, password)
  }
}

function checkPassword(name: string, password: Secret | undefined): void {
  if (password === undefined) return
  const text = password.reveal()
  if (text === '') throw refused(name, 'its password is empty; give one, or none to have one generated')
  if (/[\s\p{C}]/u.test(text))
    throw refused(name, 'its password has white space or control characters in it; choose another one')
  if (Buffer.byteLength(text) > LONGEST_PASSWORD_BYTES)
    throw refused(name, `its password is longer than ${LONGEST_PASSWORD_BYTES} bytes; choose a shorter one`)
}

function refused(name: string, why: string): HoldfastError {
  return new HoldfastError('EtcdUser', `Cannot make etcd user ${JSON.stringify(name)}: ${why}`)
}
