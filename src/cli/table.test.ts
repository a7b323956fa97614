import { expect, test } from 'vitest'
import { formatTable } from './table.ts'

test('columns are as wide as what is in them, and numbers stand at their right end', () => {
  expect(
    formatTable(
      ['NAME', 'N', 'STATE'],
      [
        ['a', '10', 'ok'],
        ['long.test.', '9', ''],
      ],
      ['N'],
    ),
  ).toBe('NAME         N  STATE\na           10  ok\nlong.test.   9\n')
})

test('there may be hundreds of thousands of rows', () => {
  const rows = Array.from({ length: 300_000 }, (_, index) => [String(index), 'x'])
  expect(formatTable(['A', 'B'], rows).split('\n')).toHaveLength(300_002)
})
