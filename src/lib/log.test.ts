import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LogSink } from './log-sink.ts'
import { Log } from './log.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-log-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

async function logged(write: (log: Log) => void, options?: { quiet: boolean }): Promise<string> {
  const path = join(directory, 'log')
  const fd = openSync(path, 'w')
  const sink = new LogSink(fd)
  write(new Log(sink, options))
  await sink.flush()
  closeSync(fd)
  return readFileSync(path, 'utf8')
}

function sayEverything(log: Log): void {
  log.info('starting')
  log.warning('serial went back')
  log.error('port in use')
}

test('lines carry their level and come out in order', async () => {
  expect(await logged(sayEverything)).toBe('[INFO] starting\n[WARNING] serial went back\n[ERROR] port in use\n')
})

test('a quiet log keeps errors', async () => {
  expect(await logged(sayEverything, { quiet: true })).toBe('[ERROR] port in use\n')
})

test('control characters in a message neither make a second line nor reach the terminal', async () => {
  const text = await logged((log) => log.info('query for evil\r\n[ERROR] forged \u001b[31mred \u202egnorw'))
  expect(text).toBe('[INFO] query for evil [ERROR] forged  [31mred  gnorw\n')
})
