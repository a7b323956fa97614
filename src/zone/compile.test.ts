import { expect, test } from 'vitest'
import { parseName } from '../dns/name.ts'
import { TYPE } from '../dns/types.ts'
import { Arena } from './arena.ts'
import { compileZone } from './compile.ts'
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
