// docs/reference/names.md, from the schema of names.yaml.

import type { MapSchema, Reference, Schema } from './json-schema.ts'

const INTRODUCTION = `<!-- Generated from src/server/names-yaml by "npm run reference". -->

What \`holdfast dns --config names.yaml\` reads; the [guide](../guide/names.md) shows it at work. The file is YAML 1.2 with anchors and merge keys.
A key that is not listed here is an error, and every error is told with line and column. Editors check and complete the file with
[names.schema.json](names.schema.json) when its first line is \`# yaml-language-server: $schema=PATH\`.

Durations are written as in Go (\`500ms\`, \`30s\`, \`1h30m\`); a number without a unit is seconds. Zones are names, with or without the final dot, in
any case; a network such as \`10.0.0.0/8\` stands for its reverse zones. Relative paths start at the directory of the file.`

export function namesPage(reference: Reference): string {
  const { etcd, sources, serve, write } = reference.map(reference.schema).properties
  const kinds = (list: Schema): MapSchema[] =>
    reference.variants(reference.map(list).items).map((each) => reference.map(each))
  return [
    '# names.yaml',
    INTRODUCTION,
    reference.table(reference.schema),
    '## etcd',
    reference.table(etcd),
    '## sources',
    `${sources.description}`,
    ...kinds(sources).flatMap((kind) => [
      `### ${kind.properties['type'].const}`,
      `${kind.description}`,
      reference.table(kind),
    ]),
    '## serve',
    reference.table(serve),
    ...Object.entries(reference.map(serve).properties).flatMap(([key, value]) => {
      const rule = reference.ruleOf(value)
      return rule === undefined ? [] : [`### ${key}`, reference.table(rule)]
    }),
    '## write',
    `${write.description}`,
    ...kinds(write).flatMap((kind) => [
      `### ${kind.properties['type'].const}`,
      `${kind.description}`,
      reference.table(kind),
      '`notify`:',
      reference.table(kind.properties['notify']),
    ]),
  ]
    .join('\n\n')
    .concat('\n')
}
