import { expect, test } from 'vitest'
import { load } from './corefile/testing.ts'
import { spacesOf } from './spaces.ts'

test('blocks share zones when files, directories and what falls through are the same', () => {
  const auto = 'auto {\n directory /zones db\\.(.*) {1}\n}'
  const texts = [
    `.:1 .:2 {\n ${auto}\n}`,
    `.:3 {\n ${auto}\n forward . 192.0.2.1\n}`,
    '.:4 {\n auto {\n directory /zones zone\\.(.*) {1}\n }\n}',
    '.:5 {\n file /zones/db.example.org example.org\n}',
    '.:6 {\n file /zones/db.example.org example.org {\n fallthrough\n }\n}',
    '.:7 .:8 {\n}',
  ]
  expect(spacesOf(load(texts.join('\n')).config.blocks)).toEqual([0, 0, 0, 3, 4, 5, 6, 6])
})

test('blocks share names from etcd when everything about them is the same, the password too', () => {
  const etcd = (password: string, path = '/skydns') =>
    `etcd {\n endpoint a:1\n path ${path}\n credentials dns ${password}\n}`
  const texts = [etcd('one'), etcd('one', 'skydns'), etcd('two'), etcd('one', '/other'), '']
  const corefile = texts.map((text, index) => `.:${index + 1} {\n ${text}\n}`).join('\n')
  expect(spacesOf(load(corefile).config.blocks)).toEqual([0, 0, 2, 3, 4])
})
