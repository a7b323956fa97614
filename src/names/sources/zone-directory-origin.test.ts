import { expect, test } from 'vitest'
import { formatName, parseName } from '../../dns/name.ts'
import { originReader } from './zone-directory-origin.ts'

test.each([
  ['${1}', 'b'],
  ['$1', 'b'],
  ['${1}.${2}.org', 'b.c.org'],
  ['${end}', 'c'],
  ['$1x', ''],
  ['${9}', ''],
  ['$$1', '$1'],
  ['$${1}', '${1}'],
  ['${1', '${1'],
  ['plain', 'plain'],
])('the template %s', (template, expected) => {
  const origin = originReader({ pattern: 'a(b)(?P<end>c)', template: `${template}-`, zones: ['.'] })
  expect(origin('xabcx')).toEqual({ origin: formatName(parseName(`${expected}-.`)) })
})

test('the pattern is found anywhere in the file name, and the origin is absolute and lower case', () => {
  const originOf = originReader({ pattern: String.raw`db\.(.*)`, template: '${1}', zones: ['.'] })
  expect(originOf('www.db.Example.org')).toEqual({ origin: 'example.org.' })
  expect(originOf('example.org')).toBeUndefined()
})

test('an origin is at or below one of the zones', () => {
  const originOf = originReader({ pattern: /(.*)/u, template: '${1}', zones: ['example.org.', 'arpa.'] })
  expect(originOf('example.org')).toEqual({ origin: 'example.org.' })
  expect(originOf('a.example.org')).toEqual({ origin: 'a.example.org.' })
  expect(originOf('notexample.org')).toBeUndefined()
  expect(originOf('org')).toBeUndefined()
})
