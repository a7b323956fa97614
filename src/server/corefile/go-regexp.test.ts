import { describe, expect, test } from 'vitest'
import { captureGroups, goRegExp } from './go-regexp.ts'
import { CorefileProblem } from './problem.ts'

const compile = (text: string) => goRegExp({ text, quoted: false, first: false, file: 'Corefile', line: 1, column: 1 })

describe('a Go regular expression', () => {
  test.each([
    [String.raw`db\.(.*)`, 'x.db.example.org', 'example.org'],
    [String.raw`^(.*)\.zone$`, 'example.org.zone', 'example.org'],
    [String.raw`\A(?P<name>\w+)\z`, 'abc', 'abc'],
    ['(?i)DB_(.*)', 'db_a', 'a'],
    [String.raw`([[:alpha:]-]+)\-x`, 'a-b-x', 'a-b'],
    [String.raw`([^[:digit:]]+)`, '12ab', 'ab'],
    [String.raw`([]x]+)`, 'a]x]', ']x]'],
    [String.raw`\Qa.b(\E(.*)`, 'a.b(c', 'c'],
    [String.raw`{1(\x{41}\x42)`, '{1AB', 'AB'],
    [String.raw`(\pL+)`, '1ä2', 'ä'],
    [String.raw`(\p{Greek})`, 'aλ', 'λ'],
    [String.raw`(a{2,3})`, 'aaaa', 'aaa'],
    [String.raw`(\_\#\/\-)`, '_#/-', '_#/-'],
  ])('%s captures from %s', (pattern, text, captured) => {
    expect(compile(pattern).exec(text)?.[1]).toBe(captured)
  })

  test.each([
    '*',
    '(',
    '[a',
    'a**',
    '(?=a)',
    '(?<!a)b',
    String.raw`(a)\1`,
    String.raw`\h`,
    '[[:none:]]',
    '[[:constructor:]]',
    '\\',
    'a{2,1}',
    'x'.repeat(10_001),
  ])('%s is refused as by Go', (pattern) => {
    expect(() => compile(pattern)).toThrow(CorefileProblem)
  })

  test('knows the number of its groups', () => {
    expect(captureGroups(compile('a'))).toBe(0)
    expect(captureGroups(compile('(a)(?:b)(?P<c>c)'))).toBe(2)
  })
})
