import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { block } from './corefile/testing.ts'
import { ErrorLog } from './error-log.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const TIMEOUT = 'read udp 192.0.2.1:53: i/o timeout'
const REFUSED = 'read udp 192.0.2.1:53: connection refused'

function errorLog(options = '') {
  const lines: string[] = []
  const abort = new AbortController()
  const output = {
    error: (message: string) => lines.push(`error ${message}`),
    warning: (message: string) => lines.push(`warning ${message}`),
    info: (message: string) => lines.push(`info ${message}`),
  }
  const { errorRules = [] } = block(`errors {\n${options}\n}`)
  return { log: new ErrorLog(errorRules, output, abort.signal), lines, abort }
}

test('failures that a rule matches are reported together, with the level of the rule', () => {
  const { log, lines } = errorLog('consolidate 5m ".* i/o timeout$" warning\nconsolidate 30s "^read udp .+"')
  for (let i = 0; i < 1000; i++) log.report('Cannot resolve "a. A"', TIMEOUT)
  log.report('Cannot resolve "a. A"', REFUSED)
  expect(lines).toEqual([])
  vi.advanceTimersByTime(30_000)
  expect(lines).toEqual(["error 1 errors like '^read udp .+' occurred in last 30s"])
  vi.advanceTimersByTime(270_000)
  expect(lines.slice(1)).toEqual(["warning 1000 errors like '.* i/o timeout$' occurred in last 5m0s"])
  log.report('Cannot resolve "a. A"', TIMEOUT)
  vi.advanceTimersByTime(300_000)
  expect(lines).toHaveLength(3)
})

test('with show_first the first is written at once, and counted where others follow', () => {
  const { log, lines } = errorLog('consolidate 1s timeout$ info show_first')
  log.report('Cannot resolve "a. A"', TIMEOUT)
  expect(lines).toEqual([`info Cannot resolve "a. A": ${TIMEOUT}`])
  vi.advanceTimersByTime(1000)
  expect(lines).toHaveLength(1)
  for (let i = 0; i < 3; i++) log.report('Cannot resolve "b. A"', TIMEOUT)
  vi.advanceTimersByTime(1000)
  expect(lines.slice(1)).toEqual([
    `info Cannot resolve "b. A": ${TIMEOUT}`,
    "info 3 errors like 'timeout$' occurred in last 1s",
  ])
})

test('failures of level debug are counted and not written', () => {
  const { log, lines } = errorLog('consolidate 1s timeout$ debug')
  log.report('Cannot resolve "a. A"', TIMEOUT)
  vi.advanceTimersByTime(1000)
  expect(lines).toEqual([])
})

test('without a rule a few lines are written each second, and the rest is counted', () => {
  const { log, lines } = errorLog()
  for (let i = 0; i < 5000; i++) log.report(`Cannot resolve "n${i}. A"`, TIMEOUT)
  expect(lines).toHaveLength(20)
  vi.advanceTimersByTime(1000)
  expect(lines.slice(20)).toEqual([`warning 4980 more failures, the last: Cannot resolve "n4999. A": ${TIMEOUT}`])
  log.report('Cannot resolve "next. A"', TIMEOUT)
  expect(lines.at(-1)).toBe(`warning Cannot resolve "next. A": ${TIMEOUT}`)
  vi.advanceTimersByTime(10_000)
  expect(lines).toHaveLength(22)
})

test('the end of the server reports what was counted', () => {
  const { log, lines, abort } = errorLog('consolidate 1h refused$')
  log.report('Cannot resolve "a. A"', REFUSED)
  for (let i = 0; i < 21; i++) log.report('Cannot resolve "b. A"', TIMEOUT)
  lines.length = 0
  abort.abort()
  expect(lines).toEqual([
    "error 1 errors like 'refused$' occurred in last 1h0m0s",
    `warning 1 more failures, the last: Cannot resolve "b. A": ${TIMEOUT}`,
  ])
})
