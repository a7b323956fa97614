import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { until } from '../../../test/support/until.ts'
import { type Layout, layoutOf, logOf } from './layout.ts'
import type { LogOptions } from '../target.ts'
import { readLogs } from './logs.ts'
import { rotateLog } from './supervisor/rotate-log.ts'

let layout: Layout
const controllers: AbortController[] = []
beforeEach(() => {
  layout = layoutOf(mkdtempSync(join(tmpdir(), 'holdfast-logs-')))
  for (const machine of ['m', 'n']) mkdirSync(join(layout.machines, machine, 'log'), { recursive: true })
})
afterEach(() => {
  for (const controller of controllers.splice(0)) controller.abort()
  rmSync(layout.directory, { recursive: true })
})

const LIMITS = { maxBytes: 1000, keep: 3 }

async function read(options: Partial<LogOptions>, machines = ['m', 'n']): Promise<string[]> {
  const signal = AbortSignal.timeout(10_000)
  const found: string[] = []
  for await (const { machine, service, line } of readLogs(layout, machines, {
    lines: 10,
    follow: false,
    signal,
    ...options,
  }))
    found.push(`${machine} ${service} ${line}`)
  return found
}

/** Lines as they come, until it is aborted. */
function follow(lines = 0): string[] {
  const controller = new AbortController()
  controllers.push(controller)
  const found: string[] = []
  const reading = async () => {
    for await (const { line } of readLogs(layout, ['m'], { lines, follow: true, signal: controller.signal }))
      found.push(line)
  }
  void reading()
  return found
}

test('the last lines of each service are given', async () => {
  writeFileSync(logOf(layout, 'm', 'a'), '1\n2\n3\n')
  writeFileSync(logOf(layout, 'm', 'b'), 'no end')
  writeFileSync(logOf(layout, 'n', 'a'), '')
  expect(await read({ lines: 2 })).toEqual(['m a 2', 'm a 3', 'm b no end'])
  expect(await read({ lines: 0 }, ['m'])).toEqual([])
  expect(await read({}, ['gone'])).toEqual([])
})

test('long lines are found from the end, too', async () => {
  const long = 'x'.repeat(100_000)
  writeFileSync(logOf(layout, 'm', 'a'), `first\n${long}\n${long}\n`)
  expect(await read({ lines: 2 })).toEqual([`m a ${long}`, `m a ${long}`])
  expect(await read({ lines: 3 })).toHaveLength(3)
})

test('a follower gets lines when they are whole, also of services that come later', async () => {
  writeFileSync(logOf(layout, 'm', 'a'), 'before\n')
  const found = follow(1)
  await until('the last line', () => found.length === 1)
  appendFileSync(logOf(layout, 'm', 'a'), 'half ')
  appendFileSync(logOf(layout, 'm', 'a'), 'äöü\n')
  writeFileSync(logOf(layout, 'm', 'b'), 'new\n')
  await until('the new ones', () => found.length === 3)
  expect(found).toEqual(['before', 'half äöü', 'new'])
})

test('a log that has grown long is set aside; only so many copies are kept', () => {
  const path = logOf(layout, 'm', 'a')
  for (let round = 0; round < 6; round++) {
    appendFileSync(path, `${round}\n`)
    rotateLog(path, LIMITS)
    appendFileSync(path, `${String(round).repeat(1000)}\n`)
    rotateLog(path, LIMITS)
  }
  expect(readFileSync(path, 'utf8')).toBe('')
  expect(readdirSync(join(layout.machines, 'm', 'log')).toSorted()).toEqual(['a.log', 'a.log.1', 'a.log.2', 'a.log.3'])
  expect(readFileSync(`${path}.1`, 'utf8')).toMatch(/^5\n5+\n$/u)
  expect(readFileSync(`${path}.3`, 'utf8')).toMatch(/^3\n3+\n$/u)
})

test('a follower loses nothing when the log is rotated, even several times between two looks', async () => {
  const path = logOf(layout, 'm', 'a')
  writeFileSync(path, 'x\n')
  const found = follow()
  let next = 0
  const write = (count: number) => {
    for (let each = 0; each < count; each++) appendFileSync(path, `line ${next++} ${'.'.repeat(50)}\n`)
  }
  write(1)
  await until('the first line', () => found.length === 1)
  for (let round = 0; round < 10; round++) {
    for (const count of [30, 25, 5].slice(round % 3)) {
      write(count)
      rotateLog(path, LIMITS)
    }
    await until('all lines', () => found.length === next)
  }
  expect(found.map((line) => Number(line.split(' ')[1]))).toEqual(Array.from({ length: next }, (_, index) => index))
})

test('a writer that never pauses loses lines only where its log is cut', async () => {
  const path = logOf(layout, 'm', 'a')
  const output = openSync(path, 'a')
  const script = 'i=0; while [ $i -lt 20000 ]; do echo "line $i"; i=$((i+1)); done'
  const writer = spawn('sh', ['-c', script], { stdio: ['ignore', output, output] })
  closeSync(output)
  const ended = once(writer, 'exit')
  const kept: string[] = []
  let rotations = 0
  while (writer.exitCode === null) {
    rotateLog(path, { maxBytes: 20_000, keep: 1 })
    if (existsSync(`${path}.1`)) {
      kept.push(...readFileSync(`${path}.1`, 'utf8').split('\n').slice(0, -1))
      rmSync(`${path}.1`)
      rotations++
    }
    await new Promise(setImmediate)
  }
  await ended
  kept.push(...readFileSync(path, 'utf8').split('\n').slice(0, -1))
  expect(rotations).toBeGreaterThan(0)
  const numbers = kept.map((line) => Number(line.slice('line '.length)))
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
  const gaps = numbers.filter((number, index) => index > 0 && number !== numbers[index - 1] + 1)
  expect(gaps.length).toBeLessThanOrEqual(rotations)
})
