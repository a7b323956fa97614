// The authorities of one stack: who signs and who is trusted now, and what there is to do about it, step by step. Steps
// are written so that one cut short at any point is simply done again.

import { HoldfastError } from '../lib/errors.ts'
import { type Authority, authorityPem, endOf, loadAuthority, validityProblem } from '../pki/authority.ts'
import * as kept from './authority-files.ts'
import {
  type AuthorityStanding,
  type AuthorityStep,
  authorityStanding,
  isSame,
  type KeptAuthorities,
} from './authority-standing.ts'
import type { SecretFiles } from './secret-files.ts'
import type { GivenAuthority } from './stack.ts'

export interface AuthorityOptions {
  readonly stack: string
  readonly authority?: GivenAuthority | undefined
  readonly now: Date
}

const ORGANIZATION = 'Holdfast'

const REASONS: Readonly<Record<AuthorityStep, string>> = {
  make: 'is new',
  adopt: 'has a new certificate',
  introduce: 'is another one: it is trusted first, and signs once everything that runs trusts it',
  switch: 'is another one: it signs from now on',
  withdraw: 'is the former one again',
}

export class Authorities {
  readonly #files: SecretFiles
  readonly #options: AuthorityOptions
  readonly #given: Authority | undefined
  #kept: KeptAuthorities
  #standing: AuthorityStanding

  constructor(files: SecretFiles, options: AuthorityOptions) {
    this.#files = files
    this.#options = options
    this.#given = options.authority && loadGiven(options.authority, options.now)
    this.#kept = kept.loadAuthorities(files, options.now)
    this.#standing = authorityStanding(this.#kept, this.#given, options.now)
    if (this.#standing.step === 'make') refuseReplacement(files)
  }

  get standing(): AuthorityStanding {
    return this.#standing
  }

  /** Why there is something to do, or undefined. */
  get change(): string | undefined {
    const { step } = this.#standing
    if (step === undefined || this.#isIntroduced) return undefined
    return REASONS[this.#kept.current === undefined ? 'make' : step]
  }

  /** Another one takes over in two rounds: everything trusts it before it signs. */
  get takesRounds(): boolean {
    return this.#standing.step === 'introduce'
  }

  /** Roots, PEM, in an order of their own: who signs makes no other text, which etcd would have to be restarted for. Undefined while there is none. */
  get bundle(): string | undefined {
    const { signer, trusted } = this.#standing
    return (
      signer &&
      trusted
        .map(({ root }) => root.toString())
        .toSorted()
        .join('')
    )
  }

  get end(): Date | undefined {
    return this.#standing.signer && endOf(this.#standing.signer)
  }

  /** Why nothing can be signed, or undefined. */
  get problem(): string | undefined {
    const { signer } = this.#standing
    if (signer === undefined) return undefined
    if (signer.key === undefined) return `the key of the authority is not there ("${this.#files.path('ca.key')}")`
    return validityProblem(signer, this.#options.now)?.replace(/^it/u, 'the authority')
  }

  /** Before certificates are issued. */
  async prepare(): Promise<void> {
    const { step } = this.#standing
    const { current, next } = this.#kept
    if (next !== undefined && !isSame(next, this.#given)) {
      await kept.savePrevious(this.#files, next)
      await kept.removeNext(this.#files)
    }
    if (step === 'make') await this.#make()
    if (step === 'adopt' && this.#given) await kept.saveCurrent(this.#files, this.#given, this.#kept)
    if (step === 'introduce' && this.#given && !this.#isIntroduced) await kept.saveNext(this.#files, this.#given, false)
    if (step === 'switch' && current) await kept.savePrevious(this.#files, current)
    this.#look()
  }

  /** After all certificates were issued. */
  async conclude(): Promise<void> {
    if (this.#standing.step !== 'switch' || this.#given === undefined) return
    await kept.saveCurrent(this.#files, this.#given, this.#kept)
    this.#look()
  }

  /** Everything that runs has what is trusted now. True: from here on another one signs. */
  async settle(): Promise<boolean> {
    if (!this.#isIntroduced || this.#given === undefined) return false
    await kept.saveNext(this.#files, this.#given, true)
    this.#look()
    return true
  }

  get #isIntroduced(): boolean {
    const { next } = this.#kept
    return (
      this.#standing.step === 'introduce' &&
      next !== undefined &&
      this.#given !== undefined &&
      authorityPem(next) === authorityPem(this.#given)
    )
  }

  async #make(): Promise<void> {
    const { stack, now } = this.#options
    const { makeAuthority } = await import('../pki/issue.ts')
    const { certificate, key } = await makeAuthority(`${stack} authority`, ORGANIZATION, now)
    await kept.saveMade(this.#files, certificate, key)
  }

  #look(): void {
    this.#kept = kept.loadAuthorities(this.#files, this.#options.now)
    this.#standing = authorityStanding(this.#kept, this.#given, this.#options.now)
  }
}

function loadGiven({ certificate, key }: GivenAuthority, now: Date): Authority {
  const name = 'the given certificate authority'
  const authority = loadAuthority(name, certificate, key)
  const problem = validityProblem(authority, now)
  if (problem !== undefined) throw new HoldfastError('AuthorityInvalid', `Cannot use ${name}: ${problem}`)
  return authority
}

/** Where there are certificates there was an authority: a new one would cut off everything that runs. */
function refuseReplacement(files: SecretFiles): void {
  if (kept.keptCertificates(files).size === 0) return
  const path = files.path('ca.pem')
  throw new HoldfastError('StateInvalid', `Cannot read "${path}": it is not there, but certificates it signed are`, {
    hint: 'Restore it and ca.key from a backup; or give an authority in the stack file',
  })
}
