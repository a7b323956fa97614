import { MessageChannel } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { Control } from '../zone/epoch.ts'
import { Query } from '../zone/query.ts'
import { ArenaReader } from './arena-reader.ts'

test('the newest arena is taken without a query, and the ones before are let go', () => {
  const control = Control.create(1)
  const { port1, port2 } = new MessageChannel()
  const query = new Query()
  const grow = (generation: number, bytes: number) => {
    port2.postMessage({ generation, arena: new SharedArrayBuffer(bytes) })
    control.nextGeneration()
  }
  grow(1, 4)
  const reader = new ArenaReader(control, 0, port1, query)
  expect(query.bytes.length).toBe(4)
  grow(2, 8)
  grow(3, 16)
  reader.refresh()
  expect(query.bytes.length).toBe(16)
  expect(reader.current.generation).toBe(3)
  expect(control.advance()).toBe(control.oldestInUse())
  port2.close()
})
