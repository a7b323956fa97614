// Writes what is generated from the schema of names.yaml: docs/reference/names.schema.json for editors and
// docs/reference/names.md for readers. test/names-reference.test.ts fails when they are not up to date.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { namesSchema } from '../src/server/names-yaml/schema.ts'

type Schema = z.core.JSONSchema.BaseSchema

const LINE = 120
const root = join(import.meta.dirname, '..')

const schema: Schema = {
  ...z.toJSONSchema(namesSchema, { io: 'input', target: 'draft-7' }),
  title: 'names.yaml of Holdfast',
}

const definitions = schema['definitions'] as Record<string, Schema>

/** Text by path, relative to the root of the package. */
export function referenceFiles(): Record<string, string> {
  return {
    'docs/reference/names.schema.json': formatJson(schema),
    'docs/reference/names.md': page(),
  }
}

function page(): string {
  const { etcd, sources, serve, write } = objects(schema).properties
  const kinds = (list: Schema) => variants(objects(list).items).map(objects)
  return [
    '# names.yaml',
    INTRODUCTION,
    table(schema),
    '## etcd',
    table(etcd),
    '## sources',
    `${sources.description}`,
    ...kinds(sources).flatMap((kind) => [`### ${kind.properties['type'].const}`, `${kind.description}`, table(kind)]),
    '## serve',
    table(serve),
    ...Object.entries(objects(serve).properties).flatMap(([key, value]) => {
      const rule = ruleOf(value)
      return rule === undefined ? [] : [`### ${key}`, table(rule)]
    }),
    '## write',
    `${write.description}`,
    ...kinds(write).flatMap((kind) => [
      `### ${kind.properties['type'].const}`,
      `${kind.description}`,
      table(kind),
      '`notify`:',
      table(kind.properties['notify']),
    ]),
  ]
    .join('\n\n')
    .concat('\n')
}

const INTRODUCTION = `<!-- Generated from src/server/names-yaml by "npm run reference". -->

What \`holdfast dns --config names.yaml\` reads; the [guide](../guide/names.md) shows it at work. The file is YAML 1.2 with anchors and merge keys.
A key that is not listed here is an error, and every error is told with line and column. Editors check and complete the file with
[names.schema.json](names.schema.json) when its first line is \`# yaml-language-server: $schema=PATH\`.

Durations are written as in Go (\`500ms\`, \`30s\`, \`1h30m\`); a number without a unit is seconds. Zones are names, with or without the final dot, in
any case; a network such as \`10.0.0.0/8\` stands for its reverse zones. Relative paths start at the directory of the file.`

/** A map that a key takes, on its own, in a list or beside something shorter. */
function ruleOf(value: Schema): Schema | undefined {
  return variants(value.items ? objects(value).items : value).find((each) => each.properties !== undefined)
}

function table(map: Schema): string {
  const { properties, required = [] } = objects(map)
  const rows = Object.entries(properties)
    .filter(([, value]) => value.const === undefined)
    .map(([key, value]) => {
      const standard = value.default === undefined ? '' : `\`${JSON.stringify(value.default).replaceAll('"', '')}\``
      const preset = required.includes(key) ? 'required' : standard
      return `| \`${key}\` | ${kindOf(value)} | ${preset === '`{}`' ? '' : preset} | ${value.description} |`
    })
  return ['| key | value | unless given | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

function kindOf(value: Schema): string {
  const { title, type, minimum, maximum, items } = deref(value)
  if (title !== undefined) return title
  if (value.enum !== undefined) return value.enum.map((word) => `\`${word}\``).join(' or ')
  if (value.const !== undefined) return `\`${value.const}\``
  if (items !== undefined) return `[${kindOf(objects(value).items)}, …]`
  if (type === 'boolean') return '`true` or `false`'
  if (type === 'integer') return `${minimum} to ${maximum}`
  if (type === 'string') return 'text'
  if (type === 'object') return 'map'
  return [...new Set(variants(value).map(kindOf))].join(' or ')
}

function variants(value: Schema): Schema[] {
  return (value.anyOf ?? value.oneOf ?? [value]).map(deref)
}

/** A schema of a map or a list, without the cases of JSON Schema that zod does not make. */
function objects(value: Schema): Schema & { properties: Record<string, Schema>; items: Schema } {
  return deref(value) as Schema & { properties: Record<string, Schema>; items: Schema }
}

function deref(value: Schema): Schema {
  const name = (value.$ref ?? value.allOf?.[0].$ref)?.split('/').at(-1)
  return name === undefined ? value : { ...definitions[name], ...value }
}

/** As the formatter has it: lists of words in one line where they fit. */
function formatJson(value: unknown): string {
  const text = JSON.stringify(value, undefined, 2)
  const lists = text.replaceAll(/^(.*)\[\n([^[\]{}]+)\n *\]/gmu, (whole, before: string, items: string) => {
    const line = `${before}[${items.trim().replaceAll(/,\n +/gu, ', ')}]`
    return line.length < LINE ? line : whole
  })
  return `${lists}\n`
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(referenceFiles())) {
    const file = join(root, path)
    if (readFileSync(file, { encoding: 'utf8', flag: 'a+' }) !== text) writeFileSync(file, text)
  }
}
