// The way to one API server: its address, connections that are kept open, and credentials that are renewed. Configuration
// is read when it is first needed, and again after it was found wanting, so that what is mended on disk is noticed.

import { createHash } from 'node:crypto'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { HoldfastError } from '../lib/errors.ts'
import { type Credentials, credentialsOf, type CredentialSource } from './credentials.ts'
import { findSite } from './find-site.ts'
import type { Environment, Site } from './site.ts'

/** Plain data: it can be handed to a thread. */
export interface KubeOptions {
  /** Path of a kubeconfig; default: those in KUBECONFIG, `~/.kube/config`, or the service account of this pod. */
  readonly kubeconfig?: string
  /** Default: the current context. */
  readonly context?: string
  /** URL of the API server, instead of the configured one. */
  readonly server?: string
}

/** What one request needs. */
export interface Access {
  readonly server: string
  /** Where address and credentials come from, for messages. */
  readonly origin: string
  readonly agent: HttpAgent
  readonly headers: Readonly<Record<string, string>>
}

/** A program that gives credentials may ask its own servers. */
const PATIENCE_MS = 30_000

export function openConnection(options: KubeOptions, env: Environment): KubeConnection {
  return new KubeConnection(options, env)
}

export class KubeConnection {
  readonly #options: KubeOptions
  readonly #env: Environment
  /** For new requests. */
  #agent: { readonly id: string; readonly agent: HttpAgent } | undefined
  /** Those of certificates before, as long as something that was asked with them goes on. */
  readonly #former = new Set<HttpAgent>()
  #site: Promise<Site> | undefined
  #credentials: CredentialSource | undefined
  #opening: Promise<Access> | undefined
  readonly #end = new AbortController()

  constructor(options: KubeOptions, env: Environment) {
    this.#options = options
    this.#env = env
  }

  /** The namespace of the context, or of the pod. */
  async namespace(): Promise<string | undefined> {
    return (await this.#configuration()).namespace
  }

  /** For the next request. Throws where configuration or credentials are not usable. */
  async access(signal?: AbortSignal): Promise<Access> {
    signal?.throwIfAborted()
    // One at a time: a program that gives credentials may be slow, or ask somebody.
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined
    })
    return within(this.#opening, signal)
  }

  /** What is known has been refused; everything is read anew for the next request. */
  forget(): void {
    this.#site = undefined
    this.#credentials = undefined
  }

  close(): void {
    this.#end.abort()
    this.#agent?.agent.destroy()
    this.#agent = undefined
    for (const agent of this.#former) agent.destroy()
    this.#former.clear()
  }

  async #open(): Promise<Access> {
    const site = await this.#configuration()
    this.#credentials ??= credentialsOf(site, this.#end.signal)
    const credentials = await this.#credentials()
    const { server, origin } = site
    return { server, origin, agent: this.#agentFor(site, credentials), headers: credentials.headers }
  }

  #configuration(): Promise<Site> {
    if (this.#site === undefined) {
      const reading = findSite(this.#options, this.#env)
      this.#site = reading
      reading.catch(() => this.forget())
    }
    return this.#site
  }

  /** Connections are shared as long as the certificates stay the same. */
  #agentFor(site: Site, credentials: Credentials): HttpAgent {
    const { server, proxyUrl, trust } = site
    const { ca, insecure, serverName } = trust
    const material = [server, proxyUrl, insecure, serverName, ca, credentials.cert, credentials.key].map(String)
    const id = createHash('sha256').update(JSON.stringify(material)).digest('base64')
    if (this.#agent?.id === id) return this.#agent.agent
    if (this.#agent !== undefined) this.#former.add(this.#agent.agent)
    for (const former of this.#former) {
      closeUnused(former)
      if (!isInUse(former)) this.#former.delete(former)
    }
    const agent = newAgent(site, credentials)
    this.#agent = { id, agent }
    return agent
  }
}

function newAgent({ server, trust }: Site, { cert, key, agent }: Credentials): HttpAgent {
  if (agent !== undefined) return agent
  if (server.startsWith('http:')) return new HttpAgent({ keepAlive: true })
  const { ca, insecure, serverName } = trust
  const name = serverName === undefined ? {} : { servername: serverName }
  return new HttpsAgent({ keepAlive: true, ca, cert, key, rejectUnauthorized: !insecure, ...name })
}

/** Connections that are in use are closed by the agent when they no longer are. */
function closeUnused(agent: HttpAgent): void {
  agent.maxFreeSockets = 0
  for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy()
}

function isInUse(agent: HttpAgent): boolean {
  return Object.keys(agent.sockets).length > 0
}

/** What was begun goes on for others who wait for it; this caller waits no longer. */
async function within<T>(begun: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const late = () => {
    const text = `Cannot get credentials: there were none within ${PATIENCE_MS / 1000} s; see whether the program that the kubeconfig names hangs`
    reject(new HoldfastError('KubeCredentials', text, { retryable: true }))
  }
  const timer = setTimeout(late, PATIENCE_MS)
  const abort = () => reject(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([begun, promise])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}
