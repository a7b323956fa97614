import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { hasColour, painter } from './colour.ts'

test.each([
  [true, {}, true],
  [false, {}, false],
  [true, { NO_COLOR: '1' }, false],
  [true, { NO_COLOR: '' }, true],
  [true, { TERM: 'dumb' }, false],
  [false, { FORCE_COLOR: '1' }, true],
  [false, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
  [true, { FORCE_COLOR: '0' }, false],
])('a terminal (%s) with %o: colours %s', (isTTY, env, expected) => {
  expect(hasColour({ env }, Object.assign(new Writable(), { isTTY }))).toBe(expected)
})

test('a style inside another one ends without ending the outer one', () => {
  const paint = painter(true)
  expect(paint('inverse', `a ${paint('red', 'b')} c`)).toBe('\u001b[7ma \u001b[31mb\u001b[39m c\u001b[27m')
  expect(painter(false)('red', 'b')).toBe('b')
})
