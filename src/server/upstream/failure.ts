// Why an exchange with an upstream failed, in the words of Go, which CoreDNS logs: operators look for `i/o timeout`, and
// the patterns of `consolidate` match them.

import { messageOf } from '../../lib/errors.ts'
import type { Transport } from './exchange.ts'

/** Nothing came in time. */
export class NoAnswerError extends Error {}

/** Messages came that answer another question or have another id, as from somebody who guesses. */
export class ForgeryError extends Error {}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset by peer',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  EMFILE: 'too many open files',
}

/** `read udp 192.0.2.1:53: i/o timeout` */
export function describeFailure(to: string, transport: Transport, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const words = error instanceof NoAnswerError ? 'i/o timeout' : (WORDS[code] ?? messageOf(error))
  return `read ${transport} ${to}: ${words}`
}
