// What has to change so that what is there becomes what is wanted, after ExternalDNS's plan. Every name (with its set
// identifier) is a row of its own; nothing in one row depends on another, so a plan for a few names is the part of
// the whole plan that is about them. What belongs to somebody else is never changed, and what cannot be is told.

import { chooseCandidate, withoutMixedAliases } from './conflict.ts'
import { aliasBeside, type Conflict, keptByPolicy, lostTo, ownedByOther } from './conflict-messages.ts'
import { type Changes, type Endpoint, LABEL } from './endpoint.ts'
import { normalName } from './normal-name.ts'
import { propertiesDiffer } from './properties.ts'
import { sameTargets } from './targets.ts'

/** upsert-only deletes nothing, create-only also updates nothing. */
export type Policy = 'sync' | 'upsert-only' | 'create-only'

export interface PlanInput {
  /** With label `owner`, as a registry gives them. */
  readonly current: readonly Endpoint[]
  readonly desired: readonly Endpoint[]
  readonly policy: Policy
  readonly managedRecordTypes: readonly string[]
  readonly excludeRecordTypes: readonly string[]
  /** Empty: everything there is counts as ours. */
  readonly ownerId: string
  readonly domainFilter: (name: string) => boolean
}

export interface Plan extends Changes {
  readonly conflicts: readonly Conflict[]
}

interface Row {
  readonly current: Endpoint[]
  readonly candidates: Endpoint[]
}

type Lists = { -readonly [Key in keyof Plan]: Plan[Key][number][] }

export function planChanges(input: PlanInput): Plan {
  const plan: Lists = { create: [], updateOld: [], updateNew: [], delete: [], conflicts: [] }
  for (const row of rowsOf(input).values()) new RowPlan(input, row, plan).run()
  return plan
}

function rowsOf({ current, desired, ...filters }: PlanInput): Map<string, Row> {
  const isManaged = managed(filters)
  const rows = new Map<string, Row>()
  const rowOf = ({ dnsName, setIdentifier = '' }: Endpoint) => {
    const key = `${normalName(dnsName)} ${setIdentifier}`
    const row = rows.get(key) ?? { current: [], candidates: [] }
    rows.set(key, row)
    return row
  }
  for (const endpoint of current) if (isManaged(endpoint)) rowOf(endpoint).current.push(endpoint)
  for (const endpoint of desired) if (isManaged(endpoint)) rowOf(endpoint).candidates.push(endpoint)
  return rows
}

function managed({
  managedRecordTypes,
  excludeRecordTypes,
  domainFilter,
}: Pick<PlanInput, 'managedRecordTypes' | 'excludeRecordTypes' | 'domainFilter'>): (endpoint: Endpoint) => boolean {
  const types = new Set(managedRecordTypes).difference(new Set(excludeRecordTypes))
  return ({ recordType, dnsName }) => types.has(recordType) && domainFilter(dnsName)
}

class RowPlan {
  readonly #input: PlanInput
  readonly #row: Row
  readonly #plan: Lists

  constructor(input: PlanInput, row: Row, plan: Lists) {
    this.#input = input
    this.#row = row
    this.#plan = plan
  }

  run(): void {
    const { kept, dropped } = withoutMixedAliases(this.#row.candidates)
    for (const alias of dropped) this.#plan.conflicts.push(aliasBeside(kept[0], alias))
    const current = Map.groupBy(this.#row.current, ({ recordType }) => recordType)
    const candidates = Map.groupBy(kept, ({ recordType }) => recordType)
    for (const [recordType, endpoints] of current) if (!candidates.has(recordType)) this.#delete(endpoints)
    for (const [recordType, endpoints] of candidates) {
      const present = current.get(recordType)
      // Where it is somebody else's as well, only our part can be changed.
      const ours = present?.findLast((endpoint) => this.#isOurs(endpoint)) ?? present?.at(-1)
      const chosen = this.#choose(endpoints, ours)
      if (ours === undefined) this.#create(chosen)
      else this.#update(ours, chosen)
    }
  }

  #choose(candidates: readonly Endpoint[], current: Endpoint | undefined): Endpoint {
    const chosen = chooseCandidate(candidates, current)
    for (const each of candidates)
      if (each !== chosen && !sameTargets(each.recordType, each.targets, chosen.targets))
        this.#plan.conflicts.push(lostTo(chosen, each))
    return chosen
  }

  #create(wanted: Endpoint): void {
    const { policy } = this.#input
    const foreign = this.#row.current.find((endpoint) => !this.#isOurs(endpoint))
    const kept = policy === 'sync' ? undefined : this.#row.current.find((endpoint) => isMixed(endpoint, wanted))
    if (foreign !== undefined) this.#plan.conflicts.push(ownedByOther(foreign, wanted))
    else if (kept !== undefined) this.#plan.conflicts.push(keptByPolicy(kept, wanted, policy))
    else this.#plan.create.push(wanted)
  }

  #update(current: Endpoint, wanted: Endpoint): void {
    if (!this.#isOurs(current)) {
      this.#plan.conflicts.push(ownedByOther(current, wanted))
      return
    }
    if (this.#input.policy === 'create-only' || !this.#differs(wanted, current)) return
    const owner = current.labels[LABEL.owner]
    const labels = owner === undefined ? wanted.labels : { ...wanted.labels, [LABEL.owner]: owner }
    this.#plan.updateOld.push(current)
    // Spelled as it is stored, whatever the letter case: another spelling would be another key.
    this.#plan.updateNew.push({ ...wanted, dnsName: current.dnsName, labels })
  }

  #delete(endpoints: readonly Endpoint[]): void {
    if (this.#input.policy !== 'sync') return
    this.#plan.delete.push(...endpoints.filter((endpoint) => this.#isOurs(endpoint)))
  }

  #isOurs({ labels }: Endpoint): boolean {
    const { ownerId } = this.#input
    return ownerId === '' || labels[LABEL.owner] === ownerId
  }

  #differs(desired: Endpoint, current: Endpoint): boolean {
    return (
      (desired.recordTTL ?? 0) !== (current.recordTTL ?? 0) ||
      !sameTargets(current.recordType, desired.targets, current.targets) ||
      propertiesDiffer(desired, current)
    )
  }
}

/** A CNAME beside something else. */
function isMixed(a: Endpoint, b: Endpoint): boolean {
  return (a.recordType === 'CNAME') !== (b.recordType === 'CNAME')
}
