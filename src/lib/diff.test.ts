import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type DiffLine, diffLines } from './diff.ts'

function text(lines: readonly DiffLine[]): string[] {
  return lines.map(({ sign, text }) => `${sign}${text}`)
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => `${from + index}`)

test('equal texts have no difference', () => {
  expect(diffLines('a\nb\n', 'a\nb\n')).toEqual([])
  expect(diffLines('', '')).toEqual([])
})

test('a changed line is shown with three lines around it, and marks for what is left out', () => {
  const before = `${numbers(1, 20).join('\n')}\n`
  expect(text(diffLines(before, before.replace('10\n', 'ten\n')))).toEqual([
    ' …',
    ' 7',
    ' 8',
    ' 9',
    '-10',
    '+ten',
    ' 11',
    ' 12',
    ' 13',
    ' …',
  ])
})

test('changes near each other are shown together, others apart', () => {
  const before = `${numbers(1, 30).join('\n')}\n`
  const after = before.replace('2\n', '').replace('8\n', 'eight\n').replace('25\n', '25\nmore\n')
  expect(text(diffLines(before, after))).toEqual([
    ...[' 1', '-2', ' 3', ' 4', ' 5', ' 6', ' 7', '-8', '+eight', ' 9', ' 10', ' 11'],
    ...[' …', ' 23', ' 24', ' 25', '+more', ' 26', ' 27', ' 28', ' …'],
  ])
})

test('beside nothing every line is new, or gone', () => {
  expect(text(diffLines('', 'a\nb\n'))).toEqual(['+a', '+b'])
  expect(text(diffLines('a\nb', ''))).toEqual(['-a', '-b'])
})

test('a missing newline at the end is a difference', () => {
  expect(text(diffLines('a\nb\n', 'a\nb'))).toEqual([' a', '-b', '+b (no newline at the end)'])
  expect(diffLines('a\nb', 'a\nc')).toHaveLength(3)
})

test('large texts with few differences are compared, those with very many are told as all gone and all new', () => {
  const many = numbers(1, 100_000)
  const few = many.with(50_000, 'x').with(70_000, 'y')
  expect(diffLines(many.join('\n'), few.join('\n')).filter(({ sign }) => sign !== ' ')).toHaveLength(4)
  const other = many.map((line) => `other ${line}`)
  const diff = diffLines(many.join('\n'), other.join('\n'))
  expect(diff.map(({ sign }) => sign).join('')).toBe('-'.repeat(100_000) + '+'.repeat(100_000))
})

const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 })

test('applied to the old text, a difference gives the new one, and it is the shortest', () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const padded = (middle: readonly string[]) => ['{', ...middle, '}']
      const diff = diffLines(padded(before).join('\n'), padded(after).join('\n'))
      if (diff.some(({ text }) => text === '…')) return
      const side = (sign: string) =>
        diff.filter((line) => line.sign === sign || line.sign === ' ').map(({ text }) => text)
      expect(side('-')).toEqual(diff.length === 0 ? [] : padded(before))
      expect(side('+')).toEqual(diff.length === 0 ? [] : padded(after))
      const kept = longestCommon(before, after)
      expect(diff.filter(({ sign }) => sign !== ' ')).toHaveLength(before.length + after.length - 2 * kept)
    }),
  )
})

function longestCommon(a: readonly string[], b: readonly string[]): number {
  const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0))
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++)
      table[i][j] = a[i - 1] === b[j - 1] ? table[i - 1][j - 1] + 1 : Math.max(table[i - 1][j], table[i][j - 1])
  return table[a.length][b.length]
}
