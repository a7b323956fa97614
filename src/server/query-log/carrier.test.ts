import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LogSink } from '../../lib/log-sink.ts'
import { allocateLogFlow, type LogPiece, LogReceiver, LogSender } from './carrier.ts'
import { LineBuffer } from './line-buffer.ts'

function fill(buffer: LineBuffer, text: string): LineBuffer {
  buffer.beginLine(text.length + 1)
  buffer.literal(Buffer.from(text))
  buffer.endLine()
  return buffer
}

test('the lines of a batch arrive as one piece and are written', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-log-'))
  const fd = openSync(join(directory, 'log'), 'w')
  const sink = new LogSink(fd)
  const flow = allocateLogFlow()
  const receiver = new LogReceiver(flow, sink)
  const pieces: LogPiece[] = []
  const sender = new LogSender(flow, (piece) => pieces.push(piece))
  const buffer = new LineBuffer()
  sender.send(fill(fill(buffer, 'one'), 'two'))
  sender.send(buffer)
  expect(pieces.map((piece) => piece.lines)).toEqual([2])
  for (const piece of pieces) receiver.receive(piece)
  await sink.flush()
  closeSync(fd)
  expect(readFileSync(join(directory, 'log'), 'utf8')).toBe('one\ntwo\n')
  rmSync(directory, { recursive: true })
})

test('a main thread that takes nothing loses lines, and gets the next ones once it does', () => {
  const fd = openSync('/dev/null', 'w')
  const flow = allocateLogFlow()
  const receiver = new LogReceiver(flow, new LogSink(fd))
  const pieces: LogPiece[] = []
  const sender = new LogSender(flow, (piece) => pieces.push(piece))
  const buffer = new LineBuffer()
  for (let i = 0; i < 100; i++) sender.send(fill(buffer, 'x'.repeat(65_535)))
  expect([pieces.length, receiver.droppedLines]).toEqual([64, 36])
  for (const piece of pieces.splice(0)) receiver.receive(piece)
  sender.send(fill(buffer, 'again'))
  expect([pieces.length, receiver.droppedLines]).toEqual([1, 36])
})
