// Writes what is generated from the schemas of names.yaml and of the stack file: in docs/reference, a JSON Schema for editors
// and a page for readers of each. test/reference.test.ts fails when they are not up to date.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { namesSchema } from '../src/server/names-yaml/schema.ts'
import { stackSchema } from '../src/stack/schema.ts'
import { Reference } from './reference/json-schema.ts'
import { namesPage } from './reference/names-page.ts'
import { stackPage } from './reference/stack-page.ts'

const root = join(import.meta.dirname, '..')

/** Text by path, relative to the root of the package. */
export function referenceFiles(): Record<string, string> {
  const names = new Reference(namesSchema, 'names.yaml of Holdfast')
  const stack = new Reference(stackSchema, 'stack.yaml of Holdfast')
  return {
    'docs/reference/names.schema.json': names.formatJson(),
    'docs/reference/names.md': namesPage(names),
    'docs/reference/stack.schema.json': stack.formatJson(),
    'docs/reference/stack.md': stackPage(stack),
  }
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(referenceFiles())) {
    const file = join(root, path)
    if (readFileSync(file, { encoding: 'utf8', flag: 'a+' }) !== text) writeFileSync(file, text)
  }
}
