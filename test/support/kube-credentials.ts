// Who is who in a test cluster: an authority, the certificates it signs, and kubeconfig files for those who come with a
// certificate or a token.

import { generateKeyPairSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Secret } from '../../src/lib/secret.ts'
import { loadAuthority } from '../../src/pki/authority.ts'
import { leafIssuer, makeAuthority } from '../../src/pki/issue.ts'
import type { LeafRequest } from '../../src/pki/leaf-request.ts'

export interface CertificateFiles {
  readonly certFile: string
  readonly keyFile: string
}

export type Credential = CertificateFiles | { readonly token: string }

export class KubeCredentials {
  readonly #directory: string
  readonly #issue: Awaited<ReturnType<typeof leafIssuer>>

  private constructor(directory: string, issue: Awaited<ReturnType<typeof leafIssuer>>) {
    this.#directory = directory
    this.#issue = issue
  }

  static async create(directory: string): Promise<KubeCredentials> {
    const { certificate, key } = await makeAuthority('kubernetes', '', new Date())
    const authority = loadAuthority('the authority', certificate, key)
    if (authority.key === undefined) throw new Error('the authority has no key')
    const credentials = new KubeCredentials(directory, await leafIssuer({ ...authority, key: authority.key }))
    credentials.#write('ca.crt', certificate)
    return credentials
  }

  get caFile(): string {
    return join(this.#directory, 'ca.crt')
  }

  server(address: string): Promise<CertificateFiles> {
    return this.#certificate('server', { addresses: [address], usages: ['server'] })
  }

  /** The API server takes the common name for the user and the organization for its group. */
  client(user: string, group = ''): Promise<CertificateFiles> {
    return this.#certificate(`client-${user}`, { commonName: user, organization: group, usages: ['client'] })
  }

  /** A key that signs tokens of service accounts. */
  signingKey(): string {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    return this.#write('service-accounts.key', privateKey.export({ type: 'sec1', format: 'pem' }) as string)
  }

  /** Path of the file. JSON is YAML, too. */
  kubeconfig(name: string, server: string, credential: Credential, namespace = 'default'): string {
    const user =
      'token' in credential
        ? { token: credential.token }
        : { 'client-certificate': credential.certFile, 'client-key': credential.keyFile }
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      contexts: [{ name: 'test', context: { cluster: 'test', user: name, namespace } }],
      clusters: [{ name: 'test', cluster: { server, 'certificate-authority': this.caFile } }],
      users: [{ name, user }],
    }
    return this.#write(`${name}.kubeconfig`, JSON.stringify(config))
  }

  /** The same with the content of the files that it names. */
  portable(kubeconfig: string): string {
    const names = /"(certificate-authority|client-certificate|client-key)":"([^"]+)"/gu
    const embed = (_: string, key: string, file: string) => `"${key}-data":"${readFileSync(file).toString('base64')}"`
    return readFileSync(kubeconfig, 'utf8').replaceAll(names, embed)
  }

  async #certificate(name: string, request: Partial<LeafRequest>): Promise<CertificateFiles> {
    const defaults = {
      organization: '',
      domains: [],
      addresses: [],
      usages: [],
      validityHours: 48,
      earlyRenewalHours: 1,
    }
    const { certificate, key } = await this.#issue({ ...defaults, ...request }, new Date())
    return { certFile: this.#write(`${name}.crt`, certificate), keyFile: this.#write(`${name}.key`, key) }
  }

  #write(name: string, content: string | Secret): string {
    const path = join(this.#directory, name.replaceAll(/[^\w.-]/gu, '-'))
    writeFileSync(path, content instanceof Secret ? content.reveal() : content, { mode: 0o600 })
    return path
  }
}
