import { Readable, Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { parseName } from '../dns/name.ts'
import { loadZoneText } from '../names/load-zone.ts'
import type { ZoneBuilder } from '../zone/build.ts'
import type { Io } from './command.ts'
import { diffJson, diffZones, printDiff, summarize } from './zone-changes.ts'

const APEX = '$TTL 300\n@ SOA ns h 7 1 1 1 1\n@ NS ns\nns A 192.0.2.53\n'

function zone(text: string): ZoneBuilder {
  return loadZoneText(Buffer.from(text), 'zone', parseName('example.test.'), {}).zone
}

test('what is written differently but says the same is no difference', () => {
  const other =
    '$ORIGIN test.\nNS.Example 300 A 192.0.2.53\nexample 5m NS NS.EXAMPLE\n 5m SOA ns.example h.example 7 1 1 1 1\n'
  expect(diffZones(zone(APEX), zone(other))).toEqual([])
})

test('records are added, removed and changed, in canonical order', () => {
  const before = `${APEX}a A 192.0.2.1\nb A 192.0.2.2\nc 60 TXT x\nd A 192.0.2.3\nd A 192.0.2.4\n`
  const after = `${APEX.replace('7', '8')}b A 192.0.2.20\nc 61 TXT x\nd A 192.0.2.5\nd A 192.0.2.6\n*.z MX 10 ns\n`
  const diff = diffZones(zone(before), zone(after))
  expect(summarize(diff)).toBe('3 changed, 3 added, 3 removed')
  expect(diffJson(diff)).toEqual({
    changed: [
      {
        before: 'example.test. 300 IN SOA ns.example.test. h.example.test. 7 1 1 1 1',
        after: 'example.test. 300 IN SOA ns.example.test. h.example.test. 8 1 1 1 1',
      },
      { before: 'b.example.test. 300 IN A 192.0.2.2', after: 'b.example.test. 300 IN A 192.0.2.20' },
      { before: 'c.example.test. 60 IN TXT "x"', after: 'c.example.test. 61 IN TXT "x"' },
    ],
    added: [
      'd.example.test. 300 IN A 192.0.2.5',
      'd.example.test. 300 IN A 192.0.2.6',
      '*.z.example.test. 300 IN MX 10 ns.example.test.',
    ],
    removed: [
      'a.example.test. 300 IN A 192.0.2.1',
      'd.example.test. 300 IN A 192.0.2.3',
      'd.example.test. 300 IN A 192.0.2.4',
    ],
  })
})

test('beside nothing every record is new, or gone', () => {
  expect(summarize(diffZones(undefined, zone(APEX)))).toBe('0 changed, 3 added, 0 removed')
  expect(summarize(diffZones(zone(APEX), undefined))).toBe('0 changed, 0 added, 3 removed')
})

test.each([
  [true, {}, '\u001b[31m- ns.example.test. 300 IN A 192.0.2.53\u001b[39m\n'],
  [true, { NO_COLOR: '1' }, '- ns.example.test. 300 IN A 192.0.2.53\n'],
  [false, {}, '- ns.example.test. 300 IN A 192.0.2.53\n'],
])('a terminal (%s) with %o sees colours or not', (isTTY, env, expected) => {
  let printed = ''
  const stdout = new Writable({
    write(chunk: Buffer, _encoding, done) {
      printed += chunk.toString()
      done()
    },
  })
  const io: Io = {
    stdin: Readable.from([]),
    stdout: Object.assign(stdout, { isTTY }),
    stderr: stdout,
    env,
    stopSignal: () => new AbortController().signal,
    onHangup() {},
  }
  printDiff(diffZones(zone(APEX), zone(APEX.replace('ns A 192.0.2.53', ''))), io)
  expect(printed).toBe(expected)
})
