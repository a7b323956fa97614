import { expect, test } from 'vitest'
import { expandTemplate, originOf } from './zone-directory-origin.ts'

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
  const match = /a(b)(?<end>c)/u.exec('xabcx')
  expect(match && expandTemplate(template, match)).toBe(expected)
})

test('the pattern is found anywhere in the file name, and the origin is absolute and lower case', () => {
  const rule = { pattern: /db\.(.*)/u, template: '${1}', zones: ['.'] }
  expect(originOf('www.db.Example.org', rule)).toEqual({ origin: 'example.org.' })
  expect(originOf('example.org', rule)).toBeUndefined()
})

test('an origin is at or below one of the zones', () => {
  const rule = { pattern: /(.*)/u, template: '${1}', zones: ['example.org.', 'arpa.'] }
  expect(originOf('example.org', rule)).toEqual({ origin: 'example.org.' })
  expect(originOf('a.example.org', rule)).toEqual({ origin: 'a.example.org.' })
  expect(originOf('notexample.org', rule)).toBeUndefined()
  expect(originOf('org', rule)).toBeUndefined()
})
