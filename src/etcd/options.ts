// How to reach a cluster: plain data that can be handed to a thread. Certificate files are read whenever a connection is
// made, so renewed ones are picked up.

export interface EtcdOptions {
  /** `http://host:port`, `https://host:port`, or `host:port`, which is https when `tls` is given. */
  readonly endpoints: readonly string[]
  readonly tls?: TlsOptions
  readonly username?: string
  readonly password?: string
  /** For making a connection, TLS included. Default 2000. */
  readonly dialTimeoutMs?: number
  /** For a call as a whole, further attempts included. Default 5000. */
  readonly requestTimeoutMs?: number
}

export interface TlsOptions {
  /** Authorities to trust, PEM; default: those that Node trusts. */
  readonly caFile?: string
  readonly certFile?: string
  readonly keyFile?: string
  /** The name the server's certificate has to carry, when it is not the endpoint's host. */
  readonly serverName?: string
  /** Takes any certificate. */
  readonly insecure?: boolean
}
