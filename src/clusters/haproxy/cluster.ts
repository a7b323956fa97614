// Whether proxies lead to PostgreSQL: each port is asked as a client would ask it, by the first message of PostgreSQL's
// protocol (SSLRequest), which a server answers with S before TLS begins. No port of its own for health is needed.

import { connect } from 'node:net'
import { reasonOf } from '../../lib/errors.ts'
import type { ClusterStatus, MemberStatus } from '../member-status.ts'
import type { HaproxySpec } from '../postgres/spec.ts'
import type { MachineSpec } from '../site.ts'

const TIMEOUT_MS = 3000
/** Length 8, then the code 80877103. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

export async function haproxyStatus(haproxy: HaproxySpec, signal: AbortSignal): Promise<ClusterStatus> {
  const members = await Promise.all(haproxy.servers.map((server) => proxyStatus(haproxy, server, signal)))
  const ready = members.filter(({ isReady }) => isReady).length
  const isReady = ready === members.length
  return {
    members,
    isReady,
    isWorking: ready > 0,
    problem: isReady ? undefined : `${ready} of ${members.length} proxies`,
  }
}

async function proxyStatus(
  { readWritePort, readOnlyPort }: HaproxySpec,
  { name, address }: MachineSpec,
  signal: AbortSignal,
): Promise<MemberStatus> {
  const [primary, replica] = await Promise.all([
    askServer(address, readWritePort, signal),
    askServer(address, readOnlyPort, signal),
  ])
  const problem =
    primary !== undefined
      ? `no primary behind port ${readWritePort}: ${primary}`
      : replica !== undefined
        ? `no replica behind port ${readOnlyPort}: ${replica}`
        : undefined
  return {
    machine: name,
    isReady: problem === undefined,
    role: 'proxy',
    version: undefined,
    lagBytes: undefined,
    problem,
    waitsFor: problem === undefined ? undefined : 'PostgreSQL behind it',
  }
}

/** Undefined when a PostgreSQL with TLS answers, else the reason. */
function askServer(host: string, port: number, signal: AbortSignal): Promise<string | undefined> {
  signal.throwIfAborted()
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const socket = connect({ host, port, signal, timeout: TIMEOUT_MS })
  socket.once('connect', () => socket.write(SSL_REQUEST))
  socket.once('data', (answer) => resolve(answer[0] === 0x53 ? undefined : 'it speaks without TLS'))
  socket.once('timeout', () => resolve(`no answer within ${TIMEOUT_MS / 1000} s`))
  socket.once('error', (error) => resolve(reasonOf(error)))
  socket.once('close', () => resolve('it closes the connection'))
  return promise.finally(() => socket.destroy())
}
