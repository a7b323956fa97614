import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compareNames,
  equalNames,
  formatName,
  isSubdomain,
  labelCount,
  lowerName,
  NameError,
  nameLength,
  parseName,
  ROOT,
} from './name.ts'

const label = fc.uint8Array({ minLength: 1, maxLength: 20 })
const wireName = fc
  .array(label, { maxLength: 10 })
  .map((labels) => Uint8Array.from([...labels.flatMap((bytes) => [bytes.length, ...bytes]), 0]))

describe('text of names', () => {
  it('reads labels, keeps their letter case, and ends with the root', () => {
    expect([...parseName('wWw.Ex.')]).toEqual([3, 0x77, 0x57, 0x77, 2, 0x45, 0x78, 0])
    expect(parseName('.')).toEqual(ROOT)
  })

  it('appends the origin to relative names, and @ is the origin', () => {
    const origin = parseName('example.org.')
    expect(formatName(parseName('a.b', origin))).toBe('a.b.example.org.')
    expect(formatName(parseName('@', origin))).toBe('example.org.')
    expect(formatName(parseName('\\@', origin))).toBe('\\@.example.org.')
  })

  it.each([
    ['has\\046dot.campus.edu.', 'has\\.dot.campus.edu.'],
    ['has\\.dot.campus.edu.', 'has\\.dot.campus.edu.'],
    ['plain.campus.edu.', 'plain.campus.edu.'],
    ['Home\\032Media._smb._tcp.home.arpa.', 'Home\\032Media._smb._tcp.home.arpa.'],
    ['\\"\\\\\\;\\@\\$\\(\\)\\a.', '\\"\\\\\\;\\@\\$\\(\\)a.'],
    ['\\000\\127\\255.', '\\000\\127\\255.'],
    ['bücher.', 'b\\195\\188cher.'],
  ])('prints %s canonically as %s', (text, canonical) => {
    expect(formatName(parseName(text))).toBe(canonical)
  })

  it.each([
    ['', 'a name that is not empty'],
    ['a..b.', 'no empty label'],
    ['.a.', 'no empty label'],
    [`${'x'.repeat(64)}.`, 'labels of at most 63 bytes'],
    [`${'x'.repeat(63)}.`.repeat(4), 'at most 255 bytes'],
    ['a\\25.', 'an escape'],
    ['a\\256.', 'an escape'],
    ['a\\', 'an escape'],
    ['relative', 'an absolute name'],
    ['@', 'an absolute name'],
  ])('refuses "%s": expected %s', (text, expected) => {
    expect(() => parseName(text)).toThrow(NameError)
    expect(() => parseName(text)).toThrow(expected)
  })

  it('accepts a label of 63 bytes and a name of 255', () => {
    const text = `${'x'.repeat(63)}.`.repeat(3) + `${'y'.repeat(61)}.`
    expect(parseName(text)).toHaveLength(255)
    expect(formatName(parseName(text))).toBe(text)
  })

  it('reads back whatever it prints', () => {
    fc.assert(
      fc.property(wireName, (wire) => {
        expect(parseName(formatName(wire))).toEqual(wire)
      }),
    )
  })
})

describe('comparing names', () => {
  it('sorts as RFC 4034 6.1 shows', () => {
    const sorted = [
      'example.',
      'a.example.',
      'yljkjljk.a.example.',
      'Z.a.example.',
      'zABC.a.EXAMPLE.',
      'z.example.',
      '\\001.z.example.',
      '*.z.example.',
      '\\200.z.example.',
    ]
    const shuffled = sorted.toReversed().map((text) => parseName(text))
    expect(shuffled.toSorted(compareNames).map((name) => formatName(name))).toEqual(sorted)
  })

  it('is a total order that agrees with equality', () => {
    fc.assert(
      fc.property(wireName, wireName, (a, b) => {
        expect(Math.sign(compareNames(a, b))).toBe(-Math.sign(compareNames(b, a)) + 0)
        expect(compareNames(a, b) === 0).toBe(equalNames(a, b))
        expect(compareNames(a, lowerName(a))).toBe(0)
      }),
    )
  })

  it('knows what is below what, by whole labels and in any letter case', () => {
    const parent = parseName('example.org.')
    expect(isSubdomain(parseName('a.b.EXAMPLE.org.'), parent)).toBe(true)
    expect(isSubdomain(parent, parent)).toBe(true)
    expect(isSubdomain(parseName('badexample.org.'), parent)).toBe(false)
    expect(isSubdomain(parseName('\\007example.org.'), parent)).toBe(false)
    expect(isSubdomain(parseName('org.'), parent)).toBe(false)
    expect(isSubdomain(parent, ROOT)).toBe(true)
  })

  it('counts labels without the root', () => {
    expect(labelCount(ROOT)).toBe(0)
    expect(labelCount(parseName('a.b.c.'))).toBe(3)
  })
})

describe('nameLength', () => {
  it('is -1 for what is cut off, compressed or too long', () => {
    expect(nameLength(Uint8Array.of(1, 0x61))).toBe(-1)
    expect(nameLength(Uint8Array.of(0xc0, 0))).toBe(-1)
    expect(nameLength(Uint8Array.of(1, 0x61, 0), 0, 2)).toBe(-1)
    expect(nameLength(new Uint8Array(300).map((_, i) => (i % 2 === 0 ? 1 : 0x61)))).toBe(-1)
    expect(nameLength(Uint8Array.of(9, 1, 0x61, 0), 1)).toBe(3)
  })
})
