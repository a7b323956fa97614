import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { HEADER } from './layout.ts'
import { Query } from './query.ts'

function inSwitch(): { query: Query; buffer: SharedArrayBuffer } {
  const buffer = new SharedArrayBuffer(HEADER.bytes)
  new Int32Array(buffer)[HEADER.version] = 7
  const query = new Query()
  query.attach(buffer)
  return { query, buffer }
}

test('a switch that takes long, as of a writer that lost its turn, is waited for', async () => {
  const { query, buffer } = inSwitch()
  const writer = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads')
     const words = new Int32Array(workerData)
     parentPort.postMessage('switching')
     setTimeout(() => { Atomics.add(words, ${HEADER.version}, 1); Atomics.notify(words, ${HEADER.version}) }, 20)`,
    { eval: true, workerData: buffer },
  )
  await once(writer, 'message')
  expect(query.begin()).toBe(8)
  await writer.terminate()
})

test('a writer that died in a switch does not keep answers from being given', () => {
  const { query } = inSwitch()
  expect(query.begin()).toBe(7)
  expect(query.isWhole(7)).toBe(true)
})
