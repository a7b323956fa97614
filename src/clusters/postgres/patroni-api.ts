// Patroni's REST API of one member: what it says of itself and of the cluster, and what it can be told to do. Every call
// has its own connection and a deadline; a member that hangs is as good as one that is gone.

import { request } from 'node:https'
import { HoldfastError, reasonOf } from '../../lib/errors.ts'
import type { PatroniCredentials } from './access.ts'
import { PATRONI_PORT } from './spec.ts'

/** What Patroni wrote into etcd about a member. */
export interface PatroniMember {
  readonly name: string
  readonly role: 'leader' | 'standby_leader' | 'sync_standby' | 'quorum_standby' | 'replica'
  /** `running` (`streaming` with later versions for replicas), `creating replica`, `starting`, `stopped` … */
  readonly state: string
  readonly host?: string
}

/** What a member says of itself. */
export interface PatroniStatus {
  readonly state: string
  /** PostgreSQL takes writes (`master` until version 4) or follows. */
  readonly role: 'master' | 'primary' | 'replica' | 'uninitialized'
  /** 150018 */
  readonly server_version?: number
  readonly xlog?: { readonly location?: number; readonly replayed_location?: number }
  readonly pending_restart?: boolean
  /** Where data is that pg_rewind could not repair or that was copied again (programs/replace_data.py). */
  readonly data_kept_aside?: string
  /** Its data cannot be used any more; Patroni replaces it as soon as there is a leader and enough room. */
  readonly rewind_failed?: boolean
  /** Of one that failed to start: bytes that are missing to keep its data next to a copy; at most 0 when it can be kept. */
  readonly room_missing?: number
  /** Of a primary: who follows it. */
  readonly replication?: readonly { readonly application_name: string; readonly state: string }[]
}

export interface PatroniSharedConfig {
  readonly synchronous_mode?: boolean
  readonly postgresql?: { readonly parameters?: Readonly<Record<string, unknown>> | null } | null
}

const QUESTION_TIMEOUT_MS = 5000
/** Patroni answers when it is done: a restart takes a checkpoint, a switchover two loops and a promotion. */
const COMMAND_TIMEOUT_MS = 180_000

interface Call {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: unknown
  readonly timeoutMs: number
}

export class PatroniApi {
  readonly #address: string
  readonly #credentials: PatroniCredentials

  constructor(address: string, credentials: PatroniCredentials) {
    this.#address = address
    this.#credentials = credentials
  }

  /** The members that the cluster has in etcd, read by this one. */
  async members(signal: AbortSignal): Promise<readonly PatroniMember[]> {
    const { members } = (await this.#ask('/cluster', signal)) as { readonly members: readonly PatroniMember[] }
    return members
  }

  async status(signal: AbortSignal): Promise<PatroniStatus> {
    return (await this.#ask('/patroni', signal)) as PatroniStatus
  }

  /** What members share, as etcd has it. */
  async config(signal: AbortSignal): Promise<PatroniSharedConfig> {
    return (await this.#ask('/config', signal)) as PatroniSharedConfig
  }

  /** Restarts PostgreSQL; it runs again when this resolves. */
  restart(signal: AbortSignal): Promise<void> {
    return this.#tell('/restart', {}, signal)
  }

  /** Copies the data of the leader again, instead of what it does right now. Patroni refuses for the leader itself and without one. */
  reinitialize(signal: AbortSignal): Promise<void> {
    return this.#tell('/reinitialize', { force: true }, signal)
  }

  /** Another member leads when this resolves: the candidate, or whichever Patroni finds best. */
  switchover(leader: string, candidate: string | undefined, signal: AbortSignal): Promise<void> {
    return this.#tell('/switchover', { leader, candidate }, signal)
  }

  async #ask(path: string, signal: AbortSignal): Promise<unknown> {
    const text = await this.#call({ method: 'GET', path, timeoutMs: QUESTION_TIMEOUT_MS }, signal)
    try {
      return JSON.parse(text)
    } catch {
      throw this.#refused(path, `it answers "${text.slice(0, 80)}"; expected JSON`)
    }
  }

  async #tell(path: string, body: unknown, signal: AbortSignal): Promise<void> {
    await this.#call({ method: 'POST', path, body, timeoutMs: COMMAND_TIMEOUT_MS }, signal)
  }

  async #call({ method, path, body, timeoutMs }: Call, signal: AbortSignal): Promise<string> {
    const { ca, certificate, key, username, password } = this.#credentials
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
    const sent = request({
      host: this.#address,
      port: PATRONI_PORT,
      method,
      path,
      ca,
      cert: certificate,
      key: key.reveal(),
      auth: `${username}:${password.reveal()}`,
      agent: false,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    sent.once('error', reject)
    sent.once('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.once('error', reject)
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.end(body === undefined ? undefined : JSON.stringify(body))
    const { status, text } = await promise.catch((error: unknown) => {
      signal.throwIfAborted()
      throw this.#unreachable(isAbort(error) ? `no answer within ${timeoutMs / 1000} s` : reasonOf(error), error)
    })
    if (status >= 400) throw this.#refused(path, text.trim() || `status ${status}`)
    return text
  }

  #unreachable(reason: string, cause: unknown): HoldfastError {
    const url = `https://${this.#address}:${PATRONI_PORT}`
    return new HoldfastError('PatroniUnreachable', `Cannot ask Patroni at "${url}": ${reason}`, {
      cause,
      retryable: true,
    })
  }

  #refused(path: string, reason: string): HoldfastError {
    const url = `https://${this.#address}:${PATRONI_PORT}${path}`
    return new HoldfastError('PatroniRefused', `Cannot use Patroni at "${url}": ${reason}`, { retryable: true })
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError')
}
