// `any`: minimal answers to ANY (RFC 8482). They are the default here, so the line changes nothing.

import { readArguments, refuseBlock } from '../arguments.ts'
import type { Directive } from './directive.ts'

export const any: Directive = (statement) => {
  readArguments(statement, 'any', 0)
  refuseBlock(statement)
  return { minimalAny: true }
}
