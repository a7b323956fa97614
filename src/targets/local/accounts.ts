// Users of this host by name and number. Only root can give files away and run services as others; for anybody else,
// everything is their own and owners are taken as said.

import { readFileSync } from 'node:fs'
import { HoldfastError } from '../../lib/errors.ts'

export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

export class Accounts {
  readonly #byName: ReadonlyMap<string, Account>
  readonly #byUid: ReadonlyMap<number, Account>

  constructor(table: string = readFileSync('/etc/passwd', 'utf8')) {
    const accounts = table
      .split('\n')
      .map((line) => line.split(':'))
      .filter((fields) => fields.length >= 4)
      .map(([name, , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    this.#byName = new Map(accounts.map((account) => [account.name, account]))
    this.#byUid = new Map(accounts.toReversed().map((account) => [account.uid, account]))
  }

  /** `purpose` completes "Cannot …". */
  find(name: string, purpose: string): Account {
    const account = this.#byName.get(name)
    if (account !== undefined) return account
    throw new HoldfastError('NoSuchUser', `Cannot ${purpose}: there is no user "${name}" on this host`, {
      hint: '"holdfast doctor --fix" makes the users that a stack needs',
    })
  }

  /** Undefined for a user who is not there any more. */
  uidOf(name: string): number | undefined {
    return this.#byName.get(name)?.uid
  }

  /** The number as text for a user who has no name. */
  nameOf(uid: number): string {
    return this.#byUid.get(uid)?.name ?? String(uid)
  }
}
