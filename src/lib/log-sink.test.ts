import { execFileSync } from 'node:child_process'
import { closeSync, constants, existsSync, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LogSink } from './log-sink.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-sink-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

function pipe(): { reader: number; writer: number } {
  const path = join(directory, 'fifo')
  execFileSync('mkfifo', [path])
  return {
    reader: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK),
    writer: openSync(path, constants.O_WRONLY),
  }
}

test('pieces come out whole and in order', async () => {
  const path = join(directory, 'log')
  const fd = openSync(path, 'w')
  const sink = new LogSink(fd)
  for (let i = 0; i < 1000; i++) sink.write(Buffer.from(`line ${i}\n`), 1)
  await sink.flush()
  closeSync(fd)
  expect(readFileSync(path, 'utf8')).toBe(Array.from({ length: 1000 }, (_, i) => `line ${i}\n`).join(''))
  expect(sink.droppedLines).toBe(0)
})

test('what exceeds the backlog is dropped, counted, and reported in the output', async () => {
  const path = join(directory, 'log')
  const fd = openSync(path, 'w')
  const sink = new LogSink(fd, 10)
  sink.write(Buffer.from('first\n'), 1)
  sink.write(Buffer.from('second\n'), 1)
  sink.write(Buffer.from('a\nb\nc\nd\n'), 4)
  expect(sink.droppedLines).toBe(4)
  await sink.flush()
  sink.write(Buffer.from('last\n'), 1)
  await sink.flush()
  closeSync(fd)
  const text = readFileSync(path, 'utf8')
  expect(text).toBe('first\n[WARNING] log: 4 lines lost, output could not be written\nsecond\nlast\n')
  expect(sink.droppedLines).toBe(4)
})

test.runIf(existsSync('/dev/full'))(
  'on a full disk every line is counted as dropped and the program goes on',
  async () => {
    const fd = openSync('/dev/full', 'w')
    const sink = new LogSink(fd)
    sink.write(Buffer.from('one\ntwo\n'), 2)
    for (let i = 0; i < 100; i++) sink.write(Buffer.from('three\n'), 1)
    await sink.flush()
    expect(sink.droppedLines).toBe(102)
    sink.write(Buffer.from('four\n'), 1)
    await sink.flush()
    expect(sink.droppedLines).toBe(103)
    closeSync(fd)
  },
)

test('a stuck pipe holds nothing up; what was cut off is followed by a line of its own', async () => {
  const { reader, writer } = pipe()
  const sink = new LogSink(writer)
  sink.write(Buffer.from(`${'x'.repeat(200_000)}\n`), 1)
  await sink.flush()
  expect(sink.droppedLines).toBe(1)
  const buffer = Buffer.alloc(1 << 20)
  expect(readSync(reader, buffer, 0, buffer.length, null)).toBeGreaterThan(0)
  sink.write(Buffer.from('after\n'), 1)
  await sink.flush()
  const count = readSync(reader, buffer, 0, buffer.length, null)
  expect(buffer.toString('utf8', 0, count)).toBe('\n[WARNING] log: 1 lines lost, output could not be written\nafter\n')
  closeSync(reader)
  closeSync(writer)
})

test('a pipe whose reader is gone loses lines and nothing else', async () => {
  const { reader, writer } = pipe()
  const sink = new LogSink(writer)
  closeSync(reader)
  sink.write(Buffer.from('into the void\n'), 1)
  await sink.flush()
  expect(sink.droppedLines).toBe(1)
  closeSync(writer)
})
