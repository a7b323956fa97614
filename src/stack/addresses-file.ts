// The addresses that machines of a stack were given, kept so that none moves when another one is removed.

import { HoldfastError } from '../lib/errors.ts'
import { readKept } from './kept.ts'

export async function readAddresses(path: string): Promise<Readonly<Record<string, string>>> {
  const value = (await readKept(path)) ?? {}
  const isValid = typeof value === 'object' && Object.values(value).every((address) => typeof address === 'string')
  if (isValid) return value as Readonly<Record<string, string>>
  throw new HoldfastError('StateInvalid', `Cannot use "${path}": it is not what was written there; restore it`)
}
