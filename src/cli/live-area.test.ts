import { expect, test } from 'vitest'
import { Terminal } from '../../test/support/terminal.ts'
import { LiveArea } from './live-area.ts'

function open(terminal: Terminal, signal?: AbortSignal): LiveArea {
  terminal.write('$ holdfast up\n')
  return new LiveArea(terminal, { signal, onResize: () => {} })
}

test('lines are painted over, and shorter frames leave nothing behind', () => {
  const terminal = new Terminal(20, 10)
  const area = open(terminal)
  area.paint(['one is long', 'two', 'three'])
  area.paint(['one', 'two'])
  expect(terminal.screen).toEqual(['$ holdfast up', 'one', 'two'])
  expect(terminal.cursor).toEqual({ row: 3, column: 0 })
})

test('a frame is one write', () => {
  const terminal = new Terminal()
  const area = open(terminal)
  const before = terminal.writes
  area.paint(['one', 'two'])
  area.paint(['one', 'two', 'three'])
  expect(terminal.writes - before).toBe(2)
})

test('what is printed stands above, also when it is wider than the terminal', () => {
  const terminal = new Terminal(10, 10)
  const area = open(terminal)
  area.paint(['one', 'two'])
  area.print('a warning\nthat takes more\n')
  area.paint(['one', 'TWO'])
  expect(terminal.screen).toEqual(['$ holdfast', ' up', 'a warning', 'that takes', ' more', 'one', 'TWO'])
})

test('what was printed above scrolls away, the painted lines stay', () => {
  const terminal = new Terminal(20, 4)
  const area = open(terminal)
  area.paint(['one', 'two'])
  for (let line = 1; line <= 5; line++) area.print(`line ${line}\n`)
  expect(terminal.screen).toEqual(['line 5', 'one', 'two'])
  expect(terminal.everything).toEqual(['$ holdfast up', ...[1, 2, 3, 4, 5].map((line) => `line ${line}`), 'one', 'two'])
})

test('no more lines are painted than the terminal has, and none that takes two rows', () => {
  const terminal = new Terminal(20, 6)
  const area = open(terminal)
  for (const word of ['first', 'last']) area.paint([`${word} ${'x'.repeat(40)}`, '2', '3'])
  expect(terminal.screen).toEqual(['$ holdfast up', `last ${'x'.repeat(15)}`, '2', '3'])
  for (const word of ['first', 'last']) area.paint([word, '2', '3', '4', '5', '6'])
  expect(terminal.everything).toEqual(['$ holdfast up', 'last', '2', '3', '4', '5'])
})

test('a full line keeps its last character', () => {
  const terminal = new Terminal(5, 4)
  const area = new LiveArea(terminal, { onResize: () => {} })
  area.paint(['12345', 'x'])
  expect(terminal.screen).toEqual(['12345', 'x'])
})

test('a terminal that becomes narrower or wider is painted over all the same', () => {
  const terminal = new Terminal(40, 10)
  const area = open(terminal)
  area.paint(['a line of some thirty characters', 'two'])
  terminal.resize(20, 10)
  expect(terminal.screen).toHaveLength(4)
  area.paint(['a line', 'two'])
  expect(terminal.screen).toEqual(['$ holdfast up', 'a line', 'two'])
  terminal.resize(60, 10)
  area.paint(['a line of some thirty characters', 'two'])
  expect(terminal.screen).toEqual(['$ holdfast up', 'a line of some thirty characters', 'two'])
})

test('a change of size is told until the end', () => {
  const terminal = new Terminal()
  let told = 0
  const area = new LiveArea(terminal, { onResize: () => told++ })
  terminal.resize(40, 10)
  area.close()
  terminal.resize(80, 24)
  expect(told).toBe(1)
})

test('the cursor is hidden while there is something to paint, and shown again at the end', () => {
  const terminal = new Terminal()
  const area = open(terminal)
  area.paint(['one'])
  expect(terminal.isCursorVisible).toBe(false)
  area.close('done\n')
  expect(terminal.isCursorVisible).toBe(true)
  area.paint(['too late'])
  area.print('after\n')
  expect(terminal.screen).toEqual(['$ holdfast up', 'done', 'after'])
})

test('an interrupt shows the cursor at once, though painting goes on', () => {
  const terminal = new Terminal()
  const stop = new AbortController()
  const area = open(terminal, stop.signal)
  area.paint(['one'])
  terminal.write('^C')
  stop.abort()
  expect(terminal.isCursorVisible).toBe(true)
  area.paint(['stopping'])
  area.close()
  expect(terminal.screen).toEqual(['$ holdfast up', 'stopping'])
})
