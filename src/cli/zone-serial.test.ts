import { expect, test } from 'vitest'
import { isNewerSerial, nextSerial, replaceSerial } from './zone-serial.ts'

const NOW = new Date('2026-11-15T23:30:00Z')

test('a serial is newer by the arithmetic of RFC 1982', () => {
  expect(isNewerSerial(2, 1)).toBe(true)
  expect(isNewerSerial(1, 1)).toBe(false)
  expect(isNewerSerial(1, 2)).toBe(false)
  expect(isNewerSerial(0, 0xffffffff)).toBe(true)
  expect(isNewerSerial(0x8000_0000, 0)).toBe(false)
})

test.each([
  [7, 8],
  [0xffffffff, 1],
  [2026111400, 2026111501],
  [2026111501, 2026111502],
  [2026111599, 2026111600],
  [2027010101, 2027010102],
  [2026134001, 2026134002],
  [1700000000, 1700000001],
])('after %i comes %i', (serial, expected) => {
  expect(nextSerial(serial, NOW)).toBe(expected)
})

test.each([
  ['@ SOA ns h 7 1 1 1 1\n', '@ SOA ns h 8 1 1 1 1\n'],
  ['\ufeff@ IN SOA ns h 7 1 1 1 1', '\ufeff@ IN SOA ns h 8 1 1 1 1'],
  [
    '$TTL 1h ; SOA ns h 7\r\nexample.test. 1h IN soa ns h ( ; 7\r\n\t7 ; the serial\r\n\t1 1 1 1 )\r\nw TXT "SOA a b 7"\r\n',
    '$TTL 1h ; SOA ns h 7\r\nexample.test. 1h IN soa ns h ( ; 7\r\n\t8 ; the serial\r\n\t1 1 1 1 )\r\nw TXT "SOA a b 7"\r\n',
  ],
  ['soa A 192.0.2.7\n IN 1h SOA soa soa 00007 1 1 1 1 ; ä\n', 'soa A 192.0.2.7\n IN 1h SOA soa soa 8 1 1 1 1 ; ä\n'],
])('the serial of %j is replaced and nothing else', (text, expected) => {
  expect(Buffer.from(replaceSerial(Buffer.from(text), 8) ?? []).toString()).toBe(expected)
})

test.each(['', 'www A 192.0.2.7\n', '@ SOA \\# 4 01020304\n', '@ SOA ns h\n'])('in %j there is no serial', (text) => {
  expect(replaceSerial(Buffer.from(text), 8)).toBeUndefined()
})
