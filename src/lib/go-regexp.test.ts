// The expected matches are those of Go's regexp package.

import { describe, expect, test } from 'vitest'
import { GoRegExpError, goRegExp } from './go-regexp.ts'

const raw = String.raw
const NAMES = ['foo-bar.example.org', 'a.example.org', 'api.test', 'x_y.org', 'b2.dev.example.com', 'a{b.org', 'a]b']

const MATCHED: Readonly<Record<string, readonly string[]>> = {
  [raw`foo\-bar`]: ['foo-bar.example.org'],
  [raw`(?i)^A\.EXAMPLE`]: ['a.example.org'],
  [raw`(?i)FOO|API`]: ['foo-bar.example.org', 'api.test'],
  [raw`((?i)API|B2)\.`]: ['api.test', 'b2.dev.example.com'],
  [raw`a(?i)PI`]: ['api.test'],
  [raw`(?s)d.*(?i:EXAMPLE)`]: ['b2.dev.example.com'],
  [raw`(?U)a+pi`]: ['api.test'],
  [raw`(?P<stage>dev)\.`]: ['b2.dev.example.com'],
  [raw`(?<stage>dev)\.`]: ['b2.dev.example.com'],
  [raw`\Aapi\.test\z`]: ['api.test'],
  [raw`\Qa.example\E\.`]: ['a.example.org'],
  [raw`[[:alpha:]]_[[:alpha:]]`]: ['x_y.org'],
  [raw`^[[:^digit:]]+$`]: ['foo-bar.example.org', 'a.example.org', 'api.test', 'x_y.org', 'a{b.org', 'a]b'],
  [raw`^[\w-.]+$`]: ['foo-bar.example.org', 'a.example.org', 'api.test', 'x_y.org', 'b2.dev.example.com'],
  [raw`^[^]]*\.com$`]: ['b2.dev.example.com'],
  [raw`[]x]b`]: ['a]b'],
  'a{b': ['a{b.org'],
  'o{2}': ['foo-bar.example.org'],
  [raw`\x{62}2|x\_y`]: ['x_y.org', 'b2.dev.example.com'],
  [raw`\p{Latin}\pN`]: ['b2.dev.example.com'],
}

describe('a regular expression in Go syntax', () => {
  for (const [source, names] of Object.entries(MATCHED))
    test(`${source} matches ${names.join(', ')}`, () => {
      const pattern = goRegExp(source)
      expect(NAMES.filter((name) => pattern.test(name))).toEqual(names)
    })

  test.each([
    [raw`db\.(.*)`, 'x.db.example.org', 'example.org'],
    [raw`^(.*)\.zone$`, 'example.org.zone', 'example.org'],
    [raw`\A(?P<name>\w+)\z`, 'abc', 'abc'],
    ['(?i)DB_(.*)', 'db_a', 'a'],
    [raw`([[:alpha:]-]+)\-x`, 'a-b-x', 'a-b'],
    [raw`([^[:digit:]]+)`, '12ab', 'ab'],
    [raw`([]x]+)`, 'a]x]', ']x]'],
    [raw`\Qa.b(\E(.*)`, 'a.b(c', 'c'],
    [raw`{1(\x{41}\x42)`, '{1AB', 'AB'],
    [raw`(\pL+)`, '1ä2', 'ä'],
    [raw`(\p{Greek})`, 'aλ', 'λ'],
    [raw`(a{2,3})`, 'aaaa', 'aaa'],
    [raw`(\_\#\/\-)`, '_#/-', '_#/-'],
  ])('%s captures from %s', (pattern, text, captured) => {
    expect(goRegExp(pattern).captures(text)?.group('1')).toBe(captured)
  })

  test('captures by name, and nothing for groups that do not exist', () => {
    const captures = goRegExp('(?P<stage>dev)|(prod)').captures('x.dev')
    expect(['0', '1', 'stage', '2', '3', 'none', 'constructor'].map((group) => captures?.group(group))).toEqual([
      'dev',
      'dev',
      'dev',
      '',
      '',
      '',
      '',
    ])
    expect(goRegExp('(a)').captures('b')).toBeUndefined()
  })

  test('knows the number of its groups', () => {
    expect(goRegExp('a').captureGroups).toBe(0)
    expect(goRegExp('(a)(?:b)(?P<c>c)').captureGroups).toBe(2)
  })

  test.each([
    ...['*', '(', '[a', '[z-a]', 'a**', '(?=a)', '(?<!a)b', raw`(a)\1`, raw`\h`, '[[:none:]]', '[[:constructor:]]'],
    ...['\\', 'a{2,1}', 'a{1001}', '((a{100}){100}){100}', raw`\p{Nothing}`],
  ])('%s is refused as by Go', (source) => {
    expect(() => goRegExp(source)).toThrow(GoRegExpError)
  })

  test('says what is wrong with a pattern', () => {
    expect(() => goRegExp('a(b')).toThrow('missing closing ): `a(b`')
  })

  test('matches in linear time what makes a backtracking engine hang', () => {
    const nested = goRegExp(raw`^(([a-z0-9]+-?)+\.)+corp\.test$`)
    expect(nested.test(`${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.corp.tes`)).toBe(false)
    expect(nested.test(`${'a'.repeat(63)}.corp.test`)).toBe(true)
  })
})
