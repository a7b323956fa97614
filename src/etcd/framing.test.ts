import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FrameReader, frame } from './framing.ts'

test('messages come out as they went in, however they were cut into chunks', () => {
  const messages = fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 8 })
  fc.assert(
    fc.property(messages, fc.integer({ min: 1, max: 40 }), (given, size) => {
      const bytes = Buffer.concat(given.map(frame))
      const reader = new FrameReader()
      const read: Uint8Array[] = []
      for (let at = 0; at < bytes.length; at += size) read.push(...reader.push(bytes.subarray(at, at + size)))
      expect(read.map((message) => new Uint8Array(message))).toEqual(given)
    }),
  )
})

test('a message that came in one chunk is not copied', () => {
  const bytes = frame(Buffer.alloc(100_000))
  const [message] = new FrameReader().push(bytes)
  expect([message.length, message.buffer]).toEqual([100_000, bytes.buffer])
})

test('compressed messages and absurd lengths are refused', () => {
  expect(() => [...new FrameReader().push(Buffer.of(1, 0, 0, 0, 1, 0))]).toThrow('compressed')
  expect(() => [...new FrameReader().push(Buffer.of(0, 255, 0, 0, 0, 0))]).toThrow('bytes')
})
