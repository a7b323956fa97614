// What a name stands for when there is nobody else to ask: what its objects want, and where they disagree, whoever has it
// keeps it, as ExternalDNS decides. For outputs that hold nothing but these names.

import { type Endpoint, LABEL } from '../endpoints/endpoint.ts'
import { planChanges } from '../endpoints/plan.ts'
import { ToldProblems } from './told-problems.ts'

/** Every type that an object can ask for. */
const RECORD_TYPES: readonly string[] = ['A', 'AAAA', 'CNAME', 'TXT', 'SRV', 'NS', 'PTR', 'MX', 'NAPTR']

export class SettledNames {
  readonly #candidates: (name: string) => readonly Endpoint[]
  readonly #problems: ToldProblems
  readonly #settled = new Map<string, readonly Endpoint[]>()

  constructor(candidates: (name: string) => readonly Endpoint[], onProblem: (message: string) => void) {
    this.#candidates = candidates
    this.#problems = new ToldProblems(onProblem)
  }

  /** Looks at what is wanted now. */
  settle(name: string): readonly Endpoint[] {
    const current = this.#settled.get(name) ?? []
    const desired = this.#candidates(name)
    const plan = planChanges({
      ...{ current, desired, policy: 'sync', ownerId: '', domainFilter: () => true },
      ...{ managedRecordTypes: RECORD_TYPES, excludeRecordTypes: [] },
    })
    const replaced = new Set([...plan.updateOld, ...plan.delete])
    const endpoints = [...current.filter((endpoint) => !replaced.has(endpoint)), ...plan.updateNew, ...plan.create]
    if (endpoints.length === 0) this.#settled.delete(name)
    else this.#settled.set(name, endpoints)
    const unknown = desired.filter(({ recordType }) => !RECORD_TYPES.includes(recordType)).map(unknownType)
    this.#problems.set(name, [...unknown, ...plan.conflicts.map(({ message }) => message)])
    return endpoints
  }

  /** What is wrong with what the name was settled to be. */
  tell(name: string, problems: readonly string[]): void {
    this.#problems.set(`settled ${name}`, problems)
  }
}

function unknownType({ dnsName, recordType, labels }: Endpoint): string {
  return `Cannot publish "${dnsName}" as ${recordType} for ${labels[LABEL.resource]}: no such type can be; expected one of ${RECORD_TYPES.join(', ')}`
}
