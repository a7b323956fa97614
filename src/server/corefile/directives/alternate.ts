// `alternate [original] RCODE[,RCODE...] FROM TO...`, the third-party plugin of that name: when the answer so far
// has one of the rcodes, these servers are asked instead. `original` only matters where queries get rewritten.

import { rcodeName } from '../../../dns/types.ts'
import { readArguments, readRcode, refuseBlock } from '../arguments.ts'
import type { Token } from '../lexer.ts'
import { reject } from '../problem.ts'
import type { BlockScope, Directive } from './directive.ts'
import { plainForward } from './forward.ts'

const USAGE = 'alternate [original] RCODE[,RCODE...] FROM TO...'

export const alternate: Directive = (statement, scope) => {
  refuseBlock(statement)
  const original = statement.args[0]?.text === 'original'
  const args = readArguments(statement, USAGE, original ? 4 : 3, Infinity).slice(original ? 1 : 0)
  const [codes, from, ...to] = args
  return { alternates: [{ original, rcodes: readRcodes(codes, scope), forward: plainForward(from, to, scope) }] }
}

function readRcodes(token: Token, { above }: BlockScope): number[] {
  const rcodes = token.text.split(',').map((text) => readRcode({ ...token, text }))
  const taken = rcodes.find((rcode) => above.alternates?.some((each) => each.rcodes.includes(rcode)))
  if (taken !== undefined) reject(token, `${rcodeName(taken)} has an alternate already; expected each rcode once`)
  return [...new Set(rcodes)]
}
