// New passwords are set on a running cluster (roles-step.ts) before Patroni gets to know them. One that stands still would
// be started with passwords that it does not have, and never be ready.

import { HoldfastError } from '../../lib/errors.ts'
import { reveal } from '../../machine/content.ts'
import type { Machine } from '../../machine/machine.ts'
import { PATHS } from './paths.ts'

export function refuseNewPasswords(): never {
  throw new HoldfastError(
    'PostgresStopped',
    "Cannot change the passwords of PostgreSQL's own users: it does not run; bring it up with those it has, then change them",
  )
}

/** `before`: the files of the machine as it exists. */
export function hasNewPasswords({ files }: Machine, before: ReadonlyMap<string, { readonly text: string }>): boolean {
  const wanted = files.find(({ path }) => path === PATHS.passwords)
  const old = before.get(PATHS.passwords)
  return wanted !== undefined && old !== undefined && reveal(wanted.content) !== old.text
}
