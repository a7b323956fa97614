// The record of a stack, which may be damaged or gone. Local machines are found without it, in the directory of the stack; where others
// are, nobody knows then, and by the name alone nothing is done.

import { existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { HoldfastError } from '../lib/errors.ts'
import type { StackDirectory } from './directory.ts'
import { readRecord, type StackRecord } from './record.ts'

/** An error: there is something that cannot be read. */
export type Remembered = StackRecord | HoldfastError | undefined

export async function recall({ record }: StackDirectory): Promise<Remembered> {
  try {
    return await readRecord(record)
  } catch (error) {
    if (error instanceof HoldfastError) return error
    throw error
  }
}

export function recordOf(remembered: Remembered): StackRecord | undefined {
  return remembered instanceof HoldfastError ? undefined : remembered
}

/** There was one: secrets are made after it. */
export function isLost(remembered: Remembered, { secrets }: StackDirectory): boolean {
  return remembered instanceof HoldfastError || (remembered === undefined && existsSync(secrets))
}

/** In all that is decided by. Whether the last `up` came to its end is asked anew by who has to know. */
export function isSame(one: Remembered, other: Remembered): boolean {
  return isDeepStrictEqual(basis(one), basis(other))
}

function basis(remembered: Remembered): unknown {
  if (remembered === undefined || remembered instanceof HoldfastError) return remembered?.code
  const { isComplete: _, hypervisors, homes = {}, stoppedAt, ...rest } = remembered
  return { ...rest, homes, stoppedAt, hypervisors: hypervisors.toSorted() }
}

export function changedMeanwhile(name: string): HoldfastError {
  return new HoldfastError(
    'StackChanged',
    `Cannot change "${name}": another command has changed it meanwhile; run this one again, so that it begins with what is there now`,
    { retryable: true },
  )
}

/** Said to be gone, they would run on. */
export function placeUnknown(name: string, { path, record }: StackDirectory, remembered: Remembered): HoldfastError {
  const why = remembered instanceof HoldfastError ? remembered.message : `there is no "${record}"; restore it`
  return new HoldfastError(
    'StateInvalid',
    `Cannot find the machines of "${name}": what says where they are is lost; nothing was touched`,
    {
      hint: `${why}; without it, "holdfast down FILE --foreign" takes down what a stack of that name has on the hypervisors that the stack file names; if nothing of it is left anywhere, remove "${path}"`,
      cause: remembered,
    },
  )
}
