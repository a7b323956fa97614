// A mark of ownership as a TXT record: its name says which endpoint it is for, its text to whom that belongs.

import { decryptText, encryptText } from '../endpoints/encryption.ts'
import { type Endpoint, LABEL } from '../endpoints/endpoint.ts'
import { formatLabels, type Labels, parseLabels, unquoted } from '../endpoints/labels.ts'
import type { TxtNames } from './txt-names.ts'

export interface Mark {
  readonly endpoint: Endpoint
  readonly labels: Labels
  readonly isEncrypted: boolean
}

export interface TxtFormatOptions {
  readonly names: TxtNames
  readonly ownerId: string
  /** An owner whose endpoints are ours from now on; the same as `ownerId` if there is none. */
  readonly oldOwnerId: string
  /** For reading; for writing too if `encrypts`. */
  readonly aesKey: Uint8Array | undefined
  readonly encrypts: boolean
}

export class TxtFormat {
  readonly names: TxtNames
  readonly #options: TxtFormatOptions
  /** Stores tell the same endpoints again and again. */
  readonly #read = new WeakMap<Endpoint, Mark | undefined>()

  constructor(options: TxtFormatOptions) {
    this.names = options.names
    this.#options = options
  }

  /** Undefined for what is no mark. */
  read(endpoint: Endpoint): Mark | undefined {
    if (endpoint.recordType !== 'TXT') return undefined
    const known = this.#read.get(endpoint)
    if (known !== undefined || this.#read.has(endpoint)) return known
    const mark = this.#parse(endpoint)
    this.#read.set(endpoint, mark)
    return mark
  }

  #parse(endpoint: Endpoint): Mark | undefined {
    const [text] = endpoint.targets
    if (text === undefined) return undefined
    const { aesKey } = this.#options
    const decrypted = aesKey && decryptText(unquoted(text), aesKey)
    const labels = parseLabels(decrypted ?? text)
    return labels && { endpoint, labels, isEncrypted: decrypted !== undefined }
  }

  /** The mark that says that an endpoint is ours. */
  write(endpoint: Endpoint): Endpoint {
    const { aesKey, encrypts } = this.#options
    const { dnsName, recordType, setIdentifier, providerSpecific } = endpoint
    const plain = this.#textOf(endpoint)
    const text = encrypts && aesKey !== undefined ? encryptText(plain, aesKey) : plain
    return {
      ...{ dnsName: this.names.nameOf(dnsName, recordType), recordType: 'TXT', targets: [`"${text}"`] },
      ...(setIdentifier !== undefined && { setIdentifier }),
      ...{ labels: { [LABEL.ownedRecord]: dnsName }, providerSpecific },
    }
  }

  /** Whether a mark says what write() would make it say. */
  says(mark: Mark, endpoint: Endpoint): boolean {
    return mark.isEncrypted === this.#options.encrypts && formatLabels(mark.labels) === this.#textOf(endpoint)
  }

  isOurs(owner: string | undefined): boolean {
    return owner === this.#options.ownerId || this.isOfOldOwner(owner)
  }

  isOfOldOwner(owner: string | undefined): boolean {
    const { ownerId, oldOwnerId } = this.#options
    return oldOwnerId !== ownerId && owner === oldOwnerId
  }

  #textOf({ labels }: Endpoint): string {
    return formatLabels({ ...labels, [LABEL.owner]: this.#options.ownerId })
  }
}

/** Stored records, told apart. */
export class StoredMarks {
  /** What is not a mark. A TXT record without a text is nothing at all. */
  readonly records: readonly Endpoint[]
  readonly #marks = new Map<string, Mark[]>()

  constructor(stored: readonly Endpoint[], format: TxtFormat) {
    this.records = stored.filter((endpoint) => {
      const mark = format.read(endpoint)
      if (mark !== undefined) this.#add(mark)
      return mark === undefined && (endpoint.recordType !== 'TXT' || endpoint.targets.length > 0)
    })
  }

  /** All marks of a name: there can be several, left behind by others. */
  at(txtName: string, setIdentifier: string | undefined): readonly Mark[] {
    return this.#marks.get(markKey(txtName, setIdentifier)) ?? []
  }

  #add(mark: Mark): void {
    const key = markKey(mark.endpoint.dnsName, mark.endpoint.setIdentifier)
    const marks = this.#marks.get(key)
    if (marks === undefined) this.#marks.set(key, [mark])
    else marks.push(mark)
  }
}

export function markKey(txtName: string, setIdentifier = ''): string {
  return `${txtName.toLowerCase()} ${setIdentifier}`
}
