// A template after parsing: what execution walks over.

/** Offsets into the template, for errors. */
interface Placed {
  readonly at: number
}

export type TemplateNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'print'; readonly pipeline: Pipeline }
  | Control
  | { readonly kind: 'break' | 'continue' }

export interface Control {
  readonly kind: 'if' | 'with' | 'range'
  readonly pipeline: Pipeline
  readonly body: readonly TemplateNode[]
  readonly otherwise: readonly TemplateNode[]
}

/** `$x := a b | c d`: the value of a command is the last argument of the next. */
export interface Pipeline extends Placed {
  /** Variables that get the value; of a range the last one gets the element, the first of two its index. */
  readonly variables: readonly string[]
  /** By `=`, not by `:=`. */
  readonly assigns: boolean
  readonly commands: readonly Command[]
}

/** The first operand, and what it is given if it is a function. */
export interface Command extends Placed {
  readonly first: Operand
  readonly rest: readonly Operand[]
}

export type Operand = Placed &
  (
    | { readonly kind: 'dot' | 'nil' }
    | { readonly kind: 'literal'; readonly value: string | boolean | bigint | number }
    | { readonly kind: 'variable' | 'function'; readonly name: string }
    | { readonly kind: 'pipeline'; readonly pipeline: Pipeline }
    | { readonly kind: 'path'; readonly of: Operand; readonly fields: readonly string[] }
  )
