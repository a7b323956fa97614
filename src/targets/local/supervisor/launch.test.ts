import { expect, test } from 'vitest'
import { parseEnvironment } from './launch.ts'

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
