// One attempt of a call on one member that did not succeed, and what follows from it: may another member be asked, is
// a new token needed, was the request certainly not executed? A write is repeated only when it certainly was not.

import type { Endpoint } from './endpoint.ts'

/**
 * `unreachable`: there was no connection, so nothing was sent. `refused`: the member did not let us log in, or took the
 * request back unprocessed (HTTP/2 REFUSED_STREAM). `lost`: the connection broke after it was sent. `silent`: no answer
 * in time. `status`: the member answered with an error.
 */
export type FailureKind = 'unreachable' | 'refused' | 'lost' | 'silent' | 'status'

export class CallFailure extends Error {
  readonly kind: FailureKind
  readonly endpoint: Endpoint
  /** A gRPC status code, where `kind` is `status`; else 0. */
  readonly status: number

  constructor(
    kind: FailureKind,
    endpoint: Endpoint,
    message: string,
    options: { cause?: unknown; status?: number } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'CallFailure'
    this.kind = kind
    this.endpoint = endpoint
    this.status = options.status ?? 0
  }
}

const CANCELLED = 1
const UNKNOWN = 2
const DEADLINE_EXCEEDED = 4
const INTERNAL = 13
const UNAVAILABLE = 14

/** Whether the same request may be sent again; `repeatable` says that executing it twice does no harm. */
export function mayRetry(failure: CallFailure, repeatable: boolean): boolean {
  if (failure.kind === 'unreachable' || failure.kind === 'refused') return true
  return isUnexecuted(failure.message) || (repeatable && isOutcomeUnknown(failure))
}

/** Whether a member's answer means that it did nothing, and that it or another may do it in a moment. */
function isUnexecuted(message: string): boolean {
  return /no leader|too many requests|not supported for learner|revision of auth store is old/u.test(message)
}

/** The token is unknown to this member (it was restarted, or the token is too old), or older than a change of rights. */
export function isTokenRefused(failure: CallFailure): boolean {
  return /invalid auth token|revision of auth store is old|user name is empty/u.test(failure.message)
}

export function isAuthDisabled(failure: CallFailure): boolean {
  return /authentication is not enabled/u.test(failure.message)
}

/** The revision asked for is no longer kept, or (in a cluster restored from a backup) does not exist yet. */
export function isHistoryGone(failure: CallFailure): boolean {
  return /required revision (?:has been compacted|is a future revision)/u.test(failure.message)
}

/** Whether a write was executed cannot be known. */
export function isOutcomeUnknown(failure: CallFailure): boolean {
  if (failure.kind === 'lost' || failure.kind === 'silent') return true
  return failure.kind === 'status' && isIndefinite(failure.status) && !isUnexecuted(failure.message)
}

/** Statuses of a member that was interrupted, in contrast to those of one that decided something. */
function isIndefinite(status: number): boolean {
  return [CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, INTERNAL, UNAVAILABLE].includes(status)
}
