// Asks a server everything and holds the answers of two servers against each other.

import { exchangeTcp, exchangeUdp } from '../support/dns-client.ts'
import type { NameServer } from '../support/name-server.ts'
import { agrees, compare, type Rule } from './compare.ts'
import type { Query } from './queries.ts'
import { formatResponse, type Response, responseOf } from './response.ts'
import type { ConformanceZone } from './zones.ts'

export interface Transcript {
  readonly server: string
  /** In the order of the queries. */
  readonly responses: readonly Response[]
}

export interface Verdict {
  readonly a: string
  readonly b: string
  /** How many answers needed each rule. */
  readonly counts: ReadonlyMap<Rule, number>
  /** Indices of the queries whose answers serve a client equally well. */
  readonly agreed: ReadonlySet<number>
  /** A readable account of each difference that no rule covers. */
  readonly unexplained: readonly string[]
}

export async function transcribe(
  server: NameServer,
  zones: readonly ConformanceZone[],
  queries: readonly Query[],
): Promise<Transcript> {
  const running = await server.start(zones)
  try {
    const udp = queries.filter((query) => query.transport === 'udp')
    const tcp = queries.filter((query) => query.transport === 'tcp')
    const answers = new Map([
      ...zip(
        udp,
        await exchangeUdp(
          running.port,
          udp.map((query) => query.bytes),
        ),
      ),
      ...zip(
        tcp,
        await exchangeTcp(
          running.port,
          tcp.map((query) => query.bytes),
        ),
      ),
    ])
    return { server: server.name, responses: queries.map((query) => responseOf(answers.get(query))) }
  } finally {
    await running.stop()
  }
}

function zip<A, B>(left: readonly A[], right: readonly B[]): [A, B][] {
  return left.map((item, index) => [item, right[index]])
}

export function judge(queries: readonly Query[], a: Transcript, b: Transcript, rules: readonly Rule[]): Verdict {
  const counts = new Map<Rule, number>()
  const agreed = new Set<number>()
  const unexplained: string[] = []
  queries.forEach((query, index) => {
    const comparison = compare({ query, a: a.responses[index], b: b.responses[index] }, rules)
    for (const rule of comparison.rules) counts.set(rule, (counts.get(rule) ?? 0) + 1)
    if (agrees(comparison)) agreed.add(index)
    if (comparison.unexplained.length === 0) return
    const fields = [...new Set(comparison.unexplained.map((part) => part.field))].join(', ')
    unexplained.push(
      `${query.label}: ${a.server} and ${b.server} differ in ${fields}\n` +
        `--- ${a.server}\n${formatResponse(a.responses[index])}\n--- ${b.server}\n${formatResponse(b.responses[index])}\n`,
    )
  })
  return { a: a.server, b: b.server, counts, agreed, unexplained }
}

/** One line per rule, one column per pair of servers. */
export function formatVerdicts(verdicts: readonly Verdict[], rules: readonly Rule[], queries: number): string {
  const heads = verdicts.map(({ a, b }) => `${a}/${b}`)
  const row = (title: string, cells: readonly (string | number)[], tail = ''): string =>
    `${title.padEnd(40)}${cells.map((cell, index) => String(cell).padStart(heads[index].length + 2)).join('')}  ${tail}`
  return [
    row(`${queries} queries`, heads),
    row(
      'agreed',
      verdicts.map((verdict) => verdict.agreed.size),
    ),
    row(
      'not covered by a rule',
      verdicts.map((verdict) => verdict.unexplained.length),
    ),
    ...rules
      .filter((rule) => verdicts.some((verdict) => verdict.counts.has(rule)))
      .map((rule) =>
        row(
          `${rule.name} (${rule.kind})`,
          verdicts.map((verdict) => verdict.counts.get(rule) ?? 0),
          rule.rfc,
        ),
      ),
  ].join('\n')
}
