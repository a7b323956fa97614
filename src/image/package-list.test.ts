import { expect, test } from 'vitest'
import { checkInstalled } from './base.ts'
import { parseInstalled, parsePackageList, pinned } from './package-list.ts'

const OUTPUT = `Reading package lists...
Inst libc6 (2.36-9+deb12u14 Debian:12.15/oldstable [amd64]) []
Inst bash (5.2.15-2+b13 Debian:12.15/oldstable, Debian-Security:12/oldstable-security [amd64])
Inst libfoo:i386 (1:2.0~rc1-1 Debian:12.15/oldstable [i386])
Conf bash (5.2.15-2+b13 Debian:12.15/oldstable [amd64])
`
const list = { suite: 'bookworm', architecture: 'amd64', packages: { bash: '5.2.15-2+b13', libc6: '2.36-9+deb12u14' } }

test('what apt would install is read, in the order of names', () => {
  expect(Object.entries(parseInstalled(OUTPUT))).toEqual([
    ['bash', '5.2.15-2+b13'],
    ['libc6', '2.36-9+deb12u14'],
    ['libfoo', '1:2.0~rc1-1'],
  ])
})

test('a list that was written is read again', () => {
  expect(parsePackageList(JSON.stringify({ name: 'bookworm-amd64', ...list }), 'a.json')).toEqual(list)
  expect(pinned(list)).toEqual(['bash=5.2.15-2+b13', 'libc6=2.36-9+deb12u14'])
})

test.each([
  ['not JSON', 'bash 5'],
  ['something else', '{"packages":["bash"]}'],
  ['an option in place of a name', JSON.stringify({ ...list, packages: { '--yes': '1' } })],
  ['a version that holds a word of its own', JSON.stringify({ ...list, packages: { bash: '1 --yes' } })],
])('%s is not a list', (_, text) => {
  expect(() => parsePackageList(text, 'a.json')).toThrow('Cannot read the list of packages "a.json"')
})

test('what is installed must be the list, no more and no less', () => {
  expect(() => checkInstalled(list, 'bash 5.2.15-2+b13\nlibc6 2.36-9+deb12u14\n')).not.toThrow()
  expect(() => checkInstalled(list, 'bash 5.2.15-2+b13\n')).toThrow('libc6 2.36-9+deb12u14 was not installed')
  expect(() => checkInstalled(list, 'bash 5.2.15-2+b13\nlibc6 2.36-9+deb12u14\nvim 2\n')).toThrow(
    'vim 2 was installed and is not in the list',
  )
})
