import { expect, test } from 'vitest'
import { CorefileProblem } from './problem.ts'
import { readGoRegExp } from './read-go-regexp.ts'

const read = (text: string) => readGoRegExp({ text, quoted: false, first: false, file: 'Corefile', line: 1, column: 1 })

test('a pattern in Go syntax is read', () => {
  expect(read('(?i)^DB').test('db.example.org')).toBe(true)
})

test.each(['(', '(?=a)', 'x'.repeat(10_001)])('%s is refused with its place', (pattern) => {
  expect(() => read(pattern)).toThrow(CorefileProblem)
})
