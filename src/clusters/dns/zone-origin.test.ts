import { expect, test } from 'vitest'
import { originReader } from '../../names/sources/zone-directory-origin.ts'
import { everyZoneOf } from '../../server/corefile/zones-config.ts'
import { zoneOrigin } from './zone-origin.ts'

test.each([
  'example.test',
  'db.example.test',
  'example.test.zone',
  'db.example.zone',
  'Example.TEST',
  'db.a.b.',
  'test',
])('a file "%s" is the zone that the name server takes it for', (name) => {
  expect({ origin: `${zoneOrigin(name)}.` }).toEqual(originReader(everyZoneOf('/zones', 0))(name))
})
