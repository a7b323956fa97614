import { expect, test, vi } from 'vitest'
import { parseName } from '../dns/name.ts'
import { STEP_SIZE } from '../dns/steps.ts'
import { TYPE } from '../dns/types.ts'
import { Arena } from './arena.ts'
import { compileZone, compileZoneSteps } from './compile.ts'
import { ZoneEdits } from './edits.ts'
import { NodeTable } from './node-table.ts'

test('a name that lost its records has no node, nor has what was only there for it', () => {
  const origin = parseName('example.')
  const edits = new ZoneEdits(origin)
  edits.add(origin, TYPE.SOA, 60, Uint8Array.of(0, 0, ...new Uint8Array(20)))
  edits.name(parseName('gone.below.example.'))
  edits.add(parseName('here.example.'), TYPE.A, 60, Uint8Array.of(192, 0, 2, 1))
  const arena = new Arena(4096)
  const { zone } = compileZone(edits.builder, arena, { space: 0, slot: 1, fallthrough: false })
  expect([...new NodeTable(arena, zone).nodes()]).toHaveLength(2)
})

test('one name with many records of many types is put together in steps, once over its records', () => {
  const origin = parseName('example.')
  const edits = new ZoneEdits(origin)
  edits.add(origin, TYPE.SOA, 60, Uint8Array.of(0, 0, ...new Uint8Array(20)))
  const records = 10_000
  for (let i = 0; i < records; i++)
    edits.add(parseName('many.example.'), 65_280 + (i % 200), 60, Uint8Array.of(i >> 8, i))
  const looks = vi.spyOn(edits.builder, 'setKey')
  const steps = compileZoneSteps(edits.builder, new Arena(4096), { space: 0, slot: 1, fallthrough: false })
  let most = 0
  for (let done: boolean | undefined = false; done !== true; ) {
    const before = looks.mock.calls.length
    done = steps.next().done
    most = Math.max(most, looks.mock.calls.length - before)
  }
  expect(most).toBeLessThanOrEqual(STEP_SIZE + 1)
  expect(looks.mock.calls.length).toBeLessThan(2 * records)
})
