// Which authority signs the certificates of a stack, and which ones are trusted. Members that run must go on trusting each
// other while they are changed one after the other, so another authority, given by the user, takes over in steps:
//
//   A signs, A is trusted ──▶ A signs, A and B are trusted ──▶ B signs, B and A are trusted ──▶ B signs, B is trusted
//                     introduce                        switch                      when the last certificate
//                 (another one is given)      (B is trusted everywhere)             that A signed has expired

import { type Authority, authorityPem, isSameIssuer, validityProblem } from '../pki/authority.ts'

/** What the stack's directory says. */
export interface KeptAuthorities {
  readonly current: Authority | undefined
  /** Given by the user, but not signing yet. */
  readonly next: Authority | undefined
  readonly isNextTrustedEverywhere: boolean
  /** Certificates of theirs may still be in use. */
  readonly previous: readonly PreviousAuthority[]
}

export interface PreviousAuthority {
  readonly authority: Authority
  readonly until: Date
}

/**
 * `make` a new one for the stack; `adopt` the given one, from the start or with a renewed certificate; `introduce` it; `switch`
 * to it; `withdraw` one that was to come.
 */
export type AuthorityStep = 'make' | 'adopt' | 'introduce' | 'switch' | 'withdraw'

export interface AuthorityStanding {
  readonly step: AuthorityStep | undefined
  /** Signs what is issued; undefined while it has yet to be made. */
  readonly signer: Authority | undefined
  /** Certificates of these are good. */
  readonly accepted: readonly Authority[]
  /** Each once, the first of them signs. */
  readonly trusted: readonly Authority[]
}

export function authorityStanding(kept: KeptAuthorities, given: Authority | undefined, now: Date): AuthorityStanding {
  const { current } = kept
  const signer = given ?? current
  if (current === undefined || signer === undefined) {
    const step = given === undefined ? 'make' : 'adopt'
    return { step, signer, accepted: listOf(signer), trusted: trustedOf(kept, signer) }
  }
  if (isSame(signer, current)) {
    const step = authorityPem(signer) === authorityPem(current) ? withdrawal(kept, given) : 'adopt'
    return { step, signer, accepted: [signer], trusted: trustedOf(kept, signer) }
  }
  if (isTrustedEverywhere(signer, kept) || validityProblem(current, now) !== undefined)
    return { step: 'switch', signer, accepted: [signer], trusted: trustedOf(kept, signer) }
  return {
    step: 'introduce',
    // The key of a former one that was given, too, is not there any more.
    signer: current.key === undefined ? signer : current,
    accepted: [current, signer],
    trusted: trustedOf(kept, current, signer),
  }
}

export function isSame(one: Authority | undefined, other: Authority | undefined): boolean {
  return one !== undefined && other !== undefined && isSameIssuer(one.certificate, other.certificate)
}

function withdrawal({ next }: KeptAuthorities, given: Authority | undefined): 'withdraw' | undefined {
  return next === undefined || isSame(next, given) ? undefined : 'withdraw'
}

function isTrustedEverywhere({ root }: Authority, kept: KeptAuthorities): boolean {
  const next = kept.isNextTrustedEverywhere ? kept.next : undefined
  const trusted = [...listOf(kept.current, next), ...kept.previous.map(({ authority }) => authority)]
  return trusted.some((one) => isSameIssuer(one.root, root))
}

function trustedOf(kept: KeptAuthorities, ...first: readonly (Authority | undefined)[]): Authority[] {
  const all = [...listOf(...first, kept.current, kept.next), ...kept.previous.map(({ authority }) => authority)]
  return all.filter(({ root }, index) => all.findIndex((one) => isSameIssuer(one.root, root)) === index)
}

function listOf(...authorities: readonly (Authority | undefined)[]): Authority[] {
  return authorities.filter((authority) => authority !== undefined)
}
