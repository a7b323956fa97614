// An error on stderr: lines for people, or with --json one line of JSON.

import type { ErrorProblem, HoldfastError } from '../lib/errors.ts'
import { exitCodeOf } from './exit-code.ts'
import { printable } from './table.ts'

/** One line for each line of message and hint; the code is at the end of the message. */
export function errorLines({ code, message, hint = '' }: HoldfastError): string {
  // The help of the command explains wrong usage; the page of errors has nothing to add.
  const shown = code === 'Usage' ? message : `${message} [${code}]`
  const lines = `${shown}\n${hint}`.trimEnd().split('\n')
  return lines.map((line) => `holdfast: ${printable(line)}\n`).join('')
}

/** `{"exitCode":3,"errors":[{"code":…,"message":…,"hint":…,"place":…}]}`, one entry for each fault of a file. */
export function errorJson(error: HoldfastError, exitCode = exitCodeOf(error)): string {
  const { code, hint, retryable, message } = error
  const faults: readonly Partial<ErrorProblem>[] = error.problems.length > 0 ? error.problems : [{ message }]
  const errors = faults.map((fault) => ({ code, message: fault.message, hint, retryable, place: fault.place }))
  return `${JSON.stringify({ exitCode, errors })}\n`
}

/** Whether the command line asks for JSON. */
export function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return argv.slice(0, end === -1 ? argv.length : end).some((word) => word === '--json' || word === '-json')
}
