// docs/reference/stack.md, from the schema of the stack file. What every machine takes is shown once; so is what may stand at
// a cluster as well as at its machines.

import { machineShape, settingsShape } from '../../src/machine/schema.ts'
import type { MapSchema, Reference, Schema } from './json-schema.ts'

const INTRODUCTION = `<!-- Generated from src/stack/schema.ts, src/clusters and src/machine by "npm run reference". -->

What \`holdfast up\` reads: \`stack.yaml\`, or \`holdfast.config.ts\` with \`export default defineStack({ … })\`. The YAML is 1.2, with anchors and merge
keys. A key that is not listed here is an error, and every error is told with line and column. Editors check and complete the file with
[stack.schema.json](stack.schema.json) when its first line is \`# yaml-language-server: $schema=PATH\`.

Secrets are the text itself, \`{ file: PATH }\` or \`{ env: VARIABLE }\`; those that are not given are generated once and kept. Certificates are PEM text
or \`{ file: PATH }\`. Relative paths start at the directory of the file. Durations are written as in Go (\`500ms\`, \`30s\`, \`1h30m\`).`

const MACHINES = `Members and servers are a number, or a list. Each entry of a list takes these keys, [the settings](#settings), and those
of its kind.`

const SETTINGS = `These stand at a machine, at its cluster or at the top of the file; the nearest wins. With \`target: local\`, processors, memory, networks,
volumes, the clock and the forwarding of logs are those of this host, and the settings have no effect.`

const isSetting = (key: string) => key in settingsShape
const isOfMachine = (key: string) => key in machineShape

export function stackPage(reference: Reference): string {
  const top = reference.map(reference.schema).properties
  const machine = reference.ruleOf(reference.map(top['etcd']).properties['members']) as Schema
  return [
    '# The stack file',
    INTRODUCTION,
    reference.table(reference.schema, (key) => !isSetting(key)),
    '## Machines',
    MACHINES,
    reference.table(machine, isOfMachine),
    ...nested(reference, machine, '', (key) => isOfMachine(key) && key !== 'libvirt_networks'),
    '## Settings',
    SETTINGS,
    reference.table(machine, isSetting),
    ...nested(reference, machine, '', isSetting),
    '## ca',
    reference.table(top['ca']),
    ...['etcd', 'dns', 'postgres'].flatMap((key) => {
      const shown = new Map<string, ReadonlySet<string>>([
        [key, new Set(Object.keys(reference.map(top[key]).properties))],
      ])
      return [
        `## ${key}`,
        `${top[key].description}`,
        reference.table(top[key], (each) => !isSetting(each)),
        ...nested(reference, top[key], `${key}.`, (each) => !isSetting(each), shown),
      ]
    }),
  ]
    .join('\n\n')
    .concat('\n')
}

/** Tables of the maps in a map. `shown` has the keys that stand in a table already, by the name of their map. */
function nested(
  reference: Reference,
  map: Schema,
  path: string,
  isShown: (key: string) => boolean,
  shown = new Map<string, ReadonlySet<string>>(),
): string[] {
  const rules = Object.entries(reference.map(map).properties).flatMap(([key, value]) => {
    const rule = isShown(key) && key !== 'ca' ? reference.ruleOf(value) : undefined
    return rule === undefined || isPlace(rule) ? [] : [{ key, rule }]
  })
  // What a cluster and its machines may both have is shown at the cluster.
  const machinesLast = rules.toSorted((a, b) => Number(isMachine(a.rule)) - Number(isMachine(b.rule)))
  return machinesLast.flatMap(({ key, rule }) => {
    const before = shown.get(key) ?? new Set()
    const isOwn = (each: string) => !isMachine(rule) || !(isSetting(each) || isOfMachine(each))
    const keys = Object.keys(rule.properties).filter((each) => isOwn(each) && !before.has(each))
    shown.set(key, new Set([...before, ...keys]))
    const table = keys.length === 0 ? [] : [`### ${path}${key}`, reference.table(rule, (each) => keys.includes(each))]
    return [...table, ...nested(reference, rule, `${path}${key}.`, isOwn, shown)]
  })
}

function isMachine({ properties }: MapSchema): boolean {
  return 'local_address' in properties
}

/** Where a secret or a certificate is to be found: said once, at the top of the page. */
function isPlace({ properties }: MapSchema): boolean {
  return Object.keys(properties).every((key) => key === 'file' || key === 'env')
}
