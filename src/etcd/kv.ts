// Requests and answers about keys, as the client's users see them, and as etcd's messages have them.

import type { COMPARE, OPERATION, OPERATION_ANSWER, RANGE } from './messages.ts'
import { COMPARE_RESULT, COMPARE_TARGET } from './messages.ts'
import type { Decoded, Encodable } from './protobuf.ts'

/** Key and value are views of the answer they came in: copy what is kept for long. */
export interface KeyValue {
  readonly key: Uint8Array
  readonly value: Uint8Array
  readonly createRevision: bigint
  readonly modRevision: bigint
  readonly version: bigint
  readonly lease: bigint
}

export interface RangeRequest {
  readonly key: Uint8Array
  readonly rangeEnd?: Uint8Array
  readonly limit?: number
  readonly revision?: bigint
  readonly keysOnly?: boolean
  /** From the member's own memory, which may be behind the others. */
  readonly serializable?: boolean
}

export interface RangeResult {
  readonly revision: bigint
  readonly clusterId: bigint
  /** Never goes down in the life of a cluster; a cluster restored from a backup begins anew. */
  readonly raftTerm: bigint
  readonly kvs: readonly KeyValue[]
  /** Keys in the range, whatever the limit. */
  readonly count: bigint
  readonly more: boolean
}

/** Version 0 means that the key does not exist. With `rangeEnd` it has to hold for every key of the range there is. */
export type Compare = {
  readonly key: Uint8Array
  readonly rangeEnd?: Uint8Array
  readonly result?: keyof typeof COMPARE_RESULT
} & (
  | { readonly target: 'mod' | 'create'; readonly revision: bigint }
  | { readonly target: 'version'; readonly version: bigint }
  | { readonly target: 'value'; readonly value: Uint8Array }
  | { readonly target: 'lease'; readonly lease: bigint }
)

export type Operation =
  | { readonly put: { readonly key: Uint8Array; readonly value: Uint8Array; readonly lease?: bigint } }
  | { readonly range: RangeRequest }
  | { readonly delete: { readonly key: Uint8Array; readonly rangeEnd?: Uint8Array } }

/** In the order of the operations; a put has nothing to tell. */
export interface OperationResult {
  readonly range?: { readonly kvs: readonly KeyValue[]; readonly count: bigint; readonly more: boolean }
  readonly delete?: { readonly deleted: bigint }
}

export interface TxnResult {
  readonly succeeded: boolean
  readonly revision: bigint
  readonly responses: readonly OperationResult[]
}

export function encodableRange({ limit, ...rest }: RangeRequest): Encodable<typeof RANGE> {
  return { ...rest, ...(limit !== undefined && { limit: BigInt(limit) }) }
}

export function encodableCompare(compare: Compare): Encodable<typeof COMPARE> {
  const { key, rangeEnd, target, result = 'equal' } = compare
  return { key, rangeEnd, target: COMPARE_TARGET[target], result: COMPARE_RESULT[result], ...comparedValue(compare) }
}

/** Into the field of its target. It is sent also when it is 0, as absent would mean something else to etcd. */
function comparedValue(compare: Compare): Encodable<typeof COMPARE> {
  if ('revision' in compare) {
    return compare.target === 'mod' ? { modRevision: compare.revision } : { createRevision: compare.revision }
  }
  const { key: _key, target: _target, result: _result, ...value } = compare
  return value
}

export function encodableOperation(operation: Operation): Encodable<typeof OPERATION> {
  return 'range' in operation ? { range: encodableRange(operation.range) } : operation
}

export function keyOf(operation: Operation): Uint8Array {
  if ('put' in operation) return operation.put.key
  return 'range' in operation ? operation.range.key : operation.delete.key
}

export function operationResult(answer: Decoded<typeof OPERATION_ANSWER>): OperationResult {
  if (answer.range !== undefined) {
    const { kvs, count, more } = answer.range
    return { range: { kvs, count, more } }
  }
  return answer.delete === undefined ? {} : { delete: { deleted: answer.delete.deleted } }
}
