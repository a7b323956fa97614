// haproxy.cfg as text.

import { PATRONI_PORT, POSTGRES_PORT } from '../postgres/spec.ts'

export interface HaproxyConfig {
  readonly address: string
  readonly readWritePort: number
  readonly readOnlyPort: number
  /** `host`: a name in the member's certificate. */
  readonly members: readonly { readonly name: string; readonly address: string; readonly host: string }[]
  readonly caFile: string
  readonly clientFile: string
}

/**
 * Patroni answers 200 for the role that is asked for. When a member has lost it, its connections are cut: a client must
 * not go on with an old primary.
 */
export function haproxyConfig(config: HaproxyConfig): string {
  const { address, readWritePort, readOnlyPort } = config
  return `global
    log stderr format raw local0 notice
    ssl-default-server-options ssl-min-ver TLSv1.2
    # Servers count as up until they are checked first: all at once, or clients of the primary get to replicas meanwhile.
    max-spread-checks 20ms

defaults
    mode tcp
    log global
    timeout connect 4s
    # Sessions may be idle for as long as they like; TCP notices when the other side is gone.
    timeout client 24h
    timeout server 24h
    timeout check 3s
    option clitcpka
    option srvtcpka

frontend read-write
    bind ${address}:${readWritePort}
    default_backend primary

frontend read-only
    bind ${address}:${readOnlyPort}
    default_backend replicas

backend primary
${backend('/primary', config)}
backend replicas
    balance leastconn
${backend('/replica', config)}`
}

function backend(path: string, { members, caFile, clientFile }: HaproxyConfig): string {
  return `    option httpchk
    http-check send meth OPTIONS uri ${path}
    http-check expect status 200
    default-server inter 2s fastinter 500ms downinter 1s fall 2 rise 1 on-marked-down shutdown-sessions
    default-server check-ssl port ${PATRONI_PORT} verify required ca-file ${quoted(caFile)} crt ${quoted(clientFile)}
${members.map(({ name, address, host }) => `    server ${name} ${address}:${POSTGRES_PORT} check verifyhost ${host}\n`).join('')}`
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`
}
