import { expect, test } from 'vitest'
import { matchesSelector, parseSelector, selectorOf } from './selector.ts'

const selects = (text: string, labels?: Record<string, string>) => matchesSelector(parseSelector(text), labels)

test('an empty selector selects everything', () => {
  expect(selects('', { a: 'b' })).toBe(true)
  expect(selects('  ')).toBe(true)
})

test.each([
  ['a=b', { a: 'b' }, true],
  ['a=b', { a: 'c' }, false],
  ['a=b', {}, false],
  ['a == b', { a: 'b' }, true],
  ['a!=b', { a: 'c' }, true],
  ['a!=b', {}, true],
  ['a!=b', { a: 'b' }, false],
  ['a=', { a: '' }, true],
  ['a=', {}, false],
  ['a=,b', { a: '', b: 'x' }, true],
  ['a', { a: '' }, true],
  ['a', { b: 'x' }, false],
  ['!a', { b: 'x' }, true],
  ['! a', { a: 'x' }, false],
  ['a in (x,y)', { a: 'y' }, true],
  ['a in ( x , y )', { a: 'z' }, false],
  ['a in (x,)', { a: '' }, true],
  ['a notin (x,y)', { a: 'z' }, true],
  ['a notin (x,y)', {}, true],
  ['a notin (x,y)', { a: 'x' }, false],
  ['in in (in,notin)', { in: 'notin' }, true],
  ['n>5', { n: '6' }, true],
  ['n>5', { n: '5' }, false],
  ['n<5', { n: '-4' }, true],
  ['n<5', { n: 'four' }, false],
  ['n<5', {}, false],
  ['example.com/a=b,c!=d,e in (x,y),f notin (z),g,!h', { 'example.com/a': 'b', e: 'x', g: '' }, true],
  ['example.com/a=b,c!=d,e in (x,y),f notin (z),g,!h', { 'example.com/a': 'b', e: 'x', g: '', h: '' }, false],
])('%s over %j is %s', (text, labels, expected) => {
  expect(selects(text, labels as Record<string, string>)).toBe(expected)
})

test.each([
  ['a=b,', 'it ends at column 5; expected a key'],
  [',a', '"," stands at column 1; expected a key'],
  ['a b', '"b" stands at column 3; expected "," or one of'],
  ['a=b c', '"c" stands at column 5; expected "," or the end'],
  ['a=b=c', '"=" stands at column 4; expected "," or the end'],
  ['!a=b', '"=" stands at column 3; expected "," or the end'],
  ['a in x', '"x" stands at column 6; expected "("'],
  ['a in ()', '")" stands at column 7; expected at least one value'],
  ['a in (x', 'it ends at column 8; expected "," or ")"'],
  ['n>x', '"x" stands at column 3; expected an integer'],
  ['-a=b', '"-a" stands at column 1; expected a key'],
  ['UPPER.example/a=b', '"UPPER.example/a" stands at column 1; expected a key'],
  ['a=b/c', '"b/c" stands at column 3; expected a value'],
  [`a=${'x'.repeat(64)}`, 'expected a value of at most 63'],
])('%s is refused with its place', (text, expected) => {
  expect(() => parseSelector(text)).toThrow(expect.objectContaining({ code: 'SelectorInvalid' }))
  expect(() => parseSelector(text)).toThrow(expected)
})

test('a selector object selects by labels and expressions', () => {
  const selector = selectorOf({
    matchLabels: { a: 'b' },
    matchExpressions: [
      { key: 'c', operator: 'In', values: ['x', 'y'] },
      { key: 'd', operator: 'NotIn', values: ['z'] },
      { key: 'e', operator: 'Exists' },
      { key: 'f', operator: 'DoesNotExist' },
    ],
  })
  expect(matchesSelector(selector, { a: 'b', c: 'y', e: '' })).toBe(true)
  expect(matchesSelector(selector, { a: 'b', c: 'y', e: '', f: '' })).toBe(false)
  expect(matchesSelector(selector, { a: 'b', c: 'y', d: 'z', e: '' })).toBe(false)
})

test('an absent selector object selects nothing, an empty one everything', () => {
  expect(matchesSelector(selectorOf(undefined), { a: 'b' })).toBe(false)
  expect(matchesSelector(selectorOf({}), undefined)).toBe(true)
})

test('a selector object with an unknown operator or without values is refused', () => {
  expect(() => selectorOf({ matchExpressions: [{ key: 'a', operator: 'Like', values: ['b'] }] })).toThrow(
    'Cannot read selector "matchExpressions of a": operator "Like"; expected In, NotIn, Exists or DoesNotExist',
  )
  expect(() => selectorOf({ matchExpressions: [{ key: 'a', operator: 'In' }] })).toThrow(
    'no values; expected at least one',
  )
})
