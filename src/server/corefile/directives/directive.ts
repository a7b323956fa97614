// What every directive is: a function from its line and block to a part of the server block. Lists of several
// directives are joined; anything else may be given once.

import type { ServerBlock } from '../../config.ts'
import type { Position } from '../problem.ts'
import type { Statement } from '../syntax.ts'

export interface BlockScope {
  /** The zones of the server block, the default wherever a directive takes zones. */
  readonly zones: readonly string[]
  /** Directory of relative zone file paths, from `root`. */
  readonly root: string | undefined
  readonly hostname: string
  readonly readFile: (path: string) => string
  /** What directives above have made of the block. */
  readonly above: Partial<ServerBlock>
  readonly notice: (at: Position, message: string) => void
}

export type Directive = (statement: Statement, scope: BlockScope) => Partial<ServerBlock>
