// The input of cloud-init for the examples, compared with files in test/golden: `npm run test:integration -- FILE -u` writes them.
// For a machine like the one before it, the file has only what differs.

import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { reveal, show } from '../../src/machine/content.ts'
import { APPLY_PROGRAM } from '../../src/targets/libvirt/cloud-init/apply-program.ts'
import { renderCloudInit } from '../../src/targets/libvirt/cloud-init/cloud-init.ts'
import { EXAMPLES, type PlacedMachine, renderExample, withoutHash } from '../support/cloud-init-examples.ts'

const run = promisify(execFile)
const examples = readdirSync(EXAMPLES)

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-cloud-init-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

describe.each(examples)('%s', async (example) => {
  const { texts, machines } = await renderExample(example)

  test('is rendered as it was', async () => {
    let before: PlacedMachine | undefined
    for (const each of machines) {
      const { name, kind } = each.machine
      const golden = (file: string) => join(EXAMPLES, example, name, file)
      const text = (machine: string, file: string) => texts.get(machine)?.get(`cloud-init/${file}`) ?? ''
      const userData = readable(text(name, 'user-data'))
      if (before?.machine.kind === kind) {
        const { name: other } = before.machine
        const changes = await difference(other, readable(text(other, 'user-data')), name, userData)
        await expect(changes).toMatchFileSnapshot(golden('user-data.diff'))
      } else await expect(userData).toMatchFileSnapshot(golden('user-data'))
      await expect(text(name, 'meta-data')).toMatchFileSnapshot(golden('meta-data'))
      await expect(text(name, 'network-config')).toMatchFileSnapshot(golden('network-config'))
      before = each
    }
  })

  test('writes every file of its machines as it is', () => {
    for (const { machine, placement } of machines) {
      const { write_files: entries } = parse(reveal(renderCloudInit(machine, placement).userData)) as UserData
      const deferred = entries.filter(({ defer }) => defer)
      expect(deferred.map(({ path, content }) => [path, content])).toEqual(
        machine.files.map(({ path, content }) => [path, reveal(content)]),
      )
      expect(deferred.map(({ owner, permissions }) => [owner, Number.parseInt(permissions, 8)])).toEqual(
        machine.files.map(({ owner, mode }) => [`${owner}:${owner}`, mode]),
      )
    }
  })

  test('shows no secrets to those who review it', () => {
    for (const { machine, placement } of machines) {
      const shown = show(renderCloudInit(machine, placement).userData)
      expect(parse(shown)).toMatchObject({ hostname: machine.name })
      for (const text of [shown, ...(texts.get(machine.name)?.values() ?? [])])
        expect(text).not.toMatch(/given-|PRIVATE KEY/u)
    }
  })
})

interface UserData {
  readonly write_files: readonly {
    readonly path: string
    readonly owner: string
    readonly permissions: string
    readonly defer?: boolean
    readonly content: string
  }[]
}

/** Without what is in a file of its own in this repository, and what is new each time. */
function readable(text: string): string {
  const program = APPLY_PROGRAM.replace(/\n(?=[^\n])/gu, '\n      ')
  return withoutHash(text)
    .replace(program, '(see apply-program.ts)\n')
    .replaceAll(/(?<=-----BEGIN [A-Z ]+-----\n)(?: +[\w+/=]+\n)+/gu, '      (base64)\n')
}

async function difference(oldName: string, old: string, newName: string, text: string): Promise<string> {
  const labels = [oldName, newName].flatMap((name) => ['--label', `${name}/user-data`])
  const words = ['-U1', ...labels, write('old', old), write('new', text)]
  // It ends with 1 where there is something to tell.
  const { stdout, stderr } = await run('diff', words).catch(
    (error: unknown) => error as Awaited<ReturnType<typeof run>>,
  )
  if (stderr !== '') throw new Error(String(stderr))
  return String(stdout)
}

function write(name: string, text: string): string {
  const file = join(directory, name)
  writeFileSync(file, text)
  return file
}
