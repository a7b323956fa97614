import { expect, test } from 'vitest'
import { listenerHostname, overlap } from './listener-hostname.ts'

test.each([
  ['', '', ''],
  ['example.net', '', 'example.net'],
  ['example.net', 'example.net', 'example.net'],
  ['*.example.net', 'test.example.net', 'test.example.net'],
  ['*.example.net', 'a.example.net', 'a.example.net'],
  ['*.example.net', 'foo.bar.test.example.net', 'foo.bar.test.example.net'],
  ['*.example.net', '*.sub.example.net', '*.sub.example.net'],
  ['*.example.net', '*.example.net', '*.example.net'],
  ['*.example.net', 'example.net', undefined],
  ['*.example.net', 'badexample.net', undefined],
  ['*.example.net', '*.example.org', undefined],
  ['a.example.net', 'b.example.net', undefined],
])('%s and %s overlap in %s', (a, b, expected) => {
  expect(overlap(a, b)).toBe(expected)
  expect(overlap(b, a)).toBe(expected)
})

test.each([
  ['example', 'example'],
  ['Test-With-Dash.Example.Net', 'test-with-dash.example.net'],
  ['*.example.net', '*.example.net'],
  [`${'x'.repeat(63)}.net`, `${'x'.repeat(63)}.net`],
])('%s is taken as %s', (written, expected) => {
  expect(listenerHostname(written)).toBe(expected)
})

test.each([
  ...['', '1.2.3.4', '2001:db8::1', '*example.net', '*.*.net', 'a..b', '-dash.net', 'dash-.net', 'under_score.net'],
  ...['pl+us.net', 'ü.net', `${'x'.repeat(64)}.net`, `${'testing.'.repeat(32)}net`],
])('"%s" is not taken', (written) => {
  expect(listenerHostname(written)).toBeUndefined()
})
