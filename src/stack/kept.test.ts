import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readKept, writeKept } from './kept.ts'

let directory = ''

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-kept-'))
})

afterEach(() => rmSync(directory, { recursive: true, force: true }))

test('a value is read as it was written, in a directory that is made for it', async () => {
  const path = join(directory, 'stacks', 'lab', 'addresses.json')
  expect(await readKept(path)).toBeUndefined()
  await writeKept(path, { 'etcd-1': '127.16.10.1' })
  await writeKept(path, { 'etcd-1': '127.16.10.1', 'etcd-2': '127.16.10.2' })
  expect(await readKept(path)).toEqual({ 'etcd-1': '127.16.10.1', 'etcd-2': '127.16.10.2' })
  expect(readdirSync(join(directory, 'stacks', 'lab'))).toEqual(['addresses.json'])
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('a file that is damaged, unreadable or unwritable is named', async () => {
  const path = join(directory, 'addresses.json')
  writeFileSync(path, '{"etcd-1":')
  await expect(readKept(path)).rejects.toMatchObject({
    code: 'StateInvalid',
    message: `Cannot read "${path}": it is not JSON; restore it`,
  })
  rmSync(path)
  mkdirSync(join(path, 'in-the-way'), { recursive: true })
  await expect(readKept(path)).rejects.toMatchObject({ code: 'FileUnreadable' })
  await expect(writeKept(path, {})).rejects.toMatchObject({ code: 'FileUnwritable' })
})
