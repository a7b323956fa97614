// Every error a user can meet: a code from the table in docs/reference/errors.md, a sentence of the
// form `Cannot <action> "<value>": <state>; expected <x>`, and a hint where one helps.

import { getSystemErrorMessage } from 'node:util'

/** Where something is wrong in a file; lines and columns begin at 1. */
export interface Place {
  readonly file: string
  readonly line?: number
  readonly column?: number
}

/** One of several faults that an error lists. */
export interface ErrorProblem {
  /** A line of the error's message. */
  readonly message: string
  readonly place: Place
}

export interface ErrorOptions {
  readonly hint?: string
  readonly retryable?: boolean
  readonly cause?: unknown
  /** Of an error about a file: each fault with its place, in the order of the message's lines. */
  readonly problems?: readonly ErrorProblem[]
}

export class HoldfastError extends Error {
  readonly code: string
  readonly hint: string | undefined
  readonly retryable: boolean
  readonly problems: readonly ErrorProblem[]

  constructor(code: string, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'HoldfastError'
    this.code = code
    this.hint = options.hint
    this.retryable = options.retryable ?? false
    this.problems = options.problems ?? []
  }
}

/** The message of anything that was thrown, without a stack. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** The reason that the system or OpenSSL has, without the paths and places that Node adds. */
export function reasonOf(thrown: unknown): string {
  const { errno, reason } = thrown as NodeJS.ErrnoException & { readonly reason?: unknown }
  if (typeof reason === 'string') return reason
  // Node's own errors have it without the sign.
  return errno === undefined ? messageOf(thrown) : getSystemErrorMessage(-Math.abs(errno))
}

/** An error of the system or of Node, which has a code such as `ECONNREFUSED`. */
export function isSystemError(thrown: unknown): thrown is Error & { readonly code: string } {
  return thrown instanceof Error && typeof (thrown as NodeJS.ErrnoException).code === 'string'
}
