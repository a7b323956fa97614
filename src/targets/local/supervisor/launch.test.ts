import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { become, parseEnvironment } from './launch.ts'

test('lines are read as systemd reads them', () => {
  const text = [
    '# comment',
    '; another',
    'PLAIN=a=b c',
    'EMPTY=',
    'DOUBLE="two words" ',
    "SINGLE='it''s'",
    'HALF="open',
    ' INDENTED=1',
    'no assignment',
    '1X=2',
  ].join('\n')
  expect(Object.fromEntries(parseEnvironment(text))).toEqual({
    PLAIN: 'a=b c',
    EMPTY: '',
    DOUBLE: 'two words',
    SINGLE: "it''s",
    HALF: '"open',
    INDENTED: '1',
  })
})

test('variables are as given, whatever is in them, and there is none until the program starts', () => {
  const variables = {
    PATH: '/usr/bin:/bin',
    LD_PRELOAD: '',
    TEXT: `it's "two" $words \`id\` \\\n and a line`,
    IFS: 'x',
    EMPTY: '',
  }
  const { script, carriers } = become(variables)
  expect(Object.keys(carriers).every((name) => /^HOLDFAST_VALUE_\d+$/u.test(name))).toBe(true)
  expect(script).not.toContain('words')
  const text = execFileSync('/bin/sh', ['-c', script, 'holdfast', 'env', '--null'], { env: carriers, encoding: 'utf8' })
  const pairs = text
    .split('\0')
    .slice(0, -1)
    .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)])
  const { PWD, HOLDFAST_PID, ...rest } = Object.fromEntries(pairs)
  expect([PWD, rest]).toEqual([process.cwd(), variables])
  expect(HOLDFAST_PID).toMatch(/^\d+$/u)
})

test('a name that no shell takes is refused', () => {
  expect(() => become({ 'A;id': '' })).toThrow('"A;id" is no name of a variable')
})
