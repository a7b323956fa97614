import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type FolderOptions, PublishedFolder } from './published-folder.ts'

let directory: string
beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), 'holdfast-folder-')), 'made', 'here')
})
afterEach(() => rmSync(join(directory, '../..'), { recursive: true }))

function folder(options: Partial<FolderOptions> = {}): PublishedFolder {
  return new PublishedFolder({
    directory,
    fileMode: 0o640,
    directoryMode: 0o750,
    nested: false,
    notifies: false,
    ...options,
  })
}

test('directories and files get the modes asked for, whatever the umask', async () => {
  const umask = process.umask(0o077)
  try {
    const nested = folder({ nested: true })
    await nested.open()
    await nested.write('a/b', Buffer.from('x'))
    for (const path of ['..', '', 'a']) expect(statSync(join(directory, path)).mode & 0o777, path).toBe(0o750)
    expect(statSync(join(directory, 'a/b')).mode & 0o777).toBe(0o640)
  } finally {
    process.umask(umask)
  }
})

test('a file with the right content is left alone but for its mode', async () => {
  const own = folder()
  await own.open()
  expect(await own.write('a', Buffer.from('x'))).toBe(true)
  const before = statSync(join(directory, 'a'))
  expect(await folder({ fileMode: 0o600 }).write('a', Buffer.from('x'))).toBe(false)
  const after = statSync(join(directory, 'a'))
  expect([after.ino, after.mtimeMs, after.mode & 0o777]).toEqual([before.ino, before.mtimeMs, 0o600])
  expect(await own.write('a', Buffer.from('y'))).toBe(true)
})

test('a link is replaced, and what it leads to is not written to', async () => {
  const own = folder()
  await own.open()
  const elsewhere = join(directory, '..', 'elsewhere')
  writeFileSync(elsewhere, 'untouched')
  symlinkSync(elsewhere, join(directory, 'a'))
  expect(await own.write('a', Buffer.from('untouched'))).toBe(true)
  expect(statSync(join(directory, 'a')).ino).not.toBe(statSync(elsewhere).ino)
  await own.write('a', Buffer.from('new'))
  expect(readFileSync(elsewhere, 'utf8')).toBe('untouched')
})

test('opening removes what an interrupted write left behind, and tells the names of files', async () => {
  await folder().open()
  for (const name of ['.holdfast-0123456789abcdef.tmp', 'a', '.hidden']) writeFileSync(join(directory, name), '')
  expect((await folder().open()).toSorted()).toEqual(['.hidden', 'a'])
  expect(readdirSync(directory).toSorted()).toEqual(['.hidden', 'a'])
})

test('a writer whose temporary file is taken for a left-over writes it again', async () => {
  const writer = folder()
  await writer.open()
  const content = Buffer.alloc(1 << 20, 'x')
  const opening = (async () => {
    for (let i = 0; i < 100; i++) await folder().open()
  })()
  for (let i = 0; i < 10; i++) {
    content[0] = i
    expect(await writer.write('a', content)).toBe(true)
    expect(readFileSync(join(directory, 'a')).equals(content)).toBe(true)
  }
  await opening
})

test('what nobody was told of is remembered until it is settled', async () => {
  const own = folder({ notifies: true })
  await own.open()
  await own.write('a', Buffer.from('x'))
  expect(own.owesNotification).toBe(true)
  const next = folder({ notifies: true })
  await next.open()
  expect(next.owesNotification).toBe(true)
  await next.settleNotification()
  expect(next.owesNotification).toBe(false)
  expect(existsSync(join(directory, '.holdfast-owed'))).toBe(false)
  expect(await next.write('a', Buffer.from('x'))).toBe(false)
  expect(await next.remove('b')).toBe(false)
  expect(next.owesNotification).toBe(false)
})

describe('names', () => {
  test.each(['', '.', '..', 'a/b', '../a', '/a', 'a\0b', 'x'.repeat(256), '.holdfast-owed'])(
    '%j is refused',
    (name) => {
      expect(folder().nameProblem(name)).toBeTypeOf('string')
    },
  )

  test.each(['', '/a', 'a/', 'a//b', 'a/../b', './a', 'a/.holdfast-x'])('%j is refused with folders', (name) => {
    expect(folder({ nested: true }).nameProblem(name)).toBeTypeOf('string')
  })

  test.each(['a', 'a.b', '...', 'ä'])('%j is taken', (name) => {
    expect(folder().nameProblem(name)).toBeUndefined()
    expect(folder({ nested: true }).nameProblem(`x/${name}`)).toBeUndefined()
  })
})

test('a directory that cannot be made is an error that says why', async () => {
  await expect(folder({ directory: '/dev/null/x' }).open()).rejects.toThrow(
    'Cannot write into "/dev/null/x": not a directory',
  )
})
