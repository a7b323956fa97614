// How many queries may wait for an answer from elsewhere; clients share the places fairly.
//
// Repeats of one question share one exchange and cost little. A forwarder, a NAT or an office network repeats a popular
// name many times while one exchange is under way, and all of these queries need an answer. Only while places are scarce
// does the server drop the repeats of a client over UDP beyond a few.

import { clientNetwork } from './client-network.ts'
import { mayTakePlace } from './fair-share.ts'

const MOST_WAITING = 8000
/** One client alone takes fewer places than that, so it cannot make places scarce for others. */
const SCARCE_FROM = MOST_WAITING / 2
const REPEATS_WHEN_SCARCE = 10

interface WaitingClient {
  places: number
  /** How many of them are over UDP, by question. */
  readonly questions: Map<string, number>
}

/** One place; it is given back once. */
export interface Place {
  leave(): void
}

export class WaitingPlaces {
  droppedTotal = 0
  #taken = 0
  readonly #clients = new Map<string, WaitingClient>()

  get taken(): number {
    return this.#taken
  }

  /** Undefined when the query is to be dropped. `question` is equal for queries that one answer serves. */
  take(client: { readonly address: string; readonly transport: 'udp' | 'tcp' }, question: string): Place | undefined {
    const network = clientNetwork(client.address)
    const known = this.#clients.get(network)
    const waiting = known ?? { places: 0, questions: new Map<string, number>() }
    const counts = client.transport === 'udp'
    const repeats = counts ? (waiting.questions.get(question) ?? 0) : 0
    const repeatsTooOften = repeats >= REPEATS_WHEN_SCARCE && this.#taken >= SCARCE_FROM
    if (repeatsTooOften || !mayTakePlace(waiting.places, this.#taken, MOST_WAITING)) {
      this.droppedTotal++
      return undefined
    }
    this.#taken++
    waiting.places++
    if (counts) waiting.questions.set(question, repeats + 1)
    if (known === undefined) this.#clients.set(network, waiting)
    return { leave: () => this.#leave(network, waiting, counts ? question : undefined) }
  }

  #leave(network: string, waiting: WaitingClient, question: string | undefined): void {
    this.#taken--
    waiting.places--
    if (question !== undefined) {
      const left = (waiting.questions.get(question) ?? 1) - 1
      if (left === 0) waiting.questions.delete(question)
      else waiting.questions.set(question, left)
    }
    if (waiting.places === 0) this.#clients.delete(network)
  }
}
