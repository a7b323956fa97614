import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isOlder } from './resource-version.ts'

test('versions are compared as the numbers that they are, however large', () => {
  const version = fc.bigInt({ min: 1n, max: 2n ** 70n })
  fc.assert(fc.property(version, version, (a, b) => isOlder(String(a), String(b)) === a < b))
})

test('what is no number is not older than anything', () => {
  expect(['', '0', 'abc', '1.5'].filter((version) => isOlder(version, '7') || isOlder('7', version))).toEqual([])
})
