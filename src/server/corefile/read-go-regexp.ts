// A regular expression in a Corefile.

import { type GoRegExp, GoRegExpError, goRegExp } from '../../lib/go-regexp.ts'
import type { Token } from './lexer.ts'
import { reject } from './problem.ts'

/** CoreDNS's limit. */
const MAX_LENGTH = 10_000

export function readGoRegExp(token: Token): GoRegExp {
  if (token.text.length > MAX_LENGTH)
    reject(token, `the pattern is too long; expected at most ${MAX_LENGTH} characters`)
  try {
    return goRegExp(token.text)
  } catch (error) {
    if (!(error instanceof GoRegExpError)) throw error
    return reject(token, `"${token.text}" is not a regular expression (${error.message}); expected one in Go syntax`)
  }
}
