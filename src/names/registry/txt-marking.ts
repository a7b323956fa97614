// The marks that go with a set of changes. Each endpoint that stays has one mark that speaks of it, those that go take
// theirs along, and marks that say what they should are left alone.

import { type Conflict, markOfOther, markTooLong } from '../endpoints/conflict-messages.ts'
import { type Changes, type Endpoint, LABEL } from '../endpoints/endpoint.ts'
import { normalName } from '../endpoints/normal-name.ts'
import type { MarkedChanges } from './registry.ts'
import { type Mark, markKey, type StoredMarks, type TxtFormat } from './txt-format.ts'
import { isUsableName } from './txt-names.ts'

export class Marking {
  readonly #format: TxtFormat
  readonly #changes: Changes
  readonly #stored: StoredMarks
  /** What is there and stays, and what of it is not ours. */
  readonly #staying: NameSet
  readonly #foreign: NameSet
  readonly #created: Endpoint[] = []
  readonly #createdMarks: Endpoint[] = []
  readonly #oldMarks: Endpoint[] = []
  readonly #newMarks: Endpoint[] = []
  readonly #deletedMarks = new Set<Endpoint>()
  readonly #conflicts: Conflict[] = []
  /** Names can share a mark, which is written once. */
  readonly #written = new Set<string>()

  /** `records` are those of `stored` that are no marks, with their owners. */
  constructor(format: TxtFormat, changes: Changes, stored: StoredMarks, records: readonly Endpoint[]) {
    this.#format = format
    this.#changes = changes
    this.#stored = stored
    const leaving = new NameSet(changes.delete)
    this.#staying = new NameSet(records.filter((endpoint) => !leaving.has(endpoint)))
    this.#foreign = new NameSet(records.filter((endpoint) => !this.#isOurs(endpoint)))
  }

  run(): MarkedChanges {
    for (const endpoint of this.#changes.create) this.#create(endpoint)
    for (const endpoint of this.#changes.updateNew) this.#write(endpoint)
    for (const endpoint of this.#created) this.#staying.add(endpoint)
    for (const endpoint of this.#changes.delete) this.#delete(endpoint)
    return {
      create: [...this.#created, ...this.#createdMarks],
      updateOld: [...this.#changes.updateOld, ...this.#oldMarks],
      updateNew: [...this.#changes.updateNew, ...this.#newMarks],
      delete: [...this.#changes.delete, ...this.#deletedMarks],
      conflicts: this.#conflicts,
    }
  }

  /** A mark that could also be that of somebody else's endpoint would make that one ours. */
  #create(endpoint: Endpoint): void {
    const name = this.#nameOf(endpoint)
    if (!isUsableName(name)) this.#conflicts.push(markTooLong(name, endpoint))
    else if (this.#canBeFor(name, endpoint.setIdentifier, this.#foreign))
      this.#conflicts.push(markOfOther(name, endpoint))
    else {
      this.#created.push(endpoint)
      this.#write(endpoint)
    }
  }

  /** One mark of all there are is made to say it, if it does not yet. A mark that nobody needs is nobody's. */
  #write(endpoint: Endpoint): void {
    const name = this.#nameOf(endpoint)
    const key = markKey(name, endpoint.setIdentifier)
    if (!isUsableName(name) || this.#written.has(key)) return
    this.#written.add(key)
    const marks = this.#marksOf(endpoint)
    const right = marks.find((mark) => this.#format.says(mark, endpoint))
    const kept = right ?? marks.at(0)
    if (kept === undefined) this.#createdMarks.push(this.#format.write(endpoint))
    else if (right === undefined) {
      this.#oldMarks.push(kept.endpoint)
      // Spelled as it is stored.
      this.#newMarks.push({ ...this.#format.write(endpoint), dnsName: kept.endpoint.dnsName })
    }
    for (const mark of marks) if (mark !== kept) this.#deletedMarks.add(mark.endpoint)
  }

  #delete(endpoint: Endpoint): void {
    const old = this.#stored.at(this.#format.names.oldNameOf(endpoint.dnsName), endpoint.setIdentifier)
    for (const mark of [...this.#marksOf(endpoint), ...old])
      if (this.#isOurs(mark) && !this.#isNeeded(mark)) this.#deletedMarks.add(mark.endpoint)
  }

  #nameOf({ dnsName, recordType }: Endpoint): string {
    return this.#format.names.nameOf(dnsName, recordType)
  }

  #marksOf(endpoint: Endpoint): readonly Mark[] {
    return this.#stored.at(this.#nameOf(endpoint), endpoint.setIdentifier)
  }

  #isOurs({ labels }: Pick<Endpoint, 'labels'>): boolean {
    return this.#format.isOurs(labels[LABEL.owner])
  }

  #isNeeded({ endpoint: { dnsName, setIdentifier } }: Mark): boolean {
    return this.#canBeFor(dnsName, setIdentifier, this.#staying)
  }

  /** Whether one of the endpoints can be the one that a mark is for. */
  #canBeFor(txtName: string, setIdentifier: string | undefined, endpoints: NameSet): boolean {
    if (endpoints.isEmpty) return false
    return this.#format.names
      .marked(txtName)
      .some(({ dnsName, recordType }) =>
        recordType === undefined ? endpoints.hasName(dnsName) : endpoints.has({ dnsName, recordType, setIdentifier }),
      )
  }
}

interface Identity {
  readonly dnsName: string
  readonly recordType: string
  readonly setIdentifier?: string | undefined
}

class NameSet {
  readonly #names = new Set<string>()
  readonly #keys = new Set<string>()

  constructor(endpoints: Iterable<Endpoint>) {
    for (const endpoint of endpoints) this.add(endpoint)
  }

  get isEmpty(): boolean {
    return this.#keys.size === 0
  }

  add(endpoint: Endpoint): void {
    this.#names.add(normalName(endpoint.dnsName))
    this.#keys.add(keyOf(endpoint))
  }

  has(endpoint: Identity): boolean {
    return this.#keys.has(keyOf(endpoint))
  }

  hasName(dnsName: string): boolean {
    return this.#names.has(normalName(dnsName))
  }
}

function keyOf({ dnsName, recordType, setIdentifier = '' }: Identity): string {
  return `${normalName(dnsName)} ${recordType} ${setIdentifier}`
}
