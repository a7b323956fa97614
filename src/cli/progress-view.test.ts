import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Terminal } from '../../test/support/terminal.ts'
import type { ProgressEvent } from '../stack/progress.ts'
import { ProgressView } from './progress-view.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

type Told = readonly [machine: string | undefined, state: ProgressEvent['state'], message: string]

function tell(view: ProgressView, ...events: readonly Told[]): void {
  for (const [machine, state, message] of events) view.report({ machine, state, message })
}

/** A name for each of so many machines. */
function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `node-${index + 1}`)
}

test('on a terminal each machine has a line that changes in place', () => {
  const terminal = new Terminal(60, 20)
  const view = new ProgressView({ env: {} }, terminal, { machines: ['etcd-1', 'etcd-2', 'postgres-1'] })
  tell(view, ['etcd-1', 'working', 'starting etcd'], ['etcd-2', 'working', 'starting etcd'])
  vi.advanceTimersByTime(1200)
  tell(view, ['etcd-1', 'ready', 'leader'], [undefined, 'working', 'waiting for etcd'])
  vi.advanceTimersByTime(1000)
  expect(terminal.screen).toEqual([
    '✓ etcd-1      leader  1.2 s',
    '⠹ etcd-2      starting etcd  2.2 s',
    '· postgres-1  waiting',
    '⠹ waiting for etcd · 1 of 3 done · 2.2 s',
  ])
  expect(terminal.isCursorVisible).toBe(false)
  view.close()
})

test('the end stays in the scrollback, and the cursor comes back', () => {
  const terminal = new Terminal(60, 20)
  const view = new ProgressView({ env: {} }, terminal)
  tell(view, ['etcd-1', 'working', 'starting etcd'])
  vi.advanceTimersByTime(3000)
  tell(view, ['etcd-1', 'ready', 'leader'], [undefined, 'ready', 'lab is up'])
  view.close()
  tell(view, ['etcd-1', 'failed', 'too late'])
  vi.advanceTimersByTime(1000)
  terminal.write('$ ')
  expect(terminal.everything).toEqual(['✓ etcd-1  leader  3.0 s', '✓ lab is up · 1 of 1 done · 3.0 s', '$'])
  expect(terminal.isCursorVisible).toBe(true)
})

test('an error shows the cursor again and leaves what was going on', () => {
  const terminal = new Terminal(60, 20)
  const up = () => {
    using view = new ProgressView({ env: {} }, terminal)
    tell(view, ['etcd-1', 'failed', `exit code 1: ${'x'.repeat(60)}`], ['etcd-2', 'working', 'waiting for a leader'])
    vi.advanceTimersByTime(400)
    throw new Error('Cannot go on')
  }
  expect(up).toThrow('Cannot go on')
  expect(terminal.isCursorVisible).toBe(true)
  expect(terminal.screen).toEqual([
    `✗ etcd-1  exit code 1: ${'x'.repeat(37)}`,
    `${'x'.repeat(23)}  0.0 s`,
    '· etcd-2  waiting for a leader  0.4 s',
    '✗ 0 of 2 done · 0.4 s',
  ])
})

test('after an interrupt the cursor is visible while the work ends', () => {
  const terminal = new Terminal(60, 20)
  const stop = new AbortController()
  const view = new ProgressView({ env: {} }, terminal, { signal: stop.signal })
  tell(view, ['etcd-1', 'working', 'starting etcd'])
  vi.advanceTimersByTime(200)
  stop.abort()
  expect(terminal.isCursorVisible).toBe(true)
  tell(view, ['etcd-1', 'working', 'stopping'])
  vi.advanceTimersByTime(200)
  expect(terminal.screen[0]).toContain('etcd-1  stopping')
  view.close()
})

