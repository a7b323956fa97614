// Compares two servers' answers to one query. Everything that differs is broken into parts (a header field, an EDNS
// option, a single record in one section), and each part must be covered by a named rule; what no rule covers is a
// failure. Two answers agree when only rules about optional data were needed.

import type { Message, ResourceRecord } from '../../src/dns/message.ts'
import { equalNames } from '../../src/dns/name.ts'
import { TYPE } from '../../src/dns/types.ts'
import type { Query } from './queries.ts'
import { recordLine, type Response } from './response.ts'

export type Section = 'answers' | 'authorities' | 'additionals'

export type Part =
  | { readonly field: 'rcode' | 'opcode' | 'question' | 'edns' | 'aliasOrder' | 'presence' | (typeof FLAGS)[number] }
  | { readonly field: 'option'; readonly code: number }
  | { readonly field: Section; readonly record: ResourceRecord }

export interface Pair {
  readonly query: Query
  readonly a: Response
  readonly b: Response
}

export interface Rule {
  readonly name: string
  readonly rfc: string
  readonly reason: string
  /** `optional`: a client is served as well either way. `choice`: the servers decided differently, and both may. */
  readonly kind: 'optional' | 'choice'
  readonly covers: (part: Part, pair: Pair) => boolean
}

export interface Comparison {
  readonly rules: ReadonlySet<Rule>
  readonly unexplained: readonly Part[]
}

const FLAGS = ['qr', 'aa', 'tc', 'rd', 'ra', 'z', 'ad', 'cd'] as const
const SECTIONS: readonly Section[] = ['answers', 'authorities', 'additionals']

export function compare(pair: Pair, rules: readonly Rule[]): Comparison {
  const used = new Set<Rule>()
  const unexplained: Part[] = []
  for (const part of differences(pair.a, pair.b)) {
    const covering = rules.filter((rule) => rule.covers(part, pair))
    const rule = covering.find((each) => each.kind === 'optional') ?? covering[0]
    if (rule === undefined) unexplained.push(part)
    else used.add(rule)
  }
  return { rules: used, unexplained }
}

/** Whether the two serve a client equally well. */
export function agrees(comparison: Comparison): boolean {
  return comparison.unexplained.length === 0 && [...comparison.rules].every((rule) => rule.kind === 'optional')
}

export function isMessage(response: Response): response is Message {
  return response !== 'silence' && !('malformed' in response)
}

function differences(a: Response, b: Response): Part[] {
  if (!isMessage(a) || !isMessage(b)) return JSON.stringify(a) === JSON.stringify(b) ? [] : [{ field: 'presence' }]
  const parts: Part[] = []
  for (const field of [...FLAGS, 'rcode', 'opcode'] as const) if (a[field] !== b[field]) parts.push({ field })
  if (questionLine(a) !== questionLine(b)) parts.push({ field: 'question' })
  if (inOrder(a) !== inOrder(b)) parts.push({ field: 'aliasOrder' })
  for (const field of SECTIONS) {
    const inA = new Set(a[field].map(recordLine))
    const inB = new Set(b[field].map(recordLine))
    for (const record of a[field]) if (!inB.has(recordLine(record))) parts.push({ field, record })
    for (const record of b[field]) if (!inA.has(recordLine(record))) parts.push({ field, record })
  }
  if (ednsLine(a) !== ednsLine(b)) parts.push({ field: 'edns' })
  const codes = [optionCodes(a), optionCodes(b)]
  for (const code of new Set(codes.flat()))
    if (!codes.every((each) => each.includes(code))) parts.push({ field: 'option', code })
  return parts
}

function questionLine(message: Message): string {
  return message.questions.map((q) => `${Buffer.from(q.name).toString('hex')} ${q.type} ${q.klass}`).join()
}

/** Whether each alias leads to the next, as a client walking the answer once expects (RFC 1034 section 4.3.2). */
export function inOrder(message: Message): boolean {
  const chain = message.answers.filter((record) => record.type === TYPE.CNAME)
  return chain.every((record, index) => index === 0 || equalNames(chain[index - 1].rdata, record.name))
}

function ednsLine(message: Message): string {
  return message.edns === undefined ? 'none' : `version ${message.edns.version} do ${message.edns.do}`
}

function optionCodes(message: Message): number[] {
  return message.edns?.options.map((option) => option.code) ?? []
}
