import { describe, expect, test } from 'vitest'
import { block, load, refusal } from '../testing.ts'
import { expandable } from './auto.ts'

const auto = (...lines: string[]) => block(`auto {\n${lines.join('\n')}\n}`).autos[0]
const autoRefusal = (...lines: string[]) => refusal(`. {\nauto {\n${lines.join('\n')}\n}\n}`)

describe('auto', () => {
  test('without pattern takes db.NAME every minute', () => {
    expect(auto('directory /zones')).toEqual({
      zones: ['.'],
      directory: '/zones',
      pattern: /db\.(.*)/u,
      template: '${1}',
      reloadMs: 60_000,
      fallthrough: [],
    })
  })

  test('takes networks as reverse zones', () => {
    expect(block('auto 10.0.0.0/24 {\n directory /zones\n}').autos[0].zones).toEqual(['0.0.10.in-addr.arpa.'])
    const { blocks } = load('10.0.0.0/24 {\n auto {\n directory /zones\n }\n}').config
    expect(blocks[0].autos[0].zones).toEqual(['0.0.10.in-addr.arpa.'])
  })

  test('reload 0 is never', () => {
    expect(auto('directory /zones', 'reload 0').reloadMs).toBe(0)
  })

  test('takes pattern, template and interval', () => {
    expect(auto('directory /zones (.*) bliep', 'reload 10s')).toMatchObject({
      pattern: /(.*)/u,
      template: 'bliep',
      reloadMs: 10_000,
    })
  })

  test('falls through for all names or for some', () => {
    expect(auto('directory /zones', 'fallthrough').fallthrough).toEqual(['.'])
    expect(auto('directory /zones', 'fallthrough a.example').fallthrough).toEqual(['a.example.'])
  })

  test.each([
    ['directory /zones * {1}', '"*" is not a regular expression'],
    ['directory /zones (.*) {1} aa', '"directory" has 4 arguments; expected directory DIR [REGEXP ORIGIN_TEMPLATE]'],
    ['directory /zones (.*)', 'REGEXP comes without ORIGIN_TEMPLATE'],
    ['directory /zones .* {1}', '".*" captures nothing; expected a group'],
    ['directory', '"directory" has 0 arguments'],
    ['directory /zones\nreload -1s', '"-1s" is not a duration'],
    ['directory /zones\nno_reload', 'unknown option "no_reload" of auto; did you mean "reload"?'],
    ['directory /zones\ntransfer to *', 'unknown option "transfer" of auto'],
    ['reload 1s', '"auto" has no directory; expected a block with directory DIR'],
  ])('%j is refused', (lines, message) => {
    expect(autoRefusal(lines)).toContain(message)
  })
})

test.each([
  ['', ''],
  ['{1}', '${1}'],
  ['{1', '${1'],
  ['{1}.{2}', '${1}.${2}'],
])('the template %j expands as %j', (template, expected) => {
  expect(expandable(template)).toBe(expected)
})
