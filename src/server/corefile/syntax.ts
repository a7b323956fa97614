// Words to server blocks: a line of keys, then statements `NAME ARGUMENTS… [{ statements }]`, one a line.
// Braces around the only block of a file may be left out. Nothing here knows what a directive means.

import { isClosing, isOpening, type Token } from './lexer.ts'
import { CorefileProblem, reject } from './problem.ts'

export interface Statement {
  readonly name: Token
  readonly args: readonly Token[]
  readonly block: readonly Statement[]
}

export interface BlockSyntax {
  readonly keys: readonly Token[]
  readonly statements: readonly Statement[]
}

const MAX_DEPTH = 8

/** Braces that do not match are among the problems, and reading continues, so that they do not hide other faults. */
export function parseBlocks(tokens: readonly Token[]): {
  readonly blocks: readonly BlockSyntax[]
  readonly problems: readonly CorefileProblem[]
} {
  const blocks: BlockSyntax[] = []
  const problems: CorefileProblem[] = []
  let at = 0

  function keys(): Token[] {
    const found: Token[] = []
    let more = true
    while (at < tokens.length && !isOpening(tokens[at]) && (more || !tokens[at].first)) {
      const token = tokens[at++]
      more = token.text.endsWith(',')
      const text = more ? token.text.slice(0, -1) : token.text
      refuseGluedBrace(token)
      if (text !== '') found.push({ ...token, text })
    }
    if (more && found.length > 0)
      reject(found[found.length - 1], 'a comma ends the list of zones; expected another zone')
    if (found.length === 0) reject(tokens[Math.min(at, tokens.length - 1)], 'no zone before "{"; expected ".:53 {"')
    return found
  }

  function statements(opening: Token | undefined, depth: number): Statement[] {
    if (opening !== undefined && depth > MAX_DEPTH)
      reject(opening, 'braces are nested too deep; expected at most 8 levels')
    const found: Statement[] = []
    while (at < tokens.length) {
      const name = tokens[at++]
      if (isClosing(name)) {
        if (opening !== undefined) return found
        problems.push(new CorefileProblem(name, CLOSES_NOTHING))
        continue
      }
      if (isOpening(name)) reject(name, '"{" starts a line; expected the "{" at the end of the line it belongs to')
      found.push(statement(name, depth))
    }
    if (opening !== undefined) problems.push(new CorefileProblem(opening, '"{" is never closed; expected a "}"'))
    return found
  }

  function statement(name: Token, depth: number): Statement {
    const args: Token[] = []
    while (at < tokens.length && !tokens[at].first && !isOpening(tokens[at]) && !isClosing(tokens[at])) {
      args.push(tokens[at++])
    }
    const opens = at < tokens.length && !tokens[at].first && isOpening(tokens[at])
    return { name, args, block: opens ? statements(tokens[at++], depth + 1) : [] }
  }

  while (at < tokens.length) {
    if (isClosing(tokens[at])) {
      problems.push(new CorefileProblem(tokens[at++], CLOSES_NOTHING))
      continue
    }
    const found = keys()
    const opening = isOpening(tokens[at]) ? tokens[at++] : undefined
    blocks.push({ keys: found, statements: statements(opening, 1) })
  }
  return { blocks, problems }
}

const CLOSES_NOTHING = '"}" closes nothing; expected a "{" before it'

function refuseGluedBrace(token: Token): void {
  if (token.quoted || !token.text.endsWith('{')) return
  reject(token, `"{" is part of the word "${token.text}"; expected a space before "{"`)
}
