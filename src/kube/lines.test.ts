import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Lines } from './lines.ts'

test('however a text is cut into pieces, its lines are the same', () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'é', '{', '"', '🦭'), maxLength: 12 })
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(200)), (texts, cuts) => {
      const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''))
      const lines = new Lines()
      const taken = pieces(bytes, cuts).flatMap((piece) => lines.take(piece).map(String))
      expect(taken).toEqual(texts.filter((text) => text !== ''))
    }),
  )
})

test('a line without an end is not taken for one', () => {
  expect(new Lines().take(Buffer.from('{"type":'))).toEqual([])
})

test('a line of many megabytes comes in one piece', () => {
  const lines = new Lines()
  const piece = Buffer.alloc(64 << 10, 'x')
  for (let count = 0; count < 256; count++) expect(lines.take(piece)).toEqual([])
  const [line, ...more] = lines.take(Buffer.from('y\n'))
  expect(line).toHaveLength((16 << 20) + 1)
  expect(more).toEqual([])
})

function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length]
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end))
}
