// Values inside of a template, as Go would have them: integers are bigint and other numbers number, because Go tells them
// apart; `undefined` is Go's nil or a missing key, which prints as "<no value>". Objects stay as they came from the API and
// are looked into on the way: as a struct, whose fields may be written in Go's spelling, or as a map, whose keys are exact.

import { TemplateError } from './template-error.ts'

/** A field that the object does not have. Go would have the zero of its type; which one that is, the next step shows. */
export const ABSENT = Symbol('absent')

export type Value =
  | (undefined | boolean | bigint | number | string)
  | (typeof ABSENT | ListValue | MapValue | StructValue)

/** The fields of a struct and of those inside of it, by their names in small letters, with what absent ones are. */
export type StructFields = ReadonlyMap<string, Value>

/**
 * How Go sees what is in an object: as a struct, as map[string]string, as anything; and what JSON decodes to, where all
 * numbers are floating.
 */
export type View = StructFields | 'strings' | 'any' | 'json'

export class ListValue {
  readonly #items: readonly unknown[]
  readonly #view: View

  constructor(items: readonly unknown[], view: View) {
    this.#items = items
    this.#view = view
  }

  get length(): number {
    return this.#items.length
  }

  at(index: number): Value {
    return valueOf(this.#items[index], this.#view)
  }

  slice(from: number, to: number): ListValue {
    return new ListValue(this.#items.slice(from, to), this.#view)
  }
}

export class MapValue {
  readonly #entries: Readonly<Record<string, unknown>>
  readonly #view: View

  constructor(entries: Readonly<Record<string, unknown>>, view: View) {
    this.#entries = entries
    this.#view = view
  }

  get size(): number {
    return Object.keys(this.#entries).length
  }

  /** In the order that Go ranges over maps. */
  keys(): string[] {
    return Object.keys(this.#entries).toSorted()
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#entries, key)
  }

  get(key: string): Value {
    return this.has(key) ? valueOf(this.#entries[key], this.#view) : undefined
  }

  /** As `.key`; that an object must have, or a slip of the pen would become a name. */
  field(key: string): Value {
    if (this.#view === 'any' && !this.has(key)) throw new TemplateError(`there is no key .${key}`)
    return this.get(key)
  }

  /** What the function `index` finds, which is the zero of the type for missing keys. */
  indexed(key: string): Value {
    return this.#view === 'strings' && !this.has(key) ? '' : this.get(key)
  }
}

export interface StructValue {
  field(name: string): Value
}

/** LoadBalancerIP, loadBalancerIP: both find `loadBalancerIP`. */
class ApiStruct implements StructValue {
  readonly #object: Readonly<Record<string, unknown>>
  readonly #fields: StructFields

  constructor(object: Readonly<Record<string, unknown>>, fields: StructFields) {
    this.#object = object
    this.#fields = fields
  }

  field(name: string): Value {
    const lower = name.toLowerCase()
    const absent = this.#fields.get(lower)
    const key = Object.keys(this.#object).find((each) => each.toLowerCase() === lower)
    const found = key === undefined ? undefined : this.#object[key]
    if (found !== undefined && found !== null)
      return valueOf(found, absent instanceof MapValue ? 'strings' : this.#fields)
    if (absent === undefined) throw new TemplateError(`there is no field .${name}; expected one of the Kubernetes API`)
    return absent
  }
}

export function valueOf(data: unknown, view: View): Value {
  switch (typeof data) {
    case 'string':
    case 'boolean':
      return data
    case 'number':
      return view !== 'json' && Number.isInteger(data) ? BigInt(data) : data
    case 'object':
      if (data === null) return undefined
      if (Array.isArray(data)) return new ListValue(data, view)
      return typeof view === 'object'
        ? new ApiStruct(data as Record<string, unknown>, view)
        : new MapValue(data as Record<string, unknown>, view)
    default:
      return undefined
  }
}

export function fieldOf(value: Value, name: string): Value {
  if (value === undefined || value === ABSENT) return value
  if (hasFields(value)) return value.field(name)
  throw new TemplateError(`${describe(value)} has no field .${name}; expected an object`)
}

export function isTrue(value: Value): boolean {
  if (value instanceof ListValue) return value.length > 0
  if (value instanceof MapValue) return value.size > 0
  return value !== ABSENT && Boolean(value)
}

function hasFields(value: Value): value is StructValue | MapValue {
  return typeof value === 'object' && 'field' in value
}

export function describe(value: Value): string {
  if (value === undefined) return 'nothing'
  if (value === ABSENT) return 'an absent field'
  if (value instanceof ListValue) return 'a list'
  if (value instanceof MapValue) return 'a map'
  const names = { string: 'text', boolean: 'a boolean', bigint: 'an integer', number: 'a number' }
  return names[typeof value as keyof typeof names] ?? 'an object'
}
