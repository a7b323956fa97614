import { expect, it } from 'vitest'
import { parseName } from '../dns/name.ts'
import { textSource } from '../dns/zonefile/format.ts'
import { parseZoneFile } from '../dns/zonefile/parse.ts'
import { ZoneBuilder } from './build.ts'
import { countRecords } from './count-records.ts'

function zoneOf(lines: readonly string[]): ZoneBuilder {
  const zone = new ZoneBuilder(parseName('example.'))
  const text = `$TTL 60\n${lines.join('\n')}\n`
  expect(parseZoneFile(textSource(text), { file: 'db', origin: zone.origin }, zone)).toEqual([])
  return zone
}

it.each<[string, readonly string[], number]>([
  ['records of different data and type', ['a A 192.0.2.1', 'a A 192.0.2.2', 'a TXT "x"', 'b A 192.0.2.1'], 4],
  ['a record that is there twice', ['a A 192.0.2.1', 'a A 192.0.2.1', 'a 30 A 192.0.2.1'], 1],
  ['names that differ in letter case', ['a NS ns.example.', 'a NS NS.example.'], 1],
  ['texts that differ in letter case', ['a TXT "x"', 'a TXT "X"'], 2],
  ['equal data of two types', ['a NS ns.example.', 'a PTR ns.example.'], 2],
  [
    'many records at one name',
    Array.from({ length: 600 }, (_, i) => `a A 10.0.${(i % 300) >> 8}.${(i % 300) & 255}`),
    300,
  ],
])('counts %s', (_, lines, count) => {
  const zone = zoneOf(lines)
  let printed = 0
  zone.forEachRecord(() => printed++)
  expect(countRecords(zone)).toBe(count)
  expect(printed).toBe(count)
})
