import { expect, test } from 'vitest'
import { parseDuration, parseEndpoint } from './notation.ts'

test.each([
  ['0', 0],
  ['1.5s', 1500],
  ['1h30m', 5_400_000],
  ['500ms', 500],
  ['250us', 0.25],
  ['.5s', 500],
  ['', undefined],
  ['30', undefined],
  ['-1s', undefined],
  ['1d', undefined],
  ['1s ', undefined],
])('the duration %j is %s ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms)
})

test.each([
  ['http://localhost:2379', 'http://localhost:2379'],
  ['HTTPS://Etcd-1.Example:2379/', 'https://etcd-1.example:2379'],
  ['10.0.0.1:2379', '10.0.0.1:2379'],
  ['[2001:db8::1]:2379', '[2001:db8::1]:2379'],
  ['localhost', undefined],
  ['http://localhost:0', undefined],
  ['http://localhost:65536', undefined],
  ['http://localhost:2379/v3', undefined],
  ['http://user:word@localhost:2379', undefined],
  ['ftp://localhost:2379', undefined],
  ['[10.0.0.1]:2379', undefined],
  ['2001:db8::1:2379', undefined],
  ['unix:/run/etcd', undefined],
])('the endpoint %s is %s', (text, endpoint) => {
  expect(parseEndpoint(text)).toBe(endpoint)
})