test('warnings and other lines stay above the list', () => {
  const terminal = new Terminal(60, 20)
  const view = new ProgressView({ env: {} }, terminal)
  tell(view, ['etcd-1', 'working', 'starting etcd'])
  vi.advanceTimersByTime(500)
  tell(view, ['etcd-1', 'warning', 'the clock is off by 3 s'])
  view.log('stack.yaml:3:7: an even number of members \u001b[2J')
  vi.advanceTimersByTime(500)
  expect(terminal.screen).toEqual([
    '     0.5 s  etcd-1: warning: the clock is off by 3 s',
    'stack.yaml:3:7: an even number of members ?[2J',
    '⠋ etcd-1  starting etcd  1.0 s',
    '⠋ 0 of 1 done · 1.0 s',
  ])
  view.close()
})

test('with more machines than lines, those that fail and work are shown and the others counted', () => {
  const terminal = new Terminal(60, 7)
  const view = new ProgressView({ env: {} }, terminal, { machines: names(1000) })
  for (const machine of names(20)) tell(view, [machine, 'ready', 'follower'])
  tell(view, ['node-500', 'failed', 'exit code 1'], ['node-30', 'working', 'starting etcd'])
  vi.advanceTimersByTime(100)
  expect(terminal.screen).toEqual([
    '· node-21    waiting',
    '· node-22    waiting',
    '⠙ node-30    starting etcd  0.1 s',
    '✗ node-500   exit code 1  0.0 s',
    '  … and 996 more: 976 waiting, 20 ready',
    '✗ 20 of 1000 done · 0.1 s',
  ])
  view.close()
  expect(terminal.everything).toEqual(['✗ node-500   exit code 1  0.0 s', '✗ 20 of 1000 done · 0.1 s'])
})

test('a narrow terminal shows what fits, also when it became narrow on the way', () => {
  const terminal = new Terminal(80, 20)
  const view = new ProgressView({ env: {} }, terminal)
  const messages = ['waiting for a synchronous standby of the cluster', 'starting']
  tell(view, ['postgres-1', 'working', messages[0]], ['a-machine-with-quite-a-long-name', 'working', messages[1]])
  vi.advanceTimersByTime(100)
  terminal.resize(40, 10)
  expect(terminal.screen).toEqual([
    '⠙ postgres-1            waiting …  0.1 s',
    '⠙ a-machine-with-quit…  starting  0.1 s',
    '⠙ 0 of 2 done · 0.1 s',
  ])
  terminal.resize(100, 10)
  expect(terminal.screen[0]).toBe(`⠙ postgres-1                        ${messages[0]}  0.1 s`)
  expect(terminal.everything).toHaveLength(3)
  view.close()
})

test('elsewhere each change is a line with the time since the start', () => {
  const terminal = Object.assign(new Terminal(), { isTTY: false })
  const view = new ProgressView({ env: {} }, terminal, { machines: ['etcd-1'] })
  tell(view, ['etcd-1', 'working', 'starting etcd'], ['etcd-1', 'working', 'starting etcd'])
  vi.advanceTimersByTime(12_300)
  tell(view, ['etcd-1', 'warning', 'slow disk'], ['etcd-1', 'ready', 'leader'], ['etcd-2', 'failed', 'exit code 1'])
  vi.advanceTimersByTime(60_000)
  tell(view, [undefined, 'working', 'waiting for etcd'])
  view.log('a line')
  view.close()
  expect(terminal.everything).toEqual([
    '     0.0 s  etcd-1: starting etcd',
    '      12 s  etcd-1: warning: slow disk',
    '      12 s  etcd-1: leader',
    '      12 s  etcd-2: failed: exit code 1',
    '1 min 12 s  waiting for etcd',
    'a line',
    '1 min 12 s  waiting for etcd · 1 of 2 done',
  ])
  expect(terminal.isCursorVisible).toBe(true)
})

test('elsewhere nothing is told twice where there are no machines', () => {
  const terminal = Object.assign(new Terminal(), { isTTY: false })
  const view = new ProgressView({ env: {} }, terminal)
  tell(view, [undefined, 'ready', 'lab is gone'])
  view.close()
  expect(terminal.everything).toEqual(['     0.0 s  lab is gone'])
})

test('where nothing was done, nothing is left', () => {
  const terminal = new Terminal()
  const view = new ProgressView({ env: {} }, terminal)
  vi.advanceTimersByTime(500)
  view.close()
  expect(terminal.everything).toEqual([])
})
