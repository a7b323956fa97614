// What has to change, name by name: a name is changed as a whole, all its records at once. What the values in etcd have no
// room for is told and left out: it would be read back as something else, and be written again for ever.

import type { Changes, Endpoint } from '../../endpoints/endpoint.ts'
import { normalName } from '../../endpoints/normal-name.ts'
import { asStored, storageProblem } from './storable.ts'
import { withoutFinalDot } from './target.ts'

export interface RecordChange {
  readonly type: string
  /** Targets that the record had so far. */
  readonly had: readonly string[]
  /** As it can be stored. Undefined: the record goes. */
  readonly wanted: Endpoint | undefined
}

export interface NameChange {
  /** As it is written into keys. */
  readonly name: string
  readonly records: readonly RecordChange[]
}

export interface NameProblem {
  readonly name: string
  readonly message: string
  /** Whether it can go away by itself. */
  readonly retryable: boolean
}

/** By normalised name. */
export function changesByName(changes: Changes): {
  readonly names: ReadonlyMap<string, NameChange>
  readonly problems: readonly NameProblem[]
} {
  const steps = [
    ...changes.delete.map((old) => ({ old, wanted: undefined })),
    ...changes.updateNew.map((wanted, index) => ({ old: changes.updateOld[index], wanted })),
    ...changes.create.map((wanted) => ({ old: undefined, wanted })),
  ]
  const problems: NameProblem[] = []
  const storable = steps.filter(({ wanted }) => {
    const message = wanted && storageProblem(wanted)
    if (wanted !== undefined && message !== undefined)
      problems.push({ name: wanted.dnsName, message, retryable: false })
    return message === undefined
  })
  const byName = Map.groupBy(storable, ({ old, wanted }) => normalName((wanted ?? old).dnsName))
  const names = Array.from(byName, ([normal, each]): [string, NameChange] => {
    const [{ old, wanted }] = each
    return [normal, { name: withoutFinalDot((wanted ?? old).dnsName), records: each.flatMap(recordChanges) }]
  })
  return { names: new Map(names), problems }
}

type Step =
  | { readonly old: Endpoint; readonly wanted: undefined }
  | { readonly old: Endpoint | undefined; readonly wanted: Endpoint }

function recordChanges({ old, wanted }: Step): RecordChange[] {
  if (wanted === undefined) return [{ type: old.recordType, had: old.targets, wanted }]
  const type = wanted.recordType
  if (old === undefined || old.recordType === type) return [{ type, had: old?.targets ?? [], wanted: asStored(wanted) }]
  return [...recordChanges({ old, wanted: undefined }), ...recordChanges({ old: undefined, wanted })]
}
