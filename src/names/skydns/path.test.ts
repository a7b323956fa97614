import { describe, expect, it } from 'vitest'
import { parseName } from '../../dns/name.ts'
import { bytesOf, depthOf, isAtOrBelow, latin1, nameOf, parentOf, pathOfName, readPath, strip } from './path.ts'

describe('a path', () => {
  it.each([
    ['.', ''],
    ['org.', 'org'],
    ['www.example.org.', 'org/example/www'],
    ['WWW.Example.ORG.', 'org/example/www'],
    ['a\\.b.example.org.', 'org/example/a.b'],
    ['\\201.org.', 'org/\xc9'],
  ])('of %s is %j, and leads back to the name', (name, path) => {
    expect(pathOfName(parseName(name))).toBe(path)
    expect(pathOfName(nameOf(path))).toBe(path)
  })

  it('cannot be made of a label with a slash', () => {
    expect(pathOfName(parseName('0/25.2.0.192.in-addr.arpa.'))).toBeUndefined()
  })

  it('has a parent, down to the root', () => {
    expect([parentOf('org/example'), parentOf('org'), parentOf('')]).toEqual(['org', '', undefined])
  })

  it('is below another only at a label', () => {
    expect(isAtOrBelow('org/example/www', 'org/example')).toBe(true)
    expect(isAtOrBelow('org/example', 'org/example')).toBe(true)
    expect(isAtOrBelow('org/examples', 'org/example')).toBe(false)
    expect(isAtOrBelow('org', '')).toBe(true)
  })

  it('is stripped from the left of the name, and not to nothing', () => {
    expect([0, 1, 2, 3, 9].map((count) => strip('org/example/www', count))).toEqual([
      'org/example/www',
      'org/example',
      'org',
      'org/example/www',
      'org/example/www',
    ])
    expect(strip('', 1)).toBe('')
  })

  it('is as deep as it has slashes', () => {
    expect(['', 'org', 'org/example/www'].map(depthOf)).toEqual([0, 0, 2])
  })
})

describe('a key', () => {
  it.each([
    ['org/example/WWW', 'org/example/www'],
    ['', ''],
    ['org/\xc9', 'org/\xc9'],
    ['org/a\\.b', 'org/a.b'],
    ['org/a.b', 'org/a.b'],
    ['org/\\065\\\\', 'org/a\\'],
    [`org/${'x'.repeat(63)}`, `org/${'x'.repeat(63)}`],
  ])('%j reads as %j', (text, path) => {
    expect(readPath(text)).toEqual({ path, problem: undefined })
  })

  it.each([
    ['org//x', 'empty label'],
    ['org/x/', 'empty label'],
    ['/org', 'empty label'],
    [`org/${'x'.repeat(64)}`, 'a label has 64 bytes; expected at most 63'],
    ['org/x'.padEnd(254, '/x'), 'at most 255 bytes'],
    ['x'.repeat(2_000_000), 'at most 255 bytes'],
    ['org/x\\', 'malformed escape'],
    ['org/x\\/y', 'malformed escape'],
    ['org/\\12', 'malformed escape'],
    ['org/\\256', 'malformed escape'],
    ['org/\\047', 'malformed escape'],
  ])('%j is not a name', (text, problem) => {
    expect(readPath(text).problem).toContain(problem)
  })

  it('of the longest name is one', () => {
    const text = 'org/x'.padEnd(253, '/x')
    expect(readPath(text)).toEqual({ path: text, problem: undefined })
    expect(nameOf(text)).toHaveLength(255)
  })
})

it('bytes survive as characters', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i)
  expect(bytesOf(latin1(bytes))).toEqual(bytes)
})
