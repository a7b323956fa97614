// Ownership in TXT records, one for each endpoint, as ExternalDNS keeps it. Marks are looked up by the names that an
// endpoint's marks have, so that every endpoint takes a few look-ups, however many there are.

import { HoldfastError } from '../../lib/errors.ts'
import type { Secret } from '../../lib/secret.ts'
import { readAesKey } from '../endpoints/encryption.ts'
import { type Changes, type Endpoint, LABEL } from '../endpoints/endpoint.ts'
import { normalName } from '../endpoints/normal-name.ts'
import { FORCE_UPDATE } from '../endpoints/properties.ts'
import { checkOwner, type MarkedChanges, ownChanges, ownedBy, type Registry } from './registry.ts'
import { type Mark, StoredMarks, TxtFormat } from './txt-format.ts'
import { Marking } from './txt-marking.ts'
import { isUsableName, TxtNames } from './txt-names.ts'

export interface TxtRegistryOptions {
  readonly ownerId: string
  /** What belongs to this owner is taken over. */
  readonly oldOwnerId?: string
  readonly prefix?: string
  readonly suffix?: string
  readonly wildcardReplacement?: string
  /** Types that endpoints can have: those that are managed. */
  readonly recordTypes: readonly string[]
  readonly encrypt?: boolean
  /** 32 bytes, plain or as base64. Marks encrypted with it are read even if new ones are not encrypted. */
  readonly aesKey?: Secret
}

export function txtRegistry(options: TxtRegistryOptions): Registry {
  const { ownerId, oldOwnerId = '', prefix = '', suffix = '', wildcardReplacement = '', encrypt = false } = options
  checkOwner(ownerId)
  if (prefix !== '' && suffix !== '')
    throw new HoldfastError(
      'Usage',
      `Cannot use --txt-prefix "${prefix}" with --txt-suffix "${suffix}": they are mutual exclusive; expected one of them`,
    )
  if (encrypt && options.aesKey === undefined)
    throw new HoldfastError('Usage', 'Cannot encrypt TXT records: there is no key; expected --txt-encrypt-aes-key')
  const format = new TxtFormat({
    ...{ ownerId, oldOwnerId: oldOwnerId === '' ? ownerId : oldOwnerId },
    ...{ names: new TxtNames({ prefix, suffix, wildcardReplacement }), encrypts: encrypt },
    aesKey: options.aesKey && readAesKey(options.aesKey),
  })
  return new TxtRegistry(ownerId, options.recordTypes, format)
}

class TxtRegistry implements Registry {
  readonly ownerId: string
  readonly #recordTypes: readonly string[]
  readonly #format: TxtFormat
  /** What was made of an endpoint and its mark: as long as they are the same, it is, too. */
  readonly #withMarks = new WeakMap<Endpoint, { readonly mark: Mark; readonly endpoint: Endpoint }>()

  constructor(ownerId: string, recordTypes: readonly string[], format: TxtFormat) {
    this.ownerId = ownerId
    this.#recordTypes = recordTypes
    this.#format = format
  }

  records(stored: readonly Endpoint[]): readonly Endpoint[] {
    return this.#owned(new StoredMarks(stored, this.#format))
  }

  mark(changes: Changes, stored: readonly Endpoint[]): MarkedChanges {
    if (isEmpty(changes)) return { ...changes, conflicts: [] }
    const marks = new StoredMarks(stored, this.#format)
    return new Marking(this.#format, ownChanges(changes, this.ownerId), marks, this.#owned(marks)).run()
  }

  markNames(dnsName: string): readonly string[] {
    const { names } = this.#format
    const marks = this.#recordTypes.map((recordType) => names.nameOf(dnsName, recordType))
    const own = [...marks, names.oldNameOf(dnsName)].filter(isUsableName)
    const found = new Set(own)
    for (const name of own) for (const marked of names.marked(name)) found.add(marked.dnsName)
    const normal = normalName(dnsName)
    return [...found].filter((name) => normalName(name) !== normal)
  }

  markedNames(record: Endpoint): readonly string[] {
    if (this.#format.read(record) === undefined) return []
    return [...new Set(this.#format.names.marked(record.dnsName).map(({ dnsName }) => dnsName))]
  }

  #owned(stored: StoredMarks): Endpoint[] {
    return stored.records.map((endpoint) => this.#withOwner(endpoint, stored))
  }

  #withOwner(endpoint: Endpoint, stored: StoredMarks): Endpoint {
    const { dnsName, recordType, setIdentifier } = endpoint
    const name = this.#format.names.nameOf(dnsName, recordType)
    const marks = stored.at(name, setIdentifier)
    const mark = this.#chosen(marks.length > 0 ? marks : this.#otherMarks(endpoint, stored))
    const owned = mark === undefined ? endpoint : this.#withMark(endpoint, mark)
    const owner = owned.labels[LABEL.owner]
    if (!this.#format.isOurs(owner)) return owned
    const isOutdated = marks.length === 0 || this.#format.isOfOldOwner(owner)
    const ours = ownedBy(owned, this.ownerId)
    if (!isOutdated || !isUsableName(name)) return ours
    return { ...ours, providerSpecific: [...ours.providerSpecific, FORCE_UPDATE] }
  }

  #withMark(endpoint: Endpoint, mark: Mark): Endpoint {
    const known = this.#withMarks.get(endpoint)
    if (known?.mark === mark) return known.endpoint
    const made = withMark(endpoint, mark)
    this.#withMarks.set(endpoint, { mark, endpoint: made })
    return made
  }

  /** Marks that are still written differently: an alias as CNAME, and those without a type, which never spoke for AAAA. */
  #otherMarks(endpoint: Endpoint, stored: StoredMarks): readonly Mark[] {
    const { dnsName, recordType, setIdentifier } = endpoint
    const { names } = this.#format
    const aliased = isAliasAddress(endpoint) ? stored.at(names.nameOf(dnsName, 'CNAME'), setIdentifier) : []
    if (aliased.length > 0) return aliased
    const oldName = names.oldNameOf(dnsName)
    const isOld = recordType !== 'AAAA' && names.marked(oldName).every((marked) => marked.recordType === undefined)
    return isOld ? stored.at(oldName, setIdentifier) : []
  }

  /** Where marks disagree, the name is somebody else's: better to leave it than to take it. */
  #chosen(marks: readonly Mark[]): Mark | undefined {
    return marks.find(({ labels }) => !this.#format.isOurs(labels[LABEL.owner])) ?? marks.at(-1)
  }
}

function isEmpty({ create, updateNew, delete: deleted }: Changes): boolean {
  return create.length + updateNew.length + deleted.length === 0
}

/** What the provider knows of an endpoint stays: it is how it finds it again. */
function withMark(endpoint: Endpoint, mark: Mark): Endpoint {
  const { owner, resource } = mark.labels
  const labels = {
    ...mark.labels,
    ...endpoint.labels,
    ...(owner !== undefined && { [LABEL.owner]: owner }),
    ...(resource !== undefined && { [LABEL.resource]: resource }),
  }
  return { ...endpoint, labels }
}

function isAliasAddress({ recordType, providerSpecific }: Endpoint): boolean {
  const alias = providerSpecific.find(({ name }) => name === 'alias')?.value
  return recordType === 'A' && (alias === 'true' || alias === 'A')
}
