// What Go's regexp package says of these patterns and names was asked of it.

import { describe, expect, it } from 'vitest'
import { goRegExp } from './go-regexp.ts'

const raw = String.raw
const NAMES = ['foo-bar.example.org', 'a.example.org', 'api.test', 'x_y.org', 'b2.dev.example.com', 'a{b.org', 'a]b']

const MATCHED: Readonly<Record<string, readonly string[]>> = {
  [raw`foo\-bar`]: ['foo-bar.example.org'],
  [raw`(?i)^A\.EXAMPLE`]: ['a.example.org'],
  [raw`(?i)FOO|API`]: ['foo-bar.example.org', 'api.test'],
  [raw`((?i)API|B2)\.`]: ['api.test', 'b2.dev.example.com'],
  [raw`(?s)d.*(?i:EXAMPLE)`]: ['b2.dev.example.com'],
  [raw`(?U)a+pi`]: ['api.test'],
  [raw`(?P<stage>dev)\.`]: ['b2.dev.example.com'],
  [raw`\Aapi\.test\z`]: ['api.test'],
  [raw`\Qa.example\E\.`]: ['a.example.org'],
  [raw`[[:alpha:]]_[[:alpha:]]`]: ['x_y.org'],
  [raw`^[\w-.]+$`]: ['foo-bar.example.org', 'a.example.org', 'api.test', 'x_y.org', 'b2.dev.example.com'],
  [raw`^[^]]*\.com$`]: ['b2.dev.example.com'],
  [raw`[]x]b`]: ['a]b'],
  'a{b': ['a{b.org'],
  'o{2}': ['foo-bar.example.org'],
  [raw`\x{62}2|x\_y`]: ['x_y.org', 'b2.dev.example.com'],
  [raw`\p{Latin}\pN`]: ['b2.dev.example.com'],
}

describe('a regexp in Go syntax', () => {
  for (const [source, names] of Object.entries(MATCHED))
    it(`${source} matches ${names.join(', ')}`, () => {
      const regexp = goRegExp(source)
      expect(NAMES.filter((name) => regexp.test(name))).toEqual(names)
    })

  it.each(['(', '[z-a]', 'a**', 'a(?i)B', '[[:nothing:]]', raw`\p{Nothing}`])('%s is refused', (source) => {
    expect(() => goRegExp(source)).toThrow(`Cannot use "${source}" as a regexp: `)
  })

  it('says what is wrong with a pattern', () => {
    expect(() => goRegExp('a(b')).toThrow(
      'Cannot use "a(b" as a regexp: Unterminated group; one in Go\'s syntax is wanted',
    )
  })
})
