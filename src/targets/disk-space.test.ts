import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { diskProblem, fullestDisk } from './disk-space.ts'

const MIB = 2 ** 20

test.each([
  [0, 512, 'the disk at /data is full: 0 of 512 MiB free'],
  [15, 100_000, 'the disk at /data is full: 15 of 100000 MiB free'],
  [20, 512, 'the disk at /data is nearly full: 20 of 512 MiB free'],
  [30, 512, undefined],
  [4000, 100_000, 'the disk at /data is nearly full: 4000 of 100000 MiB free'],
  [6000, 100_000, undefined],
  [20_000, 1_000_000, undefined],
])('%i of %i MiB free: %s', (free, total, problem) => {
  expect(diskProblem({ path: '/data', freeBytes: free * MIB, totalBytes: total * MIB })).toBe(problem)
})

test('the file system of a directory is read, and named by its topmost directory', () => {
  const disk = fullestDisk(['/no/such/directory', tmpdir()])
  expect(tmpdir().startsWith(disk?.path ?? 'none')).toBe(true)
  expect(disk?.totalBytes).toBeGreaterThan(0)
  expect(fullestDisk(['/no/such/directory'])).toBeUndefined()
  expect(diskProblem(undefined)).toBeUndefined()
})
