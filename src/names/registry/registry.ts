// How it is known to whom an endpoint belongs. A registry reads ownership into label `owner` before a plan is made, and
// adds to the plan what makes ownership known:
//
//   stored records ──records──▶ current ──planChanges──▶ changes ──mark──▶ changes to be stored
//
// Some registries keep it in records of their own, called marks here, which stand at other names than the endpoint. A few
// names can be looked at alone: with the stored records of those names and of their markNames(), records() and
// mark() say about them what they would say with everything.

import { HoldfastError } from '../../lib/errors.ts'
import type { Conflict } from '../endpoints/conflict-messages.ts'
import { type Changes, type Endpoint, LABEL } from '../endpoints/endpoint.ts'

export interface Registry {
  /** Empty: nobody owns anything, everything may be changed. */
  readonly ownerId: string
  /** What is stored, with ownership in the labels and without marks. */
  records(stored: readonly Endpoint[]): readonly Endpoint[]
  /**
   * Changes with what marks ownership; `stored` is what records() was given. New endpoints have label `owner`. Marks that
   * exist keep their labels in `updateOld` and `delete`, so that they are found where they are.
   */
  mark(changes: Changes, stored: readonly Endpoint[]): MarkedChanges
  /** Every name at which marks of this name's endpoints can be, and names that can share these marks. */
  markNames(dnsName: string): readonly string[]
  /** The names that a record can be a mark for; none if it is no mark. */
  markedNames(record: Endpoint): readonly string[]
}

export interface MarkedChanges extends Changes {
  /** What cannot be marked as ours and is therefore left out. */
  readonly conflicts: readonly Conflict[]
}

/** Without what changes something of another owner. A plan has none of that; a second look costs little. */
export function ownChanges(changes: Changes, ownerId: string): Changes {
  const isOwn = ({ labels }: Endpoint) => labels[LABEL.owner] === ownerId
  return {
    create: changes.create.map((endpoint) => ownedBy(endpoint, ownerId)),
    updateOld: changes.updateOld.filter(isOwn),
    updateNew: changes.updateNew
      .filter((_, index) => isOwn(changes.updateOld[index]))
      .map((each) => ownedBy(each, ownerId)),
    delete: changes.delete.filter(isOwn),
  }
}

export function ownedBy(endpoint: Endpoint, ownerId: string): Endpoint {
  if (endpoint.labels[LABEL.owner] === ownerId) return endpoint
  return { ...endpoint, labels: { ...endpoint.labels, [LABEL.owner]: ownerId } }
}

/** Texts of labels are separated by commas, and quoted. */
export function checkOwner(ownerId: string): void {
  if (ownerId !== '' && !/[,"]/u.test(ownerId)) return
  const state = ownerId === '' ? 'it is empty' : 'it has a comma or a quote'
  throw new HoldfastError('Usage', `Cannot use "${ownerId}" as owner: ${state}; expected a name such as "default"`)
}
