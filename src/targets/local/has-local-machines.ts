// Whether the directory of a stack has anything of a local machine: what it was made of, what should run of it, or its root, of which
// data may have been kept. Those of other targets leave none of that here.

import { readdirSync } from 'node:fs'
import { HoldfastError, reasonOf } from '../../lib/errors.ts'
import { layoutOf } from './layout.ts'
import { isMissing, machinesIn } from './state-file.ts'

export function hasLocalMachines(directory: string): boolean {
  const { manifests, desired, machines } = layoutOf(directory)
  return [machinesIn(manifests), machinesIn(desired), rootsIn(machines)].some((names) => names.length > 0)
}

function rootsIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (isMissing(error)) return []
    throw new HoldfastError('FileUnreadable', `Cannot read "${directory}": ${reasonOf(error)}`, { cause: error })
  }
}
