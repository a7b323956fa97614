// Makes one HTTP/2 connection to one member, TLS included, and waits until the member has greeted (SETTINGS): only then
// has it accepted a client certificate. Certificate files are read each time. Nothing stays open after a failure.

import { readFile } from 'node:fs/promises'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import { getSystemErrorMessage } from 'node:util'
import { HoldfastError, messageOf } from '../lib/errors.ts'
import type { Endpoint } from './endpoint.ts'
import { CallFailure } from './failure.ts'
import type { TlsOptions } from './options.ts'
import { startTimeout } from './timeout.ts'

/** What a member may send before we have read it, per call and in all: large values come in one go. */
const WINDOW_BYTES = 8 << 20

export interface DialOptions {
  readonly tls: TlsOptions | undefined
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** The socket too, because ending a session waits for the other side, and ending the socket does not. */
export interface Dialled {
  readonly session: ClientHttp2Session
  readonly socket: Socket
}

export async function dial(endpoint: Endpoint, { tls = {}, timeoutMs, signal }: DialOptions): Promise<Dialled> {
  const secure = endpoint.secure ? await secureOptions(endpoint, tls) : undefined
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const { host, port } = endpoint
  const socket = secure === undefined ? connectTcp({ host, port }) : startTls(endpoint, secure)
  socket.setNoDelay()
  const session = connectHttp2(endpoint.url, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
    // By default calls are refused while more than 10 MB are under way.
    maxSessionMemory: Number.MAX_SAFE_INTEGER,
  })
  const fail = (reason: unknown) => reject(unreachable(endpoint, reason))
  const closed = () => fail(new Error('the connection was closed before an HTTP/2 greeting'))
  const aborted = () => reject(signal.reason)
  const late = () => fail(new Error(`no HTTP/2 greeting within ${timeoutMs} ms`))
  const stopTimeout = startTimeout(timeoutMs, late)
  // Errors after the greeting are the connection's own, which listens too; without a listener they would be thrown.
  socket.on('error', fail)
  session.on('error', fail)
  session.once('close', closed)
  session.once('remoteSettings', () => resolve())
  signal.addEventListener('abort', aborted, { once: true })
  try {
    await promise
    session.setLocalWindowSize(WINDOW_BYTES)
    return { session, socket }
  } catch (error) {
    session.destroy()
    socket.destroy()
    throw error
  } finally {
    stopTimeout()
    session.off('close', closed)
    signal.removeEventListener('abort', aborted)
  }
}

/** Certificates and keys that are no such thing are noticed here. */
function startTls(endpoint: Endpoint, options: ConnectionOptions): Socket {
  try {
    return connectTls(options)
  } catch (error) {
    throw unreachable(endpoint, error)
  }
}

async function secureOptions({ host, port }: Endpoint, tls: TlsOptions): Promise<ConnectionOptions> {
  const [ca, cert, key] = await Promise.all([tls.caFile, tls.certFile, tls.keyFile].map(readPem))
  return {
    host,
    port,
    // An address is no name to ask for (RFC 6066, section 3); the certificate is checked against it all the same.
    servername: tls.serverName ?? (isIP(host) === 0 ? host : ''),
    ALPNProtocols: ['h2'],
    rejectUnauthorized: tls.insecure !== true,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  }
}

async function readPem(path: string | undefined): Promise<Buffer | undefined> {
  if (path === undefined) return undefined
  try {
    return await readFile(path)
  } catch (error) {
    const { errno } = error as NodeJS.ErrnoException
    const reason = errno === undefined ? messageOf(error) : getSystemErrorMessage(errno)
    throw new HoldfastError('FileUnreadable', `Cannot read "${path}": ${reason}`, { cause: error })
  }
}

function unreachable(endpoint: Endpoint, reason: unknown): CallFailure {
  return new CallFailure('unreachable', endpoint, messageOf(reason), { cause: reason })
}
