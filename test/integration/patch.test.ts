// Single names of a zone change while other threads read it.

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { parseName } from '../../src/dns/name.ts'
import { TYPE } from '../../src/dns/types.ts'
import { Arena } from '../../src/zone/arena.ts'
import { compileZone } from '../../src/zone/compile.ts'
import type { CompiledZone } from '../../src/zone/compile.ts'
import { Directory } from '../../src/zone/directory.ts'
import { ZoneEdits } from '../../src/zone/edits.ts'
import { Control } from '../../src/zone/epoch.ts'
import type { ReaderResult } from '../support/patch-reader.ts'

const ORIGIN = parseName('example.')
const ALIAS = parseName('alias.example.')
const SOA = Uint8Array.of(1, 0x61, 0, 1, 0x62, 0, ...new Uint8Array(20))
const ROUNDS = 40
const CHANGES_PER_ROUND = 500

class ChangingZone {
  readonly arena = new Arena(1 << 20)
  readonly control = Control.create(1)
  readonly directory = new Directory(this.arena, this.control)
  readonly #compiled: CompiledZone

  constructor() {
    const edits = new ZoneEdits(ORIGIN)
    edits.add(ORIGIN, TYPE.SOA, 60, SOA)
    this.#compiled = compileZone(edits.builder, this.arena, { space: 0, slot: 1, fallthrough: false })
    this.#change(0)
    this.directory.publish(this.#compiled)
  }

  /** The alias leads to another name from now on, and the one it led to is gone. */
  step(number: number): void {
    this.#change(number)
    this.directory.reclaim()
  }

  #change(number: number): void {
    const edits = new ZoneEdits(ORIGIN)
    const target = parseName(`t${number}.example.`)
    edits.add(ALIAS, TYPE.CNAME, 60, target)
    edits.add(target, TYPE.A, 60, Uint8Array.of(10, number >> 16, number >> 8, number))
    if (number > 0) edits.name(parseName(`t${number - 1}.example.`))
    this.directory.patch(this.#compiled, edits)
  }
}

// With plain loads only where the processor keeps their order.
const ORDERS = process.arch === 'x64' ? [true, false] : [false]

test.each(ORDERS)('a change of three names is seen whole or not at all (plain loads: %s)', async (inOrder) => {
  const zone = new ChangingZone()
  const reader = new Worker(new URL('../support/patch-reader.ts', import.meta.url), {
    workerData: { arena: zone.arena.buffer, control: zone.control.buffer, inOrder },
  })
  await once(reader, 'message')
  for (let round = 0, number = 1; round < ROUNDS; round++) {
    for (let i = 0; i < CHANGES_PER_ROUND; i++) zone.step(number++)
    await sleep(1)
  }
  zone.control.stop()
  const [result] = (await once(reader, 'message')) as [ReaderResult]
  await reader.terminate()
  expect(result.wrong).toEqual([])
  expect(result.states).toBeGreaterThan(ROUNDS / 2)
  expect(result.answers).toBeGreaterThan(result.states)
})

test('endless changes use no more memory than a few of them', () => {
  const zone = new ChangingZone()
  for (let number = 1; number <= 1000; number++) zone.step(number)
  const { usedBytes } = zone.arena
  for (let number = 1001; number <= 50_000; number++) zone.step(number)
  expect(zone.arena.usedBytes).toBe(usedBytes)
})
