// Stack files in TypeScript. Node imports them itself, so they are loaded in a process without the test runner's own loader.

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'

const src = join(import.meta.dirname, '..')
const run = promisify(execFile)
let directory = ''

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-module-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

/** The names of the machines, or the message of the refusal. */
async function load(text: string): Promise<string> {
  writeFileSync(join(directory, 'holdfast.config.ts'), text)
  const script = `
    import { loadStack, machineAddresses } from '${join(src, 'load-stack.ts')}'
    try {
      const stack = await loadStack({ file: 'holdfast.config.ts', env: {} })
      console.log(Object.keys(machineAddresses(stack)).join(' '))
      for (const notice of stack.notices) console.log(notice)
    } catch (error) {
      console.log(error.code, error.message)
    }`
  const args = ['--input-type=module', '-e', script]
  return (await run(process.execPath, args, { cwd: directory })).stdout.trimEnd()
}

test('a stack may be the default export, made with defineStack of the package', async () => {
  const text = `
import { defineStack } from 'holdfast'
const members: number = 2
export default defineStack({ name: 'lab', domain: 'lab.test', etcd: { members } })`
  expect(await load(text)).toBe(
    'etcd-1 etcd-2\nholdfast.config.ts: 2 etcd members tolerate no failure, like 1; use an odd number',
  )
})

test('a stack may be the export "stack", made with defineStack by its path', async () => {
  const text = `
import { defineStack } from '${join(src, 'define-stack.ts')}'
export const stack = defineStack({ name: 'lab', domain: 'lab.test', dns: { servers: [{ name: 'ns' }] } })`
  expect(await load(text)).toBe('ns')
})

test('problems are told with the path in the value', async () => {
  const text = `export default {
  name: 'lab', domain: 'lab.test',
  etcd: { members: [{ name: 'a', cpu: 2 }, { name: 'b', vcpus: 'two' }, { name: 'c', vcpus: 'two' }], users: null },
}`
  expect((await load(text)).split('\n')).toEqual([
    'StackInvalid Cannot load holdfast.config.ts: unknown key "cpu" in etcd.members[0]; did you mean "vcpus"?',
    'Cannot load holdfast.config.ts: etcd.members[1].vcpus is text; expected a number from 1 to 512',
    'Cannot load holdfast.config.ts: etcd.members[2].vcpus is text; expected a number from 1 to 512',
    'Cannot load holdfast.config.ts: etcd.users is empty; expected a list of users',
  ])
})

test.each<[string, string, string | RegExp]>([
  ['nothing', 'export const other = 1', ': it exports no stack; expected export default defineStack({ … })'],
  ['an error', '\n\nthrow new Error("no luck")', ':3:7: no luck; expected a module that can be imported'],
  ['no TypeScript', 'export default {\n  a: 1\n  b: 2\n}', /^:3: .+; expected a module that can be imported$/u],
  [
    'an import of nothing',
    "import './missing.ts'",
    /^: Cannot find module .+; expected a module that can be imported$/u,
  ],
])('a module with %s is refused', async (_, text, message) => {
  const output = await load(text)
  const start = 'StackInvalid Cannot load holdfast.config.ts'
  expect(output.slice(0, start.length)).toBe(start)
  expect(output.slice(start.length)).toMatch(message)
})
