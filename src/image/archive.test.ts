import { expect, test } from 'vitest'
import { chooseSources } from './archive.ts'

const line = (...fields: string[]) => `${fields.join('\t')}\n`
const MAIN = line('Debian', 'bookworm', 'amd64', 'http://mirror.test/debian/', 'bookworm', 'main')
const SECURITY = line('Debian', 'bookworm-security', 'amd64', 'http://mirror.test/sec/', 'bookworm-security', 'main')

test('the archives of the distribution are taken, with their updates', () => {
  expect(chooseSources(MAIN + SECURITY, 'bookworm')).toEqual({
    distribution: 'Debian',
    suite: 'bookworm',
    architecture: 'amd64',
    sources: ['deb http://mirror.test/debian/ bookworm main', 'deb http://mirror.test/sec/ bookworm-security main'],
  })
})

test.each([
  ['others', line('Somebody', 'bookworm', 'amd64', 'http://other.test/', 'bookworm', 'main')],
  ['another suite', line('Debian', 'trixie', 'amd64', 'http://mirror.test/debian/', 'trixie', 'main')],
  ['another architecture', line('Debian', 'bookworm', 'i386', 'http://mirror.test/debian/', 'bookworm', 'main')],
  ['the same once more', MAIN],
])('archives of %s are not', (_, more) => {
  expect(chooseSources(MAIN + more, 'bookworm').sources).toEqual(['deb http://mirror.test/debian/ bookworm main'])
})

test('a host without the archive of its own suite cannot build', () => {
  expect(() => chooseSources(SECURITY, 'bookworm')).toThrow('have no archive of Debian or Ubuntu')
  expect(() => chooseSources('', '')).toThrow(expect.objectContaining({ code: 'ImageSourcesMissing' }))
})
