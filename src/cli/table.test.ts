import { expect, test } from 'vitest'
import { formatTable, tableLines } from './table.ts'

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

test('within a width, the last column is wrapped', () => {
  const rows = [
    ['a', 'a remark that is longer than the terminal is wide'],
    ['b', ''],
  ]
  expect(formatTable(['NAME', 'REMARK'], rows, [], 32)).toBe(
    'NAME  REMARK\na     a remark that is longer\n      than the terminal is wide\nb\n',
  )
})

test('styles do not move columns, and lines end at the width', () => {
  const lines = tableLines(
    ['NAME', 'STATE', 'ERROR'],
    [
      ['a', { text: 'ready', style: 'green' }, ''],
      ['b', { text: 'down', style: 'red' }, 'Cannot connect'],
    ],
    { paint: (style, text) => `<${style}>${text}</${style}>`, width: 20 },
  )
  expect(lines).toEqual(['NAME  STATE  ERROR', 'a     <green>ready</green>', 'b     <red>down   </red>Cannot…'])
})

test('what others stored does not steer the terminal', () => {
  expect(tableLines(['A'], [['\u001b[31mred\n']])).toEqual(['A', '?[31mred?'])
})
