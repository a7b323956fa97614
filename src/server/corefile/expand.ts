// The textual part of a Corefile, done on words before any meaning: {$ENV} and {%ENV%}, snippets
// `(name) { … }`, and `import NAME|FILE|GLOB [ARGUMENTS…]` with {args[0]} … inside what is imported.

import { dirname, isAbsolute, join } from 'node:path'
import { messageOf } from '../../lib/errors.ts'
import { isClosing, isOpening, readTokens, type Token } from './lexer.ts'
import { formatPosition, type Notice, reject } from './problem.ts'

export interface ExpandContext {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly readFile: (path: string) => string
  /** Paths that match a pattern with `*` or `?`, in order. */
  readonly glob?: ((pattern: string) => readonly string[]) | undefined
}

/** Imports that double at each level would otherwise fill the memory. */
const MAX_TOKENS = 200_000
const MAX_IMPORTS = 10_000
const MAX_DEPTH = 64

/** Expands everything; `notices` receives patterns that match nothing. */
export function expandTokens(tokens: readonly Token[], context: ExpandContext, notices: Notice[]): Token[] {
  const snippets = new Map<string, readonly Token[]>()
  const output: Token[] = []
  let imports = 0

  function expand(input: readonly Token[], chain: readonly string[]): void {
    let depth = 0
    for (let at = 0; at < input.length; at++) {
      const token = input[at]
      const name = depth === 0 ? snippetName(token, input[at + 1]) : undefined
      if (name !== undefined) {
        if (snippets.has(name)) reject(token, `snippet "${name}" is defined twice; expected one definition`)
        const end = closingBrace(input, at + 1)
        snippets.set(name, input.slice(at + 2, end))
        at = end
      } else if (token.first && !token.quoted && token.text === 'import') {
        const args = restOfLine(input, at + 1)
        expandImport(token, args, chain)
        at += args.length
      } else {
        if (isOpening(token)) depth++
        if (isClosing(token)) depth--
        if (output.length === MAX_TOKENS) reject(token, `imports make more than ${MAX_TOKENS} words; expected less`)
        output.push(withEnvironment(token, context.env))
      }
    }
  }

  function expandImport(token: Token, args: readonly Token[], chain: readonly string[]): void {
    if (args.length === 0) reject(token, '"import" names nothing; expected import SNIPPET|FILE [ARGUMENTS...]')
    if (++imports > MAX_IMPORTS) reject(token, `more than ${MAX_IMPORTS} imports; expected less`)
    if (chain.length === MAX_DEPTH) reject(token, `imports are nested too deep; expected at most ${MAX_DEPTH} levels`)
    const [target, ...rest] = args.map((arg) => withEnvironment(arg, context.env))
    const snippet = snippets.get(target.text)
    const sources =
      snippet === undefined ? files(target, context, notices) : [{ name: `(${target.text})`, tokens: snippet }]
    for (const { name, tokens: imported } of sources) {
      if (chain.includes(name)) reject(token, `imports itself: ${[...chain, name].join(' > ')}; expected no cycle`)
      // What follows an import starts a line of its own, wherever the imported words stood.
      const [head, ...tail] = imported.map((each) => withArguments(each, rest))
      if (head !== undefined) expand([{ ...head, first: true }, ...tail], [...chain, name])
    }
  }

  expand(tokens, [])
  return output
}

function files(target: Token, context: ExpandContext, notices: Notice[]): { name: string; tokens: Token[] }[] {
  const path = isAbsolute(target.text) ? target.text : join(dirname(target.file), target.text)
  if (!/[*?[]/u.test(path)) return [readImport(target, path, context)]
  const matches = context.glob?.(path) ?? []
  if (matches.length === 0) {
    notices.push({ at: formatPosition(target), message: `import: no file matches "${target.text}"` })
  }
  return matches.map((match) => readImport(target, match, context))
}

function readImport(target: Token, path: string, context: ExpandContext): { name: string; tokens: Token[] } {
  let text: string
  try {
    text = context.readFile(path)
  } catch (error) {
    return reject(target, `cannot import "${path}": ${messageOf(error)}; expected a snippet defined above or a file`)
  }
  return { name: path, tokens: readTokens(text, path) }
}

function snippetName(token: Token, next: Token | undefined): string | undefined {
  if (!token.first || token.quoted || !isOpening(next)) return undefined
  return /^\((.*)\)$/su.exec(token.text)?.[1]
}

function closingBrace(tokens: readonly Token[], opening: number): number {
  let depth = 0
  for (let at = opening; at < tokens.length; at++) {
    if (isOpening(tokens[at])) depth++
    if (isClosing(tokens[at]) && --depth === 0) return at
  }
  return reject(tokens[opening], '"{" is never closed; expected a "}"')
}

function restOfLine(tokens: readonly Token[], from: number): Token[] {
  let end = from
  while (end < tokens.length && !tokens[end].first && !isClosing(tokens[end])) end++
  return tokens.slice(from, end)
}

/** A variable that is not set becomes the empty string, as in CoreDNS; its value is not looked at again. */
function withEnvironment(token: Token, env: ExpandContext['env']): Token {
  if (!token.text.includes('{')) return token
  const text = token.text.replace(
    /\{%([^%}]+)%\}|\{\$([^}]+)\}/gu,
    (_, percent?: string, dollar?: string) => env[percent ?? dollar ?? ''] ?? '',
  )
  return text === token.text ? token : { ...token, text, quoted: true }
}

function withArguments(token: Token, args: readonly Token[]): Token {
  if (!token.text.includes('{args[')) return token
  const text = token.text.replace(/\{args\[(\d+)\]\}/gu, (_, index: string) => {
    const value = args[Number(index)]
    if (value === undefined)
      reject(token, `{args[${index}]} has no value; expected ${Number(index) + 1} import arguments`)
    return value.text
  })
  return { ...token, text }
}
