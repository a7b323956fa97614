// Tokens to a tree, by the grammar of Go's text/template. Functions and variables are checked here, so that a template that
// was read can only fail on the data. Not taken: define, template and block, which name templates within templates.

import { parseChar, parseNumber, unquote } from './go-literal.ts'
import { TemplateError } from './template-error.ts'
import type { Token } from './template-tokens.ts'
import { tokensOf } from './template-tokens.ts'
import type { Command, Control, Operand, Pipeline, TemplateNode } from './template-tree.ts'

export function parseTemplate(text: string, isFunction: (name: string) => boolean): readonly TemplateNode[] {
  const parser = new TemplateParser(tokensOf(text), isFunction)
  const { nodes, end } = parser.list()
  if (end.kind !== 'end') throw new TemplateError(`{{${end.text}}} has no beginning`, end.at)
  return nodes
}

/** Words with a meaning of their own as the first of an action. */
const CONTROLS: ReadonlySet<string> = new Set(['if', 'with', 'range'])
const LEFT_OUT: ReadonlySet<string> = new Set(['define', 'template', 'block'])
const OPERANDS: ReadonlySet<string> = new Set(['word', 'field', 'dot', 'variable', 'number', 'char', 'string', 'raw'])

class TemplateParser {
  readonly #tokens: readonly Token[]
  readonly #isFunction: (name: string) => boolean
  #next = 0
  /** Names in scope, innermost last. */
  #variables: string[] = ['$']
  #ranges = 0

  constructor(tokens: readonly Token[], isFunction: (name: string) => boolean) {
    this.#tokens = tokens
    this.#isFunction = isFunction
  }

