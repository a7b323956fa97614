// What the exit code says: 0 done, 1 failed, 2 wrong usage, 3 invalid input file, 4 changes found; after a signal, what
// a shell makes of it: 128 and the number of the signal.

import type { HoldfastError } from '../lib/errors.ts'

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  invalidInput: 3,
  changes: 4,
  interrupted: 130,
  terminated: 143,
} as const

/** Codes of errors in a file that the user wrote. */
const INVALID_INPUT: ReadonlySet<string> = new Set([
  'CorefileInvalid',
  'NamesInvalid',
  'PublishConfigInvalid',
  'StackInvalid',
  'AuthorityInvalid',
  'CertificateNameInvalid',
  'ImageListInvalid',
])

/** Codes of errors in flags and variables. */
const WRONG_USAGE: ReadonlySet<string> = new Set(['Usage', 'SelectorInvalid', 'TemplateInvalid', 'KubevirtInvalid'])

export function exitCodeOf({ code }: HoldfastError): number {
  if (WRONG_USAGE.has(code)) return EXIT.usage
  if (code === 'Interrupted') return EXIT.interrupted
  return INVALID_INPUT.has(code) ? EXIT.invalidInput : EXIT.failed
}

/**
 * The exit code of a command that a signal ended. A server is stopped by SIGTERM when its work is over: service managers
 * expect 0 from it then.
 */
export function exitCodeAfter(reason: unknown, code: number, isServer: boolean): number {
  if (reason === 'SIGINT') return EXIT.interrupted
  return reason === 'SIGTERM' && !isServer ? EXIT.terminated : code
}
