// Compiles a log format with CoreDNS's placeholders into the list of its parts, each of which writes itself into the
// line. What is not a placeholder is text, braces and all; `{/label}` is metadata, of which only CoreDNS's `log/…`
// exists here.

import { className, rcodeName, typeName } from '../../dns/types.ts'
import { PROTO } from '../stats.ts'
import { ANSWER_CLASS, type AnswerType, type Exchange } from './exchange.ts'
import { type LineBuffer, LONGEST_VALUE } from './line-buffer.ts'

export type Part = (out: LineBuffer, exchange: Exchange) => void

const COMMON =
  '{remote}:{port} - {>id} "{type} {class} {name} {proto} {size} {>do} {>bufsize}" {rcode} {>rflags} {rsize} {duration}'
const COMBINED = `${COMMON} "{>opcode}"`

/** The mnemonics of all types a query is likely to ask for; beyond them a line may cost a string. */
const TYPE_TEXTS: readonly Uint8Array[] = Array.from({ length: 261 }, (_, type) => encode(typeName(type)))
const CLASS_TEXTS: readonly Uint8Array[] = Array.from({ length: 256 }, (_, klass) => encode(className(klass)))
/** Unassigned response codes are printed as numbers. */
const RCODE_TEXTS: readonly Uint8Array[] = Array.from({ length: 24 }, (_, rcode) =>
  encode(rcodeName(rcode).replace(/^RCODE/u, '')),
)
const FLAGS = [
  [0x8000, 'qr'],
  [0x0400, 'aa'],
  [0x0200, 'tc'],
  [0x0100, 'rd'],
  [0x0080, 'ra'],
  [0x0040, 'z'],
  [0x0020, 'ad'],
  [0x0010, 'cd'],
] as const
/** Indexed by qr and the seven flags below the opcode. */
const FLAG_TEXTS: readonly Uint8Array[] = Array.from({ length: 256 }, (_, index) => {
  const word = ((index & 0x80) << 8) | ((index & 0x7f) << 4)
  const names = FLAGS.filter(([bit]) => (word & bit) !== 0).map(([, name]) => name)
  return encode(names.join(','))
})
const ANSWER_TEXTS = Object.fromEntries(
  Object.entries(ANSWER_CLASS).map(([type, name]) => [type, { type: encode(type), class: encode(name) }]),
) as Readonly<Record<AnswerType, { readonly type: Uint8Array; readonly class: Uint8Array }>>
const NONE = encode('-')
const UDP = encode('udp')
const TCP = encode('tcp')
const TRUE = encode('true')
const FALSE = encode('false')
const ROOT = encode('.')

const PARTS: Readonly<Record<string, Part>> = {
  '{type}': (out, exchange) => {
    if (exchange.nameBytes > 0) out.literal(TYPE_TEXTS[exchange.type] ?? encode(typeName(exchange.type)))
  },
  '{class}': (out, exchange) => {
    if (exchange.nameBytes > 0) out.literal(CLASS_TEXTS[exchange.klass] ?? encode(className(exchange.klass)))
  },
  '{name}': (out, exchange) => {
    if (exchange.nameBytes > 0) out.name(exchange.query, 12)
    else out.literal(ROOT)
  },
  '{proto}': (out, exchange) => out.literal(exchange.proto === PROTO.tcp ? TCP : UDP),
  '{size}': (out, exchange) => out.number(exchange.queryBytes),
  '{remote}': (out, exchange) => out.address(exchange.remote),
  '{port}': (out, exchange) => out.number(exchange.port),
  '{rcode}': (out, exchange) => {
    if (exchange.flags === -1) out.literal(NONE)
    else if (exchange.rcode < RCODE_TEXTS.length) out.literal(RCODE_TEXTS[exchange.rcode])
    else out.number(exchange.rcode)
  },
  '{rsize}': (out, exchange) => out.number(exchange.responseBytes),
  '{duration}': (out, exchange) => out.seconds(exchange.seconds),
  '{>id}': (out, exchange) => out.number(exchange.id),
  '{>opcode}': (out, exchange) => out.number(exchange.opcode),
  '{>do}': (out, exchange) => out.literal(exchange.dnssecOk ? TRUE : FALSE),
  '{>bufsize}': (out, exchange) => out.number(exchange.udpBytes),
  '{>rflags}': (out, { flags }) =>
    out.literal(flags === -1 ? NONE : FLAG_TEXTS[((flags >> 8) & 0x80) | ((flags >> 4) & 0x7f)]),
  '{/log/type}': (out, exchange) => out.literal(ANSWER_TEXTS[exchange.answerType].type),
  '{/log/class}': (out, exchange) => out.literal(ANSWER_TEXTS[exchange.answerType].class),
}

export interface Template {
  readonly parts: readonly Part[]
  /** No line is longer. */
  readonly maxBytes: number
}

/** `local` is the address the server listens on. */
export function compileTemplate(format: string, local: string): Template {
  const text = `[INFO] ${format.replaceAll('{common}', COMMON).replaceAll('{combined}', COMBINED)}`
  const parts: Part[] = []
  let literal = ''
  // Of `{ {name} }` the inner braces are the placeholder: hence no brace within.
  for (const piece of text.split(/(\{[^{}]*\})/u)) {
    const part = piece === '{local}' ? literalPart(local.includes(':') ? `[${local}]` : local) : partOf(piece)
    if (part === undefined) {
      literal += piece
      continue
    }
    if (literal !== '') parts.push(literalPart(literal))
    parts.push(part)
    literal = ''
  }
  if (literal !== '') parts.push(literalPart(literal))
  return { parts, maxBytes: encode(text).length + parts.length * LONGEST_VALUE }
}

function partOf(piece: string): Part | undefined {
  if (Object.hasOwn(PARTS, piece)) return PARTS[piece]
  return /^\{\/.*\}$/su.test(piece) ? literalPart('-') : undefined
}

function literalPart(text: string): Part {
  const bytes = encode(text)
  return (out) => out.literal(bytes)
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
