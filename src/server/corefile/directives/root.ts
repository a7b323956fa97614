// `root DIRECTORY`: where relative zone file paths start. Read before all other directives of its block.

import { readArguments, refuseBlock } from '../arguments.ts'
import type { Directive } from './directive.ts'

export const root: Directive = (statement) => {
  const [directory] = readArguments(statement, 'root DIRECTORY', 1)
  refuseBlock(statement)
  return { root: directory.text }
}
