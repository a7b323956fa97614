import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { chooseSources } from './archive.ts'

const line = (...fields: string[]) => `${fields.join('\t')}\n`
const MAIN = line('Debian', 'bookworm', 'amd64', 'http://mirror.test/debian/', 'bookworm', 'main', '')
const SECURITY = line(
  'Debian',
  'bookworm-security',
  'amd64',
  'http://mirror.test/sec/',
  'bookworm-security',
  'main',
  '',
)

test('the archives of the distribution are taken, with their updates', () => {
  expect(chooseSources(MAIN + SECURITY, 'bookworm')).toEqual({
    suite: 'bookworm',
    architecture: 'amd64',
    sources: ['deb http://mirror.test/debian/ bookworm main', 'deb http://mirror.test/sec/ bookworm-security main'],
    keys: [],
  })
})

test.each([
  ['others', line('Somebody', 'bookworm', 'amd64', 'http://other.test/', 'bookworm', 'main', '')],
  ['another suite', line('Debian', 'trixie', 'amd64', 'http://mirror.test/debian/', 'trixie', 'main', '')],
  ['another architecture', line('Debian', 'bookworm', 'i386', 'http://mirror.test/debian/', 'bookworm', 'main', '')],
  ['the same once more', MAIN],
])('archives of %s are not', (_, more) => {
  expect(chooseSources(MAIN + more, 'bookworm').sources).toEqual(['deb http://mirror.test/debian/ bookworm main'])
})

test('a host without the archive of its own suite cannot build', () => {
  expect(() => chooseSources(SECURITY, 'bookworm')).toThrow('have no archive of Debian')
  expect(() => chooseSources('', '')).toThrow(expect.objectContaining({ code: 'ImageSourcesMissing' }))
})

test('who must have signed an archive is kept, and the files with the keys are known', () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-sources-'))
  const file = join(directory, 'a.list')
  writeFileSync(file, 'deb [signed-by=/keys/a.gpg,ABCD] http://mirror.test/debian/ bookworm main\n')
  const signed = MAIN.replace('\n', `${file}:1\n`)
  expect(chooseSources(signed + signed, 'bookworm')).toMatchObject({
    sources: ['deb [signed-by=/keys/a.gpg,ABCD] http://mirror.test/debian/ bookworm main'],
    keys: ['/keys/a.gpg'],
  })
  rmSync(directory, { recursive: true })
})

test('an address with a password is refused, and the password is not told', () => {
  expect(() => chooseSources(MAIN.replace('mirror', 'someone:hidden@mirror'), 'bookworm')).toThrow(
    expect.objectContaining({ code: 'ImageSourcesSecret', message: expect.not.stringContaining('hidden') }),
  )
})
