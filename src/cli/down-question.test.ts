import { expect, test } from 'vitest'
import type { DownHow } from '../stack/handle.ts'
import { downQuestion } from './down-question.ts'

test.each<[DownHow, RegExp]>([
  ['stop', /^Everything stays on disk.* Stop lab and its 8 machines\?$/u],
  ['keep-data', /^Data, passwords and certificates stay.* remove its 8 machines\?$/u],
  ['purge', /^Data, passwords and certificates are lost .* remove its 8 machines with everything\?$/u],
])('"%s" is asked for by what it takes away', (how, expected) => {
  expect(downQuestion('lab', 8, how)).toMatch(expected)
})

test('one machine is not several', () => {
  expect(downQuestion('lab', 1, 'stop')).toContain('Stop lab and its machine?')
})
