// Every error a user can meet: a code from the table in docs/reference/errors.md, a sentence of the
// form `Cannot <action> "<value>": <what is>; <what is wanted>`, and a hint where one helps.

import { getSystemErrorMessage } from 'node:util'

export interface ErrorOptions {
  readonly hint?: string
  readonly retryable?: boolean
  readonly cause?: unknown
}

export class HoldfastError extends Error {
  readonly code: string
  readonly hint: string | undefined
  readonly retryable: boolean

  constructor(code: string, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'HoldfastError'
    this.code = code
    this.hint = options.hint
    this.retryable = options.retryable ?? false
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
