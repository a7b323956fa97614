import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { finish } from '../dns/steps.ts'
import { openSnapshotFile, type OpenedSnapshot } from './snapshot-file.ts'
import { sourceMark } from './snapshot-frames.ts'

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e')
// Some values take a frame of their own.
const value = fc.oneof(
  fc.constant(undefined),
  fc.string({ maxLength: 10 }),
  fc.constantFrom('x'.repeat(200_000), 'y'.repeat(300_000)),
)
const batches = fc.array(fc.uniqueArray(fc.tuple(key, value), { selector: ([name]) => name, maxLength: 4 }), {
  maxLength: 6,
})

test('a rewritten file has what the old one had, and what was appended while it was rewritten', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-snapshot-file-'))
  let run = 0
  try {
    await fc.assert(
      fc.asyncProperty(batches, batches, batches, async (before, meanwhile, after) => {
        const path = join(directory, String(run++), 'x.snapshot')
        const { file } = finish(openSnapshotFile(path, { source: sourceMark('test'), damaged: 'use' }))
        let revision = 0n
        const append = (all: typeof before) => {
          for (const batch of all) {
            revision++
            const entries = batch.map(([name, text]) => ({
              key: Buffer.from(name),
              value: text === undefined ? undefined : Buffer.from(text),
              modRevision: revision,
              lease: 0n,
            }))
            file.append({ epoch: 0, revision, clusterId: 1n, savedAt: 0 }, entries)
          }
        }
        append(before)
        const rewritten = file.rewrite()
        append(meanwhile)
        await rewritten
        append(after)
        const expected = new Map<string, string>()
        for (const [name, text] of [...before, ...meanwhile, ...after].flat()) {
          if (text === undefined) expected.delete(name)
          else expected.set(name, text)
        }
        file.close()
        const found = finish(openSnapshotFile(path, { source: sourceMark('test'), damaged: 'use' }))
        found.file.close()
        expect(contentOf(found)).toEqual(expected)
        expect(found.ended).toEqual({ end: statSync(path).size, fault: 'none' })
        expect(found.found.head?.revision ?? 0n).toBe(revision)
        expect(readdirSync(join(path, '..'))).toEqual(['x.snapshot'])
      }),
      { numRuns: 100 },
    )
  } finally {
    rmSync(directory, { recursive: true })
  }
})

function contentOf({ found }: OpenedSnapshot): Map<string, string> {
  return new Map([...found.entries].map(([name, entry]) => [name, Buffer.from(entry.value).toString()]))
}
