// Why an API server could not be asked: it is not there, or one side does not trust the other.

import type { PeerCertificate } from 'node:tls'
import { HoldfastError } from '../lib/errors.ts'
import type { TransportFailure } from './exchange.ts'
import type { Task } from './failure.ts'

export function explainTransport({ what, access }: Task, failure: TransportFailure): HoldfastError {
  const { server, origin } = access
  const code = codeOf(failure.cause)
  const theirs = trustProblem(code, failure)
  if (theirs !== undefined) {
    const text = `Cannot ${what}: the certificate of the API server at "${server}" ${theirs} (${origin})`
    return new HoldfastError('KubeUntrusted', text, { cause: failure })
  }
  const ours = ownProblem(code, failure)
  if (ours !== undefined)
    return new HoldfastError('KubeCredentials', `Cannot ${what}: ${ours} (${origin})`, { cause: failure })
  const text = `Cannot ${what}: the API server at "${server}" ${reasonOf(code, failure)}; see whether it runs, and whether the address is right`
  return new HoldfastError('KubeUnreachable', text, { cause: failure, retryable: true })
}

function reasonOf(code: string, { silent, message }: TransportFailure): string {
  if (silent) return 'does not answer'
  if (code === 'ECONNREFUSED') return 'refuses connections'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'has a host name that is not known'
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH') return 'cannot be reached, as there is no route to it'
  if (code === 'ETIMEDOUT') return 'does not answer'
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'closed the connection'
  if (code === 'EPROTO' || code.startsWith('ERR_SSL')) return 'does not speak TLS (without TLS it would be http://)'
  return `cannot be asked (${oneLine(message)})`
}

/** Continues `the certificate of the API server`. */
function trustProblem(code: string, { cause }: TransportFailure): string | undefined {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const names = (cause as { readonly cert?: PeerCertificate }).cert?.subjectaltname ?? 'nobody'
    return `is not for that host but for ${names}; expected one of these as server or tls-server-name`
  }
  if (code === 'CERT_HAS_EXPIRED') return 'has expired; expected a valid one'
  if (code === 'CERT_NOT_YET_VALID') return 'is not valid yet; check the clocks'
  if (/SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY|DECRYPT)|CERT_(?:SIGNATURE|UNTRUSTED|REJECTED|CHAIN)|INVALID_CA/u.test(code))
    return 'is signed by an authority that is not trusted; expected its certificate-authority'
  return undefined
}

function ownProblem(code: string, { message }: TransportFailure): string | undefined {
  if (code.includes('ALERT'))
    return 'the API server refuses the client certificate; expected one that its authority has signed'
  if (!code.startsWith('ERR_OSSL')) return undefined
  return `certificates or keys cannot be used (${oneLine(message)}); expected such in PEM form`
}

function codeOf(cause: unknown): string {
  const { code } = (cause ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' ? code : ''
}

/** OpenSSL's messages have line breaks. */
function oneLine(message: string): string {
  return message.replaceAll(/\s+/gu, ' ').trim()
}
