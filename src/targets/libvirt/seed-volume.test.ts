import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { hypervisorOf } from '../../../test/support/hypervisor-data.ts'
import { readSeed, removeSeed, type SeedPlace, writeSeed } from './seed-volume.ts'

const FILES = new Map([
  ['user-data', 'u'],
  ['holdfast.json', '{}'],
])
let path: string
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'holdfast-seed-'))
})
afterEach(() => rmSync(path, { recursive: true, force: true }))

function place(): SeedPlace {
  const disk = { path, format: 'dir', isOurs: true }
  return { hypervisor: hypervisorOf({ kind: 'lxc' }), disk, temporary: path, signal: new AbortController().signal }
}
const write = () => writeSeed(place(), FILES, () => Promise.resolve())

test('a directory with files of others is neither written nor removed', async () => {
  writeFileSync(join(path, 'precious'), '')
  await expect(write()).rejects.toMatchObject({ code: 'VolumeForeign' })
  await removeSeed(place())
  expect(readdirSync(path)).toEqual(['precious'])
})

test('a directory of ours is written again, read back and removed, but for what somebody put into it', async () => {
  writeFileSync(join(path, '.holdfast.json.0123456789ab.tmp'), '')
  await write()
  writeFileSync(join(path, 'other'), '')
  const digest = await write()
  expect(await readSeed(place())).toEqual({ digest, files: FILES })
  await removeSeed(place())
  expect(await readSeed(place())).toBeUndefined()
  expect(readdirSync(path)).toEqual(['other'])
})
