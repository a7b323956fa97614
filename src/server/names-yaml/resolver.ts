// What only the world around names.yaml can tell: the etcd of the whole file, and files with servers to ask.

import type { Located, Path } from '../../document/located.ts'
import { type DocumentContext, Surroundings } from '../../document/surroundings.ts'
import { quote } from '../../document/values.ts'
import type { EtcdConnection, UpstreamAddress } from '../config.ts'
import { parseResolvConf, parseUpstream } from '../notation.ts'
import type { NamesDocument } from './schema.ts'
import type { EtcdDocument } from './schema-etcd.ts'

export interface NamesContext extends DocumentContext {
  /** The answer to NSID with `nsid: true`. */
  readonly hostname: string
}

type Tls = NonNullable<EtcdConnection['tls']>

export class Resolver extends Surroundings {
  readonly hostname: string
  readonly #document: NamesDocument

  constructor(document: NamesDocument, located: Located, context: NamesContext) {
    super(located, context)
    this.#document = document
    this.hostname = context.hostname
  }

  /** The connection of a source or an output: its own, or that of the whole file. */
  etcd(own: EtcdDocument | undefined, owner: Path): EtcdConnection {
    const etcd = own ?? this.#document.etcd
    if (etcd !== undefined) return this.#connection(etcd, own === undefined ? ['etcd'] : [...owner, 'etcd'])
    this.problem(owner, 'there is no "etcd"; expected one here, or one at the top of the file for all')
    return { endpoints: [] }
  }

  #connection(etcd: EtcdDocument, path: Path): EtcdConnection {
    const files = { caFile: etcd.ca_cert, certFile: etcd.client_cert, keyFile: etcd.client_key }
    const tls: Tls = {
      ...Object.fromEntries(Object.entries(files).flatMap(([key, file]) => (file ? [[key, this.path(file)]] : []))),
      ...(etcd.server_name !== undefined && { serverName: etcd.server_name }),
      ...(etcd.insecure_skip_verify && { insecure: true }),
    }
    const password = etcd.password === undefined ? undefined : this.secret(etcd.password, [...path, 'password'])
    const hasTls = Object.keys(tls).length > 0
    const plain = etcd.endpoints.find((each) => each.startsWith('http://') || (!hasTls && !each.startsWith('https://')))
    if (password !== undefined && plain !== undefined)
      this.notice([...path, 'endpoints'], `the password goes to ${plain} unencrypted`)
    if (tls.insecure) this.notice([...path, 'insecure_skip_verify'], 'the certificate of etcd is not checked')
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
    const content = this.read(text, path, 'neither an address nor a readable file')
    const servers = content === undefined ? [] : parseResolvConf(content)
    if (content !== undefined && servers.length === 0)
      this.problem(path, `${quote(text)} names no server; expected a line "nameserver ADDRESS"`)
    return servers
  }
}
