// Why a call could not be done, as one line that names the endpoint or key and says what to do. Several members may
// have failed for several reasons: the most telling one is told.

import { HoldfastError } from '../lib/errors.ts'
import { type CallFailure, isOutcomeUnknown, mayRetry } from './failure.ts'
import type { EtcdOptions } from './options.ts'

/** What was to be done: `read "/zones/"`; and whether doing it twice would do no harm. */
export interface Task {
  readonly what: string
  readonly repeatable: boolean
}

export function explain(failures: readonly CallFailure[], task: Task, options: EtcdOptions): HoldfastError {
  const { what } = task
  const unknown = failures.findLast(isOutcomeUnknown)
  // That a write may have been executed counts more than what other members answered.
  if (unknown !== undefined && !task.repeatable) return explainSilence(unknown, task)
  const answered = failures.findLast((failure) => failure.kind === 'status' && !isOutcomeUnknown(failure))
  if (answered !== undefined) return explainStatus(answered, what, options)
  if (unknown !== undefined) return explainSilence(unknown, task)
  for (const failure of failures.toReversed()) {
    const problem = trustProblem(failure, options)
    if (problem !== undefined)
      return new HoldfastError('EtcdUntrusted', `Cannot ${what}: ${problem}`, { cause: failure })
  }
  return explainUnreachable(failures, what)
}

function explainStatus(failure: CallFailure, what: string, { username }: EtcdOptions): HoldfastError {
  const { message, endpoint } = failure
  if (/authentication failed|invalid auth token/u.test(message)) {
    const text = `Cannot log in to etcd at "${endpoint.url}" as "${username}": the user or the password is wrong; give others`
    return new HoldfastError('EtcdWrongPassword', text, { cause: failure })
  }
  if (/user name is empty/u.test(message)) {
    const text = `Cannot ${what}: etcd at "${endpoint.url}" wants to know the user; give a user name and a password`
    return new HoldfastError('EtcdWrongPassword', text, { cause: failure })
  }
  if (/permission denied/u.test(message)) {
    const who = username === undefined ? 'the user of the client certificate' : `user "${username}"`
    const text = `Cannot ${what}: ${who} has no permission for that in etcd; give the user a role that has`
    return new HoldfastError('EtcdForbidden', text, { cause: failure })
  }
  if (/no leader/u.test(message)) {
    const text = `Cannot ${what}: etcd at "${endpoint.url}" has no leader; a majority of the members has to be up`
    return new HoldfastError('EtcdUnreachable', text, { cause: failure, retryable: true })
  }
  if (/space exceeded/u.test(message)) {
    const text = `Cannot ${what}: etcd at "${endpoint.url}" has no space left; compact and defragment it, then disarm its alarm`
    return new HoldfastError('EtcdFailed', text, { cause: failure, retryable: true })
  }
  const retryable = mayRetry(failure, false)
  return new HoldfastError('EtcdFailed', `Cannot ${what}: etcd says "${bare(message)}"`, { cause: failure, retryable })
}

function explainSilence(failure: CallFailure, { what, repeatable }: Task): HoldfastError {
  const { message, endpoint, kind } = failure
  const reason = kind === 'status' ? `it says "${bare(message)}"` : oneLine(message)
  const advice = repeatable ? 'try again' : 'it may be done or not, so look before trying again'
  const text = `Cannot ${what}: no result from etcd at "${endpoint.url}" (${reason}); ${advice}`
  return new HoldfastError('EtcdTimeout', text, { cause: failure, retryable: true })
}

function explainUnreachable(failures: readonly CallFailure[], what: string): HoldfastError {
  const reasons = Map.groupBy(failures, unreachableReason)
  const told = [...reasons].map(([reason, group]) => {
    const urls = new Set(group.map(({ endpoint }) => `"${endpoint.url}"`))
    return `etcd at ${[...urls].join(', ')} ${reason}`
  })
  const advice = 'see whether it runs, and whether the endpoints are right'
  const text = `Cannot ${what}: ${told.join(', ')}; ${advice}`
  return new HoldfastError('EtcdUnreachable', text, { cause: failures.at(-1), retryable: true })
}

/** Continues `etcd at "url"`. */
function unreachableReason({ kind, message, cause, endpoint }: CallFailure): string {
  const code = codeOf(cause)
  if (code === 'ECONNREFUSED') return 'refuses connections'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'has a host name that is not known'
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH') return 'cannot be reached, as there is no route to it'
  if (/within \d+ ms/u.test(message)) return 'does not answer'
  if (kind === 'refused') return `takes no calls (${bare(oneLine(message))})`
  if (endpoint.secure) return 'closes the connection instead of speaking TLS (without TLS it would be http://)'
  return 'closes the connection without a greeting (with TLS it would be https://)'
}

/** What is wrong with a certificate, theirs or ours, and what to do. */
function trustProblem({ cause, message, endpoint }: CallFailure, { tls }: EtcdOptions): string | undefined {
  const code = codeOf(cause)
  const theirs = `the certificate of etcd at "${endpoint.url}"`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const wanted = tls?.serverName ?? endpoint.host
    const names = /.*(?:altnames|list): (.+)$/u.exec(message)?.[1] ?? 'nobody'
    return `${theirs} is not for "${wanted}" but for ${names}; take one of these as endpoint or as server name`
  }
  if (code === 'CERT_HAS_EXPIRED') return `${theirs} has expired; renew it`
  if (code === 'CERT_NOT_YET_VALID') return `${theirs} is not valid yet; check the clocks`
  if (
    /SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY|DECRYPT)|CERT_(?:SIGNATURE|UNTRUSTED|REJECTED|CHAIN)|INVALID_CA/u.test(code)
  ) {
    const trusted = tls?.caFile === undefined ? 'no CA file is given' : `not by one in "${tls.caFile}"`
    return `${theirs} is signed by an authority that is not trusted (${trusted}); give the CA file of that cluster`
  }
  if (/ALERT_(?:BAD_CERTIFICATE|CERTIFICATE|UNKNOWN_CA|UNSUPPORTED_CERTIFICATE|NO_CERTIFICATE|ACCESS)/u.test(code)) {
    if (tls?.certFile === undefined) return `etcd at "${endpoint.url}" wants a client certificate; give one and its key`
    return `etcd at "${endpoint.url}" refuses the client certificate "${tls.certFile}"; give one that its authority has signed`
  }
  if (code.startsWith('ERR_OSSL')) {
    const files = `"${tls?.certFile}" and "${tls?.keyFile}"`
    return `the client certificate and key in ${files} cannot be used (${oneLine(message)}); give a pair in PEM form`
  }
  return undefined
}

function codeOf(cause: unknown): string {
  const { code } = (cause ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' ? code : ''
}

/** Without the parts that say only where it comes from. */
function bare(message: string): string {
  return message.replace(/^(?:rpc error: code = \w+ desc = )?(?:etcdserver: )?/u, '')
}

/** OpenSSL's messages have line breaks, and thread numbers before the colon that begins them. */
function oneLine(message: string): string {
  return message.replaceAll(/\s+/gu, ' ').trim()
}
