// What only the world around names.yaml can tell: files beside it, variables, the etcd of the whole file. It gathers
// problems and goes on, so that all of them are told.

import { dirname, isAbsolute, join } from 'node:path'
import { messageOf } from '../../lib/errors.ts'
import { Secret } from '../../lib/secret.ts'
import type { EtcdConnection, UpstreamAddress } from '../config.ts'
import type { Notice } from '../corefile/problem.ts'
import { parseResolvConf, parseUpstream } from '../notation.ts'
import { formatPath, type NamesProblem } from './explain.ts'
import type { NamesDocument } from './schema.ts'
import type { EtcdDocument } from './schema-etcd.ts'
import { quote, type SecretPlace } from './values.ts'
import type { Path, YamlText } from './yaml-text.ts'

export interface NamesContext {
  /** Path of the file, for messages and for relative paths. */
  readonly file: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly readFile: (path: string) => string
  readonly readSecret: (path: string) => string
  /** The answer to NSID with `nsid: true`. */
  readonly hostname: string
}

type Tls = NonNullable<EtcdConnection['tls']>

export class Resolver {
  readonly problems: NamesProblem[] = []
  readonly notices: Notice[] = []
  readonly secretVariables = new Set<string>()
  readonly hostname: string
  readonly file: string
  readonly #document: NamesDocument
  readonly #yaml: YamlText
  readonly #context: NamesContext

  constructor(document: NamesDocument, yaml: YamlText, context: NamesContext) {
    this.#document = document
    this.#yaml = yaml
    this.#context = context
    this.hostname = context.hostname
    this.file = context.file
  }

  problem(path: Path, message: string): void {
    const where = path.length === 0 ? '' : `${formatPath(path)}: `
    this.problems.push({ place: this.#yaml.place(path), message: `${where}${message}` })
  }

  /** A path that may be relative to the directory of the file. */
  path(path: string): string {
    return isAbsolute(path) ? path : join(dirname(this.#context.file), path)
  }

  /** The connection of a source or an output: its own, or that of the whole file. */
  etcd(own: EtcdDocument | undefined, owner: Path): EtcdConnection {
    const etcd = own ?? this.#document.etcd
    if (etcd !== undefined) return this.#connection(etcd, own === undefined ? ['etcd'] : [...owner, 'etcd'])
    this.problem(owner, 'there is no "etcd"; wanted: one here, or one at the top of the file for all')
    return { endpoints: [] }
  }

  #connection(etcd: EtcdDocument, path: Path): EtcdConnection {
    const files = { caFile: etcd.ca_cert, certFile: etcd.client_cert, keyFile: etcd.client_key }
    const tls: Tls = {
      ...Object.fromEntries(Object.entries(files).flatMap(([key, file]) => (file ? [[key, this.path(file)]] : []))),
      ...(etcd.server_name !== undefined && { serverName: etcd.server_name }),
      ...(etcd.insecure_skip_verify && { insecure: true }),
    }
    const password = etcd.password === undefined ? undefined : this.#secret(etcd.password, [...path, 'password'])
    const hasTls = Object.keys(tls).length > 0
    const plain = etcd.endpoints.find((each) => each.startsWith('http://') || (!hasTls && !each.startsWith('https://')))
    if (password !== undefined && plain !== undefined)
      this.#notice([...path, 'endpoints'], `the password goes to ${plain} unencrypted`)
    if (tls.insecure) this.#notice([...path, 'insecure_skip_verify'], 'the certificate of etcd is not checked')
    return {
      endpoints: etcd.endpoints,
      ...(hasTls && { tls }),
      ...(etcd.username !== undefined && { username: etcd.username }),
      ...(password !== undefined && { password }),
      dialTimeoutMs: etcd.connection_timeout,
      requestTimeoutMs: etcd.request_timeout,
    }
  }

  /** A server to ask, or those of a file like /etc/resolv.conf. */
  upstream(text: string, path: Path): UpstreamAddress[] {
    const address = parseUpstream(text)
    if (address !== undefined) return [address]
    const content = this.#read(text, path, this.#context.readFile, 'neither an address nor a readable file')
    const servers = content === undefined ? [] : parseResolvConf(content)
    if (content !== undefined && servers.length === 0)
      this.problem(path, `${quote(text)} names no server; wanted: a line "nameserver ADDRESS"`)
    return servers
  }

  #secret(place: SecretPlace, path: Path): Secret | undefined {
    if (typeof place === 'string') return new Secret(place)
    const { env, file = '' } = place
    if (env !== undefined) this.secretVariables.add(env)
    const value = env === undefined ? this.#secretFile(file, path) : (this.#context.env[env] ?? '')
    if (value === '') {
      const what = env === undefined ? `the file ${quote(file)} is empty` : `the variable ${quote(env)} is not set`
      this.problem(path, `${what}; wanted: the secret in it`)
    }
    return value === undefined ? undefined : new Secret(value)
  }

  #secretFile(file: string, path: Path): string | undefined {
    const content = this.#read(file, path, this.#context.readSecret, 'not a readable file')
    return content?.replace(/\r?\n$/u, '')
  }

  #read(file: string, path: Path, read: (path: string) => string, what: string): string | undefined {
    try {
      return read(this.path(file))
    } catch (thrown) {
      this.problem(path, `${quote(file)} is ${what} (${messageOf(thrown)}); wanted: one that can be read`)
      return undefined
    }
  }

  /** Told once where several sources share an anchor. */
  #notice(path: Path, message: string): void {
    const at = `${this.#context.file}:${this.#yaml.place(path)}`
    if (!this.notices.some((notice) => notice.at === at && notice.message === message))
      this.notices.push({ at, message })
  }
}
