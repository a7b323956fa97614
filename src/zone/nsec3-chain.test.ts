import { expect, test, vi } from 'vitest'
import { parseName } from '../dns/name.ts'
import { finish } from '../dns/steps.ts'
import { textSource } from '../dns/zonefile/format.ts'
import { parseZoneFile } from '../dns/zonefile/parse.ts'
import { ZoneBuilder } from './build.ts'
import { chooseNsec3Chain } from './nsec3-chain.ts'

const COUNT = 200

function build(salt: (i: number) => number): { zone: ZoneBuilder; owners: number[] } {
  const zone = new ZoneBuilder(parseName('example.'))
  const hex = (i: number) => i.toString(16).padStart(4, '0')
  const hash = (i: number) => `${'0'.repeat(28)}${hex(i)}`
  const numbers = Array.from({ length: COUNT }, (_, i) => i)
  const parameters = numbers.map((i) => `@ 60 NSEC3PARAM 1 0 0 ${hex(salt(i))}\n`).join('')
  const links = numbers.map((i) => `${hash(i)} 60 NSEC3 1 0 0 ffff ${hash(i + 1)} A\n`).join('')
  expect(parseZoneFile(textSource(parameters + links), { file: 'db', origin: zone.origin }, zone)).toEqual([])
  return { zone, owners: numbers.map((i) => i + 1) }
}

test('only the first few NSEC3PARAM are tried', () => {
  const { zone, owners } = build((i) => i)
  const find = vi.spyOn(zone, 'findRecord')
  expect(finish(chooseNsec3Chain(zone, owners))).toBeUndefined()
  expect(find.mock.calls.length).toBeLessThanOrEqual(8 * COUNT)
})

test('the chain of one of them is found', () => {
  const { zone, owners } = build((i) => (i === 5 ? 0xffff : i))
  expect(finish(chooseNsec3Chain(zone, owners))?.entries).toHaveLength(COUNT)
})
