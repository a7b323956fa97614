// Why a server could not be asked, in a few words for people: no addresses, no names of calls.

import { isSystemError } from './errors.ts'

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'it closes the connection',
  EPIPE: 'it closes the connection',
  EHOSTUNREACH: 'no route to it',
  ENETUNREACH: 'no route to it',
  EHOSTDOWN: 'no route to it',
  ETIMEDOUT: 'no answer',
  UND_ERR_CONNECT_TIMEOUT: 'no answer',
  UND_ERR_SOCKET: 'it closes the connection',
}

/** Undefined when the error, and what caused it, are not about reaching the server. */
export function reachProblem(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined
  if (thrown.name === 'TimeoutError' || thrown.name === 'AbortError') return 'no answer'
  const code = isSystemError(thrown) ? thrown.code : undefined
  if (code !== undefined && Object.hasOwn(WORDS, code)) return WORDS[code]
  if (thrown instanceof AggregateError) return thrown.errors.map(reachProblem).find((word) => word !== undefined)
  return reachProblem(thrown.cause)
}
