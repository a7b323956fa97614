// Walks over a template with an object as its dot, by the rules of Go's text/template, and returns the text.

import type { TemplateFunction } from './builtin-functions.ts'
import { formatValue } from './go-format.ts'
import { TemplateError } from './template-error.ts'
import type { Command, Control, Operand, Pipeline, TemplateNode } from './template-tree.ts'
import type { Value } from './template-value.ts'
import { ABSENT, describe, fieldOf, isTrue, ListValue, MapValue } from './template-value.ts'

/** What a template is executed with beside its data. */
export interface Surroundings {
  readonly functions: Readonly<Record<string, TemplateFunction>>
  /** Where the data come from, as --source names it. */
  readonly source: string
}

export function executeTemplate(nodes: readonly TemplateNode[], data: Value, surroundings: Surroundings): string {
  const execution = new Execution(data, surroundings)
  execution.walk(nodes, data)
  return execution.output
}

/** What a list of nodes was left by, if not by its end. */
type Leaving = 'break' | 'continue' | undefined

class Execution {
  output = ''
  readonly #surroundings: Surroundings
  /** Innermost last. */
  readonly #variables: { readonly name: string; value: Value }[]

  constructor(data: Value, surroundings: Surroundings) {
    this.#surroundings = surroundings
    this.#variables = [{ name: '$', value: data }]
  }

  walk(nodes: readonly TemplateNode[], dot: Value): Leaving {
    for (const node of nodes) {
      const leaving = this.#node(node, dot)
      if (leaving !== undefined) return leaving
    }
    return undefined
  }

  #node(node: TemplateNode, dot: Value): Leaving {
    switch (node.kind) {
      case 'text':
        this.output += node.text
        return undefined
      case 'print':
        this.#print(node.pipeline, dot)
        return undefined
      case 'break':
      case 'continue':
        return node.kind
      default:
        return this.#scoped(() => (node.kind === 'range' ? this.#range(node, dot) : this.#choose(node, dot)))
    }
  }

  #print(pipeline: Pipeline, dot: Value): void {
    const value = this.#pipeline(pipeline, dot)
    if (pipeline.variables.length > 0) return
    this.output += value === undefined ? '<no value>' : placed(pipeline.at, () => formatValue(value))
  }

  #choose({ kind, pipeline, body, otherwise }: Control, dot: Value): Leaving {
    const value = this.#pipeline(pipeline, dot)
    if (!isTrue(value)) return this.walk(otherwise, dot)
    return this.walk(body, kind === 'with' ? value : dot)
  }

  #range(node: Control, dot: Value): Leaving {
    const { pipeline, body, otherwise } = node
    const elements = placed(pipeline.at, () => elementsOf(this.#evaluate(pipeline, dot), pipeline.variables.length))
    let isEmpty = true
    for (const [key, element] of elements) {
      isEmpty = false
      const leaving = this.#scoped(() => {
        this.#bind(pipeline, pipeline.variables.length > 1 ? [key, element] : [element])
        return this.walk(body, element)
      })
      if (leaving === 'break') break
    }
    return isEmpty ? this.walk(otherwise, dot) : undefined
  }

  /** Variables last until the end of what declares them. */
  #scoped<T>(action: () => T): T {
    const outer = this.#variables.length
    const result = action()
    this.#variables.length = outer
    return result
  }

  #pipeline(pipeline: Pipeline, dot: Value): Value {
    const value = this.#evaluate(pipeline, dot)
    this.#bind(pipeline, [value])
    return value
  }

  #evaluate({ commands }: Pipeline, dot: Value): Value {
    let piped: readonly Value[] = []
    for (const command of commands) piped = [this.#command(command, dot, piped)]
    return piped[0]
  }

  #bind({ variables, assigns, at }: Pipeline, values: readonly Value[]): void {
    for (const [index, name] of variables.entries()) {
      if (assigns) this.#variable(name, at).value = values[index]
      else this.#variables.push({ name, value: values[index] })
    }
  }

  #variable(name: string, at: number): { value: Value } {
    const found = this.#variables.findLast((variable) => variable.name === name)
    if (found === undefined) throw new TemplateError(`variable ${name} has no value here`, at)
    return found
  }

  #command({ first, rest }: Command, dot: Value, piped: readonly Value[]): Value {
    if (first.kind === 'function') return this.#call(first.name, { args: rest, piped, dot, at: first.at })
    if (rest.length > 0 || piped.length > 0) throw new TemplateError('only functions take arguments', first.at)
    if (first.kind === 'nil') throw new TemplateError('nil is not a value of its own', first.at)
    return this.#operand(first, dot)
  }

  #operand(operand: Operand, dot: Value): Value {
    switch (operand.kind) {
      case 'dot':
        return dot
      case 'nil':
        return undefined
      case 'literal':
        return operand.value
      case 'variable':
        return this.#variable(operand.name, operand.at).value
      case 'function':
        return this.#call(operand.name, { args: [], piped: [], dot, at: operand.at })
      case 'pipeline':
        return this.#pipeline(operand.pipeline, dot)
      default: {
        const start = this.#operand(operand.of, dot)
        return placed(operand.at, () => operand.fields.reduce(fieldOf, start))
      }
    }
  }

  #call(
    name: string,
    { args, piped, dot, at }: { args: readonly Operand[]; piped: readonly Value[]; dot: Value; at: number },
  ): Value {
    if (name === 'and' || name === 'or') return this.#logic(name, { args, piped, dot, at })
    const { functions, source } = this.#surroundings
    const { fewest, most, call } = functions[name]
    const values = [...args.map((arg) => this.#operand(arg, dot)), ...piped]
    if (values.length < fewest || values.length > most)
      throw new TemplateError(`${name} got ${values.length} arguments; expected ${countText(fewest, most)}`, at)
    return placed(at, () => call(values, source))
  }

  /** Go works out no more arguments than it needs. */
  #logic(
    name: 'and' | 'or',
    { args, piped, dot, at }: { args: readonly Operand[]; piped: readonly Value[]; dot: Value; at: number },
  ): Value {
    if (args.length + piped.length === 0) throw new TemplateError(`${name} got no arguments; expected at least 1`, at)
    let value: Value
    for (const arg of args) {
      value = this.#operand(arg, dot)
      if (isTrue(value) === (name === 'or')) return value
    }
    return piped.length > 0 ? piped[0] : value
  }
}

/** Keys or indexes, and what is there. */
function elementsOf(value: Value, variables: number): readonly (readonly [Value, Value])[] {
  if (value === undefined || value === ABSENT) return []
  if (value instanceof ListValue)
    return Array.from({ length: value.length }, (_, index) => [BigInt(index), value.at(index)])
  if (value instanceof MapValue) return value.keys().map((key) => [key, value.get(key)])
  if (typeof value === 'bigint' && variables < 2)
    return Array.from({ length: Math.max(0, Number(value)) }, (_, count) => [undefined, BigInt(count)])
  throw new TemplateError(`range got ${describe(value)}; expected a list or a map`)
}

function countText(fewest: number, most: number): string {
  if (fewest === most) return String(fewest)
  return most === Infinity ? `at least ${fewest}` : `${fewest} to ${most}`
}

/** Errors of what knows no place get one. */
function placed<T>(at: number, action: () => T): T {
  try {
    return action()
  } catch (error) {
    if (error instanceof TemplateError && error.at === undefined) throw new TemplateError(error.message, at)
    throw error
  }
}
