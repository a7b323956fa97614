// Memory of replaced zones is used again: after many versions there is about as much in use as after the first.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { metric, Sandbox, zoneText } from '../support/holdfast-process.ts'
import { untilAnswer } from '../support/lookup.ts'
import { freePort } from '../support/ports.ts'

const RELOADS = 200

test(`a zone of 10,000 records that is replaced ${RELOADS} times does not grow`, async () => {
  const sandbox = new Sandbox()
  try {
    const port = await freePort()
    const metrics = await freePort()
    const hosts = Array.from({ length: 10_000 }, (_, i) => `host-${i} A 10.0.${i >> 8}.${i & 255}`)
    const version = (n: number) => zoneText([`version A 10.1.${n >> 8}.${n & 255}`, ...hosts], n + 1)
    sandbox.write('zones/db.example.test', version(0))
    const server = await sandbox.serve(
      ...['--zones', sandbox.path('zones'), '--listen', `127.0.0.1:${port}`, '--metrics', `127.0.0.1:${metrics}`],
    )
    const residentBytes = () =>
      Number(/^VmRSS:\s+(\d+) kB/mu.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) * 1024
    const usedBytes = async () => (await metric(metrics, 'holdfast_arena_used_bytes')) ?? Number.NaN

    const replace = async (n: number) => {
      sandbox.write('zones/db.example.test', version(n))
      await untilAnswer(port, 'version.example.test.', `10.1.${n >> 8}.${n & 255}`)
    }
    const oneVersion = await usedBytes()
    for (let n = 1; n <= 20; n++) await replace(n)
    const warm = residentBytes()
    for (let n = 21; n <= RELOADS; n++) await replace(n)
    // The version before may wait for a worker that is in the middle of a batch.
    expect(await usedBytes()).toBeLessThan(oneVersion * 2.2)
    // What is left of a version would be about as large as the version, and most of them come after the warm-up.
    expect(residentBytes()).toBeLessThan(warm + (RELOADS * oneVersion) / 2)
  } finally {
    await sandbox.close()
  }
})
