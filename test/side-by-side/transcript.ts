// Asks a server everything, a few questions at a time: those that search are limited.

import type { Query } from '../conformance/queries.ts'
import { type Response, responseOf } from '../conformance/response.ts'
import { type Answer, exchangeTcp, exchangeUdp } from '../support/dns-client.ts'

/** A question that CoreDNS puts to etcd several times may take its time on a busy machine. */
const OPTIONS = { window: 8, timeoutMs: 5000, attempts: 2 }

/** In the order of the queries. */
export async function askAll(port: number, queries: readonly Query[]): Promise<Response[]> {
  const answers = new Map<Query, Answer>()
  for (const [transport, exchange] of TRANSPORTS) {
    const asked = queries.filter((query) => query.transport === transport)
    const received = await exchange(
      port,
      asked.map(({ bytes }) => bytes),
      OPTIONS,
    )
    for (const [i, query] of asked.entries()) answers.set(query, received[i])
  }
  return queries.map((query) => responseOf(answers.get(query)))
}

const TRANSPORTS = [
  ['udp', exchangeUdp],
  ['tcp', exchangeTcp],
] as const
