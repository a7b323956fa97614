// What the tests of this folder share: a names.yaml with files and variables in memory, loaded or refused.

import { HoldfastError } from '../../lib/errors.ts'
import { type LoadedNames, loadNames } from './load-names.ts'

interface World {
  readonly files?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  readonly file?: string
}

export function load(text: string, { files = {}, env = {}, file = 'names.yaml' }: World = {}): LoadedNames {
  const readFile = (path: string) => {
    if (files[path] === undefined) throw new Error('no such file')
    return files[path]
  }
  return loadNames(text, { file, env, hostname: 'ns1', readFile, readSecret: readFile })
}

/** The lines of the refusal, without `Cannot load names.yaml:`. */
export function problems(text: string, world: World = {}): string[] {
  try {
    load(text, world)
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'NamesInvalid')
      return error.message.split('\n').map((line) => line.replace('Cannot load names.yaml:', ''))
    throw error
  }
  throw new Error('names.yaml was accepted')
}
