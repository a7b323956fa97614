// `loop`: stop when our own queries come back through a forwarder.

import { readArguments, refuseBlock } from '../arguments.ts'
import type { Directive } from './directive.ts'

export const loop: Directive = (statement) => {
  readArguments(statement, 'loop', 0)
  refuseBlock(statement)
  return { loop: true }
}