  /** Nodes up to {{else}}, {{end}} or the end; of the first two the word is taken, not its `}}`. */
  list(): { nodes: readonly TemplateNode[]; end: Token } {
    const nodes: TemplateNode[] = []
    for (;;) {
      const token = this.#take()
      if (token.kind === 'end') return { nodes, end: token }
      if (token.kind === 'text') {
        nodes.push({ kind: 'text', text: token.text })
        continue
      }
      this.#skipSpace()
      const word = this.#peek()
      if (isWord(word, 'else') || isWord(word, 'end')) return { nodes, end: this.#take() }
      nodes.push(this.#action(word))
    }
  }

  #action(word: Token): TemplateNode {
    if (word.kind === 'word') {
      if (CONTROLS.has(word.text)) return this.#control(this.#take())
      if (word.text === 'break' || word.text === 'continue') return this.#leave(word.text)
      if (LEFT_OUT.has(word.text))
        throw new TemplateError(`{{${word.text}}} is not known here; expected a template without named parts`, word.at)
    }
    return { kind: 'print', pipeline: this.#pipeline('close') }
  }

  #leave(kind: 'break' | 'continue'): TemplateNode {
    const { at } = this.#take()
    if (this.#ranges === 0) throw new TemplateError(`{{${kind}}} stands outside of {{range}}`, at)
    this.#close(kind)
    return { kind }
  }

  #control(word: Token): Control {
    const kind = word.text as Control['kind']
    const outer = this.#variables.length
    const pipeline = this.#pipeline('close', kind)
    if (kind === 'range') this.#ranges += 1
    const { nodes, end } = this.list()
    if (kind === 'range') this.#ranges -= 1
    if (end.kind === 'end') throw new TemplateError(`{{${kind}}} has no {{end}}`, word.at)
    let otherwise: readonly TemplateNode[] = []
    if (end.text === 'else') otherwise = this.#otherwise(word)
    else this.#close('end')
    this.#variables.length = outer
    return { kind, pipeline, body: nodes, otherwise }
  }

  /** After `{{else`: a list of its own, or another `if` or `with` that shares the `{{end}}`. */
  #otherwise(word: Token): readonly TemplateNode[] {
    this.#skipSpace()
    if (word.text !== 'range' && isWord(this.#peek(), word.text)) return [this.#control(this.#take())]
    this.#close('else')
    const { nodes, end } = this.list()
    if (!isWord(end, 'end')) throw new TemplateError(`{{${word.text}}} has no {{end}} after {{else}}`, word.at)
    this.#close('end')
    return nodes
  }

  #close(word: string): void {
    this.#skipSpace()
    const token = this.#take()
    if (token.kind !== 'close') throw this.#unexpected(token, `}} after ${word}`)
  }

  #pipeline(ending: 'close' | ')', context = ''): Pipeline {
    this.#skipSpace()
    const { at } = this.#peek()
    const { variables, assigns } = this.#declared(context)
    const commands: Command[] = []
    for (;;) {
      this.#skipSpace()
      const token = this.#peek()
      if (token.kind === ending || token.text === ending) break
      if (!OPERANDS.has(token.kind) && token.text !== '(') throw this.#unexpected(token, 'a value')
      commands.push(this.#command(commands.length > 0))
    }
    this.#take()
    if (commands.length === 0) throw new TemplateError('a value is missing', at)
    return { variables, assigns, commands, at }
  }

  /** `$x :=`, `$x =`, or of a range `$i, $x :=`. */
  #declared(context: string): Pick<Pipeline, 'variables' | 'assigns'> {
    const start = this.#next
    const variables: string[] = []
    while (this.#peek().kind === 'variable') {
      variables.push(this.#take().text)
      this.#skipSpace()
      const separator = this.#take()
      if (separator.text === ':=' || separator.text === '=') {
        if (separator.text === '=') for (const name of variables) this.#expectVariable(name, separator.at)
        this.#variables.push(...variables)
        return { variables, assigns: separator.text === '=' }
      }
      if (separator.text !== ',') break
      if (context !== 'range' || variables.length > 1)
        throw new TemplateError('too many variables; expected one, or two of a range', separator.at)
      this.#skipSpace()
    }
    // It is a value, not a declaration.
    this.#next = start
    return { variables: [], assigns: false }
  }

  #command(isPiped: boolean): Command {
    const operands: Operand[] = []
    const { at } = this.#peek()
    for (;;) {
      operands.push(this.#operand())
      const token = this.#take()
      if (token.kind === 'space') {
        const next = this.#peek()
        if (OPERANDS.has(next.kind) || next.text === '(') continue
        if (next.text === '|') this.#take()
        break
      }
      if (token.text === '|') break
      this.#next -= 1
      if (token.kind === 'close' || token.text === ')') break
      throw this.#unexpected(token, 'a space, | or }}')
    }
    const [first, ...rest] = operands
    if (isPiped && (first.kind === 'literal' || first.kind === 'dot' || first.kind === 'nil'))
      throw new TemplateError('a value stands after |; expected a function', first.at)
    return { first, rest, at }
  }

  #operand(): Operand {
    const term = this.#term()
    const fields: string[] = []
    while (this.#peek().kind === 'field') fields.push(this.#take().text.slice(1))
    if (fields.length === 0) return term
    if (term.kind === 'path') return { ...term, fields: [...term.fields, ...fields] }
    if (term.kind === 'literal' || term.kind === 'nil' || term.kind === 'dot')
      throw new TemplateError(`.${fields[0]} stands after something that has no fields`, term.at)
    return { kind: 'path', of: term, fields, at: term.at }
  }

  #term(): Operand {
    const token = this.#take()
    const { kind, text, at } = token
    switch (kind) {
      case 'dot':
        return { kind, at }
      case 'field':
        return { kind: 'path', of: { kind: 'dot', at }, fields: [text.slice(1)], at }
      case 'variable':
        this.#expectVariable(text, at)
        return { kind, name: text, at }
      case 'string':
        return { kind: 'literal', value: unquote(text, at), at }
      case 'raw':
        return { kind: 'literal', value: text.slice(1, -1).replaceAll('\r', ''), at }
      case 'char':
        return { kind: 'literal', value: parseChar(text, at), at }
      case 'number':
        return { kind: 'literal', value: parseNumber(text, at), at }
      case 'word':
        return this.#named(token)
      default:
        if (text === '(') return { kind: 'pipeline', pipeline: this.#pipeline(')'), at }
        throw this.#unexpected(token, 'a value')
    }
  }

  #named({ text, at }: Token): Operand {
    if (text === 'true' || text === 'false') return { kind: 'literal', value: text === 'true', at }
    if (text === 'nil') return { kind: 'nil', at }
    if (!this.#isFunction(text))
      throw new TemplateError(`function ${JSON.stringify(text)} is not known; expected a field such as .Name`, at)
    return { kind: 'function', name: text, at }
  }

  #expectVariable(name: string, at: number): void {
    if (!this.#variables.includes(name)) throw new TemplateError(`variable ${name} is not declared`, at)
  }

  #skipSpace(): void {
    if (this.#peek().kind === 'space') this.#next += 1
  }

  #peek(): Token {
    return this.#tokens[this.#next]
  }

  #take(): Token {
    const token = this.#peek()
    if (token.kind !== 'end') this.#next += 1
    return token
  }

  #unexpected(token: Token, wanted: string): TemplateError {
    const found = token.kind === 'end' ? 'it ends' : `${JSON.stringify(token.text)} stands here`
    return new TemplateError(`${found}; expected ${wanted}`, token.at)
  }
}

function isWord(token: Token, text: string): boolean {
  return token.kind === 'word' && token.text === text
}
