// One cluster and one user of it, as a kubeconfig or a pod's service account describes them: files are read, paths are
// resolved, nothing has been asked yet.

export interface Site {
  /** Where this comes from, for messages: `context "lab" of "/home/me/.kube/config"`. */
  readonly origin: string
  /** Without a slash at the end. */
  readonly server: string
  readonly namespace: string | undefined
  readonly trust: Trust
  readonly proxyUrl: string | undefined
  readonly identity: Identity
}

export interface Trust {
  /** Authorities, PEM; undefined: those that Node trusts. */
  readonly ca: Buffer | undefined
  /** Takes any certificate. */
  readonly insecure: boolean
  /** The name that the server's certificate has to carry, when it is not that of the URL. */
  readonly serverName: string | undefined
}

/** Who asks. Several of these can be given; the API server takes those that it knows. */
export interface Identity {
  readonly cert?: Buffer
  readonly key?: Buffer
  readonly token?: string
  /** Read for every request: bound tokens are renewed in place. */
  readonly tokenFile?: string
  readonly basic?: { readonly username: string; readonly password: string }
  readonly impersonate?: string
  readonly exec?: CredentialProgram
  /** oidc, gcp, azure: as it stands in the kubeconfig. */
  readonly authProvider?: Readonly<Record<string, unknown>>
}

/** Prints credentials when it is run. */
export interface CredentialProgram {
  readonly command: string
  readonly args: readonly string[]
  /** Besides our own environment. */
  readonly env: readonly { readonly name: string; readonly value: string }[]
  /** What the kubeconfig says about getting the program. */
  readonly installHint: string | undefined
}

export type Environment = Readonly<Record<string, string | undefined>>
