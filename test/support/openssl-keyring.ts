// Credentials for clusters under test: passwords by their id, certificates signed with openssl by an authority of the
// test's own. Everything is made when it is first asked for.

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CertificateRequest, CertifiedKey, Keyring } from '../../src/clusters/site.ts'
import { Secret } from '../../src/lib/secret.ts'
import { type Content, plain } from '../../src/machine/content.ts'

const CONFIG = `[req]
prompt = no
distinguished_name = subject
[subject]
O = holdfast-test
[authority]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign
`

export class OpensslKeyring implements Keyring {
  readonly authority: Content
  readonly caFile: string
  readonly #directory: string
  readonly #certificates = new Map<string, CertifiedKey>()

  constructor(directory: string) {
    this.#directory = directory
    this.caFile = join(directory, 'authority.pem')
    this.#make('authority', CONFIG, ['-extensions', 'authority', '-subj', '/CN=authority'])
    this.authority = plain(readFileSync(this.caFile, 'utf8'))
  }

  secret(id: string, given?: Secret): Secret {
    return given ?? new Secret(`generated-${id}`)
  }

  certificate(request: CertificateRequest): CertifiedKey {
    const made = this.#certificates.get(request.id) ?? this.#issue(request)
    this.#certificates.set(request.id, made)
    return made
  }

  /** The next one asked for is a new one. */
  expire(id: string): void {
    this.#certificates.delete(id)
  }

  #issue({ id, commonName, domains, addresses, usages }: CertificateRequest): CertifiedKey {
    const names = [...domains.map((name) => `DNS:${name}`), ...addresses.map((address) => `IP:${address}`)]
    const config = `${CONFIG}[leaf]
basicConstraints = critical,CA:FALSE
extendedKeyUsage = ${usages.map((usage) => `${usage}Auth`).join(',')}
${names.length === 0 ? '' : `subjectAltName = ${names.join(',')}`}
`
    const subject = commonName === undefined ? [] : ['-subj', `/CN=${commonName}`]
    const signed = ['-CA', this.caFile, '-CAkey', join(this.#directory, 'authority.key')]
    const name = id.replaceAll('/', '-')
    this.#make(name, config, ['-extensions', 'leaf', ...subject, ...signed])
    const read = (end: string) => readFileSync(join(this.#directory, `${name}.${end}`), 'utf8')
    return { certificate: plain(read('pem')), key: [new Secret(read('key'))] }
  }

  #make(name: string, config: string, args: readonly string[]): void {
    const configFile = join(this.#directory, `${name}.cnf`)
    writeFileSync(configFile, config)
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc']
    const files = ['-keyout', join(this.#directory, `${name}.key`), '-out', join(this.#directory, `${name}.pem`)]
    const command = ['req', '-x509', '-days', '2', '-config', configFile, ...key, ...files, ...args]
    execFileSync('openssl', command, { stdio: 'pipe' })
  }
}
