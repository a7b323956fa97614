// One question over UDP. Every question gets a socket of its own: a random source port chosen by the kernel and a
// random id, known to nobody else and gone with the answer (RFC 5452). The socket is connected, so the kernel drops
// what comes from other addresses and reports a closed port at once. Other messages are ignored, but a few of them mean
// that somebody guesses: then the question is given up, to be asked over TCP (RFC 5452 section 9.2).

import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import type { UpstreamAddress } from '../config.ts'
import { ForgeryError, NoAnswerError } from './failure.ts'
import { isAnswerTo } from './reply.ts'
import { write16 } from './wire.ts'

/** Every port is used for one question, so not even a late answer to an earlier one ends up here. */
const MOST_WRONG = 3

export class UdpClient {
  readonly #to: UpstreamAddress
  /** Ends each open exchange with an error. */
  readonly #open = new Set<(error: Error) => void>()
  #closed = false

  constructor(to: UpstreamAddress) {
    this.#to = to
  }

  /** Rejects when no answer to `query` (whose id is replaced) comes within the time. */
  ask(query: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    if (this.#closed) return Promise.reject(new Error('the resolver is closed'))
    return new Promise((resolve, reject) => {
      let wrong = 0
      const sent = new Uint8Array(query)
      write16(sent, 0, randomInt(0x10000))
      const socket = createSocket(isIPv6(this.#to.host) ? 'udp6' : 'udp4')
      const end = (): void => {
        clearTimeout(timer)
        if (this.#open.delete(fail)) socket.close()
      }
      const fail = (error: Error): void => {
        end()
        reject(error)
      }
      this.#open.add(fail)
      const timer = setTimeout(() => fail(new NoAnswerError(`no answer by UDP in ${timeoutMs} ms`)), timeoutMs)
      socket.on('error', fail)
      socket.on('message', (message) => {
        if (isAnswerTo(message, sent)) {
          end()
          resolve(message)
        } else if (++wrong >= MOST_WRONG) fail(new ForgeryError('answers to other questions came'))
      })
      socket.on('connect', () => socket.send(sent, (error) => error && fail(error)))
      socket.connect(this.#to.port, this.#to.host)
    })
  }

  close(): void {
    this.#closed = true
    for (const fail of this.#open) fail(new Error('the resolver was closed'))
  }
}
