// What has to be written so that some names are as they are wanted: looks at these names, and at where their marks of
// ownership can be, and at nothing else.

import type { Conflict } from '../endpoints/conflict-messages.ts'
import { type Changes, type Endpoint, LABEL } from '../endpoints/endpoint.ts'
import { normalName } from '../endpoints/normal-name.ts'
import { planChanges, type Policy } from '../endpoints/plan.ts'
import type { Registry } from '../registry/registry.ts'

/** The part of a store that a plan is made with. */
export interface StoredRecords {
  /** Names that have records, marks of ownership among them. */
  names(): Iterable<string>
  endpoints(names: Iterable<string>): readonly Endpoint[]
  /** What would be read back of an endpoint; or why it cannot be stored. */
  asStored(endpoint: Endpoint): Endpoint | string
}

export interface PlannerOptions {
  readonly store: StoredRecords
  readonly registry: Registry
  readonly policy: Policy
  readonly managedRecordTypes: readonly string[]
  readonly excludeRecordTypes: readonly string[]
  readonly domainFilter: (name: string) => boolean
  /** Names that are wanted, and what is wanted of one. */
  readonly wanted: { names(): Iterable<string>; candidates(name: string): readonly Endpoint[] }
}

export interface NamePlan {
  readonly changes: Changes
  /** The same with marks of ownership. */
  readonly marked: Changes
  /** What cannot be done. */
  readonly conflicts: readonly Conflict[]
  /** Names of marks, and names themselves, with the name that they are about. */
  readonly subjects: ReadonlyMap<string, string>
}

export class NamePlanner {
  readonly #options: PlannerOptions

  constructor(options: PlannerOptions) {
    this.#options = options
  }

  /** `mayGo`: all others have something left, even if nobody wants them. */
  plan(names: ReadonlySet<string>, mayGo: ReadonlySet<string>): NamePlan {
    const { store, registry } = this.#options
    const subjects = this.#subjects(names)
    const stored = store.endpoints(subjects.keys())
    const { desired, refused } = this.#desired(names)
    const { conflicts, ...planned } = this.#compare(this.#current(stored, names), desired)
    const believed = planned.delete.filter(({ dnsName }) => mayGo.has(normalName(dnsName)) || this.#isWanted(dnsName))
    const { conflicts: unmarkable, ...marked } = registry.mark({ ...planned, delete: believed }, stored)
    const left = new Set(unmarkable.map(({ dnsName }) => normalName(dnsName)))
    return {
      changes: without({ ...planned, delete: believed }, left),
      marked,
      conflicts: [...refused, ...conflicts, ...unmarkable],
      subjects,
    }
  }

  /** Every name that is wanted, or has records that could change. */
  everything(): string[] {
    const { store, wanted, managedRecordTypes } = this.#options
    const names = new Set(wanted.names())
    // Most of the others hold nothing but marks.
    const isManaged = ({ recordType }: Endpoint) => managedRecordTypes.includes(recordType)
    for (const name of store.names()) if (!names.has(name) && store.endpoints([name]).some(isManaged)) names.add(name)
    return [...names]
  }

  /** Those of the names that would have nothing left, because nobody wants them. */
  going(names: Iterable<string>): readonly string[] {
    const { store } = this.#options
    const unwanted = new Set(Array.from(names).filter((name) => !this.#isWanted(name)))
    if (unwanted.size === 0) return []
    const stored = store.endpoints(this.#subjects(unwanted).keys())
    const deletions = this.#compare(this.#current(stored, unwanted), []).delete
    return [...new Set(deletions.map(({ dnsName }) => normalName(dnsName)))]
  }

  /** How many names are ours. */
  countOwned(): number {
    const { store, registry } = this.#options
    const records = registry.records(store.endpoints(store.names()))
    const own = records.filter(({ labels }) => registry.ownerId === '' || labels[LABEL.owner] === registry.ownerId)
    return new Set(own.map(({ dnsName }) => normalName(dnsName))).size
  }

  #isWanted(name: string): boolean {
    return this.#options.wanted.candidates(normalName(name)).length > 0
  }

  #subjects(names: ReadonlySet<string>): Map<string, string> {
    const { registry } = this.#options
    const subjects = new Map<string, string>()
    for (const name of names) for (const mark of registry.markNames(name)) subjects.set(mark, name)
    for (const name of names) subjects.set(name, name)
    return subjects
  }

  #current(stored: readonly Endpoint[], names: ReadonlySet<string>): readonly Endpoint[] {
    return this.#options.registry.records(stored).filter(({ dnsName }) => names.has(normalName(dnsName)))
  }

  /** What is wanted, as the store will have it, and what it has no room for. */
  #desired(names: Iterable<string>): { desired: readonly Endpoint[]; refused: readonly Conflict[] } {
    const { wanted, store } = this.#options
    const desired: Endpoint[] = []
    const refused: Conflict[] = []
    for (const name of names)
      for (const endpoint of wanted.candidates(name)) {
        const stored = store.asStored(endpoint)
        if (typeof stored === 'string') refused.push({ dnsName: name, message: stored })
        else desired.push(stored)
      }
    return { desired, refused }
  }

  #compare(current: readonly Endpoint[], desired: readonly Endpoint[]) {
    const { policy, domainFilter, managedRecordTypes, excludeRecordTypes, registry } = this.#options
    const filters = { policy, domainFilter, managedRecordTypes, excludeRecordTypes, ownerId: registry.ownerId }
    return planChanges({ current, desired, ...filters })
  }
}

/** What is not about these names. */
export function without({ create, updateOld, updateNew, delete: gone }: Changes, names: ReadonlySet<string>): Changes {
  const stays = ({ dnsName }: Endpoint) => !names.has(normalName(dnsName))
  return {
    create: create.filter(stays),
    updateOld: updateOld.filter(stays),
    updateNew: updateNew.filter(stays),
    delete: gone.filter(stays),
  }
}
