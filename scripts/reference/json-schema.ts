// What the reference pages read from a JSON Schema that zod has made: its maps, what a value may be, and tables of keys.

import { z } from 'zod'

export type Schema = z.core.JSONSchema.BaseSchema
/** A schema of a map or a list, without the cases of JSON Schema that zod does not make. */
export type MapSchema = Schema & { properties: Record<string, Schema>; items: Schema }

const LINE = 120

export class Reference {
  readonly schema: Schema

  constructor(source: z.ZodType, title: string) {
    // zod leaves out the default of what it transforms; ours are as they are written.
    const override: z.core.ToJSONSchemaParams['override'] = ({ zodSchema, jsonSchema }) => {
      const standard = z.globalRegistry.get(zodSchema)?.default
      if (standard !== undefined) jsonSchema.default = standard
    }
    this.schema = { ...z.toJSONSchema(source, { io: 'input', target: 'draft-7', override }), title }
  }

  /** A table of the keys of a map. */
  table(map: Schema, isShown: (key: string) => boolean = () => true): string {
    const { properties, required = [] } = this.map(map)
    const rows = Object.entries(properties)
      .filter(([key, value]) => isShown(key) && !(key === 'type' && value.const !== undefined))
      .map(([key, value]) => {
        const standard = value.default === undefined ? '' : `\`${JSON.stringify(value.default).replaceAll('"', '')}\``
        const preset = required.includes(key) ? 'required' : standard
        return `| \`${key}\` | ${this.kindOf(value)} | ${preset === '`{}`' ? '' : preset} | ${value.description} |`
      })
    return ['| key | value | unless given | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n')
  }

  /** A map that a key takes, on its own, in a list or beside something shorter. */
  ruleOf(value: Schema): MapSchema | undefined {
    const known = this.#deref(value)
    for (const each of this.variants(known)) {
      const found = each.items === undefined ? each : this.ruleOf(each.items as Schema)
      if (found?.properties !== undefined) return found as MapSchema
    }
    return undefined
  }

  variants(value: Schema): Schema[] {
    return (value.anyOf ?? value.oneOf ?? [value]).map((each) => this.#deref(each))
  }

  map(value: Schema): MapSchema {
    return this.#deref(value) as MapSchema
  }

  kindOf(value: Schema): string {
    const { title, type, minimum, maximum, items } = this.#deref(value)
    if (title !== undefined) return title
    if (value.enum !== undefined) return value.enum.map((word) => `\`${word}\``).join(' or ')
    if (value.const !== undefined) return `\`${value.const}\``
    if (items !== undefined) return `[${this.kindOf(items as Schema)}, …]`
    if (type === 'boolean') return '`true` or `false`'
    if (type === 'integer') return `${minimum} to ${maximum}`
    if (type === 'number') return 'number'
    if (type === 'string') return 'text'
    if (type === 'object') return 'map'
    return [...new Set(this.variants(value).map((each) => this.kindOf(each)))].join(' or ')
  }

  /** As the formatter has it: lists of words in one line where they fit. */
  formatJson(): string {
    const text = JSON.stringify(this.schema, undefined, 2)
    const lists = text.replaceAll(/^(.*)\[\n([^[\]{}]+)\n *\]/gmu, (whole, before: string, items: string) => {
      const line = `${before}[${items.trim().replaceAll(/,\n +/gu, ', ')}]`
      return line.length < LINE ? line : whole
    })
    return `${lists}\n`
  }

  #deref(value: Schema): Schema {
    const name = (value.$ref ?? value.allOf?.[0].$ref)?.split('/').at(-1)
    const definitions = this.schema['definitions'] as Record<string, Schema> | undefined
    return name === undefined ? value : { ...definitions?.[name], ...value }
  }
}
