// A Corefile, in the syntax of CoreDNS, to the configuration of the name server: words, then imports and
// variables, then blocks, then meaning. Files and environment come from the caller; nothing here touches them.

import type { ServerConfig } from '../config.ts'
import { expandTokens } from './expand.ts'
import { readTokens } from './lexer.ts'
import { findOverlaps } from './overlaps.ts'
import { CorefileProblem, corefileError, type Notice, type Position } from './problem.ts'
import { type ReadBlock, readServerBlock } from './server-block.ts'
import { type BlockSyntax, parseBlocks } from './syntax.ts'

export interface CorefileContext {
  /** Path of the Corefile, for messages and for relative imports. */
  readonly file: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly readFile: (path: string) => string
  /** Paths that match an import pattern, in order. Without it patterns match nothing. */
  readonly glob?: (pattern: string) => readonly string[]
  /** The answer to NSID where `nsid` gives none. */
  readonly hostname: string
  /** For keys without a port; 53 unless given. */
  readonly defaultPort?: number
}

export interface LoadedCorefile {
  readonly config: ServerConfig
  readonly notices: readonly Notice[]
}

/** Throws a HoldfastError with code CorefileInvalid that lists every fault. */
export function parseCorefile(text: string, context: CorefileContext): LoadedCorefile {
  const notices: Notice[] = []
  const start: Position = { file: context.file, line: 1, column: 1 }
  const { hostname, readFile, defaultPort = 53 } = context
  try {
    const tokens = expandTokens(readTokens(text, context.file), context, notices)
    const { blocks: syntax, problems: braces } = parseBlocks(tokens)
    if (syntax.length === 0 && braces.length === 0)
      throw new CorefileProblem(start, 'no server block; expected one such as ".:53 { ... }"')
    const read = syntax.map((each) => readServerBlock(each, { hostname, readFile, defaultPort }))
    const problems = [...braces, ...read.flatMap((each) => each.problems), ...overlapProblems(syntax, read)]
    if (problems.length > 0) throw corefileError(problems.toSorted(inOrder))
    return {
      config: { blocks: read.flatMap((each) => each.blocks) },
      notices: [...notices, ...read.flatMap((each) => each.notices)],
    }
  } catch (error) {
    throw error instanceof CorefileProblem ? corefileError([error]) : error
  }
}

/** Of the same file; those of others stay where they are. */
function inOrder({ position: a }: CorefileProblem, { position: b }: CorefileProblem): number {
  return a.file === b.file ? a.line - b.line || a.column - b.column : 0
}

function overlapProblems(syntax: readonly BlockSyntax[], read: readonly ReadBlock[]): CorefileProblem[] {
  return findOverlaps(read.flatMap((each) => each.blocks)).map(({ block, message }) => {
    const index = read.findIndex((each) => each.blocks.includes(block))
    return new CorefileProblem(syntax[index].keys[0], message)
  })
}
