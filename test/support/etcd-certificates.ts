// Certificates for a test cluster, made with openssl: an authority, and what it signs. The server's certificate has no
// common name, because etcd would take that for the name of a user.

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Without a file of its own openssl adds extensions of its choice. */
const OPENSSL_CONFIG = `[req]
prompt = no
distinguished_name = subject
[subject]
O = holdfast-test
[authority]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign
[server]
basicConstraints = critical,CA:FALSE
extendedKeyUsage = serverAuth,clientAuth
subjectAltName = IP:127.0.0.1,DNS:localhost
[client]
basicConstraints = critical,CA:FALSE
extendedKeyUsage = clientAuth
`

export interface Certificate {
  readonly certFile: string
  readonly keyFile: string
}

export class Authority {
  readonly #directory: string
  readonly #certificate: Certificate

  private constructor(directory: string, certificate: Certificate) {
    this.#directory = directory
    this.#certificate = certificate
  }

  static async create(directory: string, name: string): Promise<Authority> {
    writeFileSync(join(directory, 'openssl.cnf'), OPENSSL_CONFIG)
    return new Authority(directory, await issue(directory, name, ['-extensions', 'authority', '-subj', `/CN=${name}`]))
  }

  get caFile(): string {
    return this.#certificate.certFile
  }

  /** Valid for 127.0.0.1 and localhost. */
  server(name: string): Promise<Certificate> {
    return issue(this.#directory, name, ['-extensions', 'server', ...this.#signed()])
  }

  /** For the user of that name, where etcd takes users from certificates. */
  client(user: string): Promise<Certificate> {
    return issue(this.#directory, `client-${user}`, [
      '-extensions',
      'client',
      '-subj',
      `/CN=${user}`,
      ...this.#signed(),
    ])
  }

  #signed(): string[] {
    return ['-CA', this.#certificate.certFile, '-CAkey', this.#certificate.keyFile]
  }
}

async function issue(directory: string, name: string, args: readonly string[]): Promise<Certificate> {
  const certFile = join(directory, `${name}.crt`)
  const keyFile = join(directory, `${name}.key`)
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc', '-keyout', keyFile]
  const config = ['-config', join(directory, 'openssl.cnf')]
  await run('openssl', ['req', '-x509', '-days', '2', ...config, ...key, '-out', certFile, ...args])
  return { certFile, keyFile }
}
