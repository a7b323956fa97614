// The query log in CoreDNS's format. The first `log` rule whose name covers the question decides: it writes one line,
// or none when the answer is not of its classes. Lines are formatted on the thread that answered, straight from the
// bytes of query and answer; a batch's lines then travel to the main thread as one piece (query-log/carrier.ts).
//
// Where it differs from CoreDNS: {rsize} is the size that was sent, {local} the address listened on, {duration} always
// has nine decimals, and signatures are not checked for having expired before an answer counts as `success`.

import { lowerName, parseName } from '../dns/name.ts'
import type { LogConfig } from './config.ts'
import { ANSWER_CLASS, Exchange } from './query-log/exchange.ts'
import type { LineBuffer } from './query-log/line-buffer.ts'
import { compileTemplate, type Template } from './query-log/template.ts'

interface Rule {
  /** Lower case. */
  readonly name: Uint8Array
  readonly classes: ReadonlySet<string>
  readonly template: Template
}

export class QueryLog {
  readonly #rules: readonly Rule[]
  readonly #exchange = new Exchange()

  /** `local` is the address the server listens on, for {local}; `::` when it is every address. */
  constructor(config: readonly LogConfig[], local: string) {
    this.#rules = config.flatMap(({ names, format, classes }) => {
      const template = compileTemplate(format, local)
      return names.map((name) => ({ name: lowerName(parseName(name)), classes: new Set(classes), template }))
    })
  }

  /** Adds the line for one query. `remote` has 4 or 16 bytes, `proto` is one of PROTO; no answer has 0 bytes. */
  append(
    out: LineBuffer,
    query: Uint8Array,
    queryBytes: number,
    response: Uint8Array,
    responseBytes: number,
    remote: Uint8Array,
    port: number,
    proto: number,
    seconds: number,
  ): void {
    const exchange = this.#exchange
    exchange.read(query, queryBytes, response, responseBytes, proto)
    exchange.remote = remote
    exchange.port = port
    exchange.seconds = seconds
    for (const rule of this.#rules) {
      if (!covers(rule.name, exchange)) continue
      if (rule.classes.has('all') || rule.classes.has(ANSWER_CLASS[exchange.answerType])) {
        out.beginLine(rule.template.maxBytes)
        for (const part of rule.template.parts) part(out, exchange)
        out.endLine()
      }
      return
    }
  }
}

/** True when the name asked for is `name` or below it. A query without a question counts as one for the root. */
function covers(name: Uint8Array, { query, nameBytes }: Exchange): boolean {
  if (name.length === 1) return true
  const skip = 12 + nameBytes - name.length
  let at = 12
  while (at < skip) at += query[at] + 1
  if (at !== skip) return false
  for (let i = 0; i < name.length; i++) {
    const byte = query[at + i]
    if (byte !== name[i] && (byte < 0x41 || byte > 0x5a || (byte | 0x20) !== name[i])) return false
  }
  return true
}
