import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Image } from './image.ts'
import { ImageStore } from './store.ts'

let directory: string
let store: ImageStore

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-images-'))
  store = new ImageStore(directory)
})
afterEach(() => rmSync(directory, { recursive: true }))

async function keep(hash: string, created: string, name = 'bookworm-amd64'): Promise<Image> {
  const of = { suite: 'bookworm', architecture: 'amd64', packages: { bash: '5' }, program: null }
  const image = { name, hash, created, sizeBytes: 3, ...of }
  writeFileSync(store.pathOf(hash), 'abc')
  await store.save(image)
  return image
}

test('a store that is not there has no images', () => {
  expect(new ImageStore(join(directory, 'none')).list()).toEqual([])
})

test('images are listed with the newest first, and found by hash', async () => {
  const old = await keep('0000000000000001', '2026-01-01T00:00:00.000Z')
  const young = await keep('0000000000000002', '2026-02-01T00:00:00.000Z')
  expect(store.list()).toEqual([young, old])
  expect(store.find('0000000000000001')).toEqual(old)
  expect(store.find('0000000000000003')).toBeUndefined()
})

test('an image without its disk is none, and neither is a disk without its .json', async () => {
  const { hash } = await keep('0000000000000001', '2026-01-01T00:00:00.000Z')
  rmSync(store.pathOf(hash))
  writeFileSync(store.pathOf('0000000000000002'), 'abc')
  expect(store.list()).toEqual([])
})

test('a name, a hash and the beginning of a hash select an image; all of a name only when that is asked for', async () => {
  await keep('aaaa000000000001', '2026-01-01T00:00:00.000Z')
  await keep('aaaa000000000002', '2026-01-02T00:00:00.000Z')
  await keep('bbbb000000000001', '2026-01-01T00:00:00.000Z', 'bookworm-amd64-plain')
  const hashes = (which: string, all = false) => store.select(which, all).map(({ hash }) => hash)
  expect(hashes('bookworm-amd64-plain')).toEqual(['bbbb000000000001'])
  expect(hashes('bbbb')).toEqual(['bbbb000000000001'])
  expect(hashes('bookworm-amd64', true)).toEqual(['aaaa000000000002', 'aaaa000000000001'])
  expect(() => hashes('bookworm-amd64')).toThrow('expected a hash or --all')
  expect(() => hashes('trixie')).toThrow('none in')
  expect(() => hashes('b')).toThrow('none in')
})

test('removing an image leaves nothing of it, and nothing of others is lost', async () => {
  const gone = await keep('0000000000000001', '2026-01-01T00:00:00.000Z')
  await keep('0000000000000002', '2026-01-01T00:00:00.000Z')
  store.remove(gone)
  expect(readdirSync(directory).toSorted()).toEqual(['0000000000000002.json', '0000000000000002.qcow2'])
})

test('what only makes builds faster is removed by itself', async () => {
  await keep('0000000000000001', '2026-01-01T00:00:00.000Z')
  writeFileSync(store.basePathOf('0000000000000009'), 'tar')
  mkdirSync(join(directory, 'apt/lists'), { recursive: true })
  store.removeBases()
  expect(store.list()).toHaveLength(1)
  expect(readdirSync(directory)).toHaveLength(2)
})

test('a build begins by removing what a killed one has left', () => {
  const left = store.makeBuildDirectory()
  const next = store.makeBuildDirectory()
  expect(existsSync(left)).toBe(false)
  expect(existsSync(next)).toBe(true)
})
