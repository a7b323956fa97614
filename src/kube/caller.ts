// Brings a request to the API server: refused credentials are renewed once, a server that is busy is waited for as it
// asks, and what cannot be done is explained in one line.

import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeConnection } from './connection.ts'
import { type Answer, type Call, readAll, send, TransportFailure } from './exchange.ts'
import { explainStatus, type Task } from './failure.ts'
import { explainTransport } from './transport-failure.ts'

/** How often a request is repeated that the server asks to repeat later, and how long that is waited for. */
const MOST_DEFERRALS = 5
const LONGEST_DEFERRAL_MS = 30_000

export class Caller {
  readonly #connection: KubeConnection

  constructor(connection: KubeConnection) {
    this.#connection = connection
  }

  /** What `read` makes of an answer that is a success. `what` is being done, for errors: `list services`. */
  async ask<T>(call: Call, what: string, read: (answer: Answer, task: Task) => Promise<T>): Promise<T> {
    let renewed = false
    for (let deferrals = 0; ; ) {
      const task = { what, path: call.path, access: await this.#connection.access(call.signal) }
      try {
        const answer = await this.#send(task, call)
        if (answer.status < 300) return await read(answer, task)
        const body = await readAll(answer)
        if (answer.status === 401 && !renewed) {
          renewed = true
          this.#connection.forget()
        } else if (isDeferred(answer) && deferrals < MOST_DEFERRALS) {
          deferrals++
          await pause(answer.retryAfterMs, call.signal)
        } else {
          throw explainStatus(task, answer.status, body)
        }
      } catch (error) {
        throw error instanceof TransportFailure ? explainTransport(task, error) : error
      }
    }
  }

  async #send({ access }: Task, call: Call): Promise<Answer> {
    try {
      return await send(access, call)
    } catch (error) {
      if (!(error instanceof TransportFailure)) throw error
      if (error.stale && call.method === 'GET') return send(access, call)
      // Certificates may be mended on disk by the next time.
      this.#connection.forget()
      throw error
    }
  }
}

function isDeferred(answer: Answer): answer is Answer & { readonly retryAfterMs: number } {
  return (answer.status === 429 || answer.status === 503) && answer.retryAfterMs !== undefined
}

/** A little longer than asked: others have been sent away, too. */
async function pause(askedMs: number, signal: AbortSignal | undefined): Promise<void> {
  const pauseMs = Math.min(askedMs, LONGEST_DEFERRAL_MS) * (1 + Math.random() / 4)
  await sleep(pauseMs, undefined, signal === undefined ? {} : { signal })
}
