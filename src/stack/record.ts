// What is remembered of a stack besides its machines: the file it comes from, and whether its etcd cluster was ever formed (from
// then on members join and leave; before that they all start together).

import { HoldfastError } from '../lib/errors.ts'
import { readKept, writeKept } from './kept.ts'

export interface StackRecord {
  readonly file: string
  readonly isEtcdFormed: boolean
}

export async function readRecord(path: string): Promise<StackRecord | undefined> {
  const value = (await readKept(path)) as Partial<StackRecord> | undefined
  if (value === undefined) return undefined
  if (typeof value?.file !== 'string')
    throw new HoldfastError('StateInvalid', `Cannot use "${path}": it is not what was written there; restore it`)
  return { file: value.file, isEtcdFormed: value.isEtcdFormed === true }
}

export function writeRecord(path: string, record: StackRecord): Promise<void> {
  return writeKept(path, record)
}
