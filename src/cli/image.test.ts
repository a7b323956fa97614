import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { holdfast } from '../../test/support/command-line.ts'
import { ImageStore } from '../image/store.ts'
import { openImageStore } from './image-store.ts'
import { formatBytes } from './image-table.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-images-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

async function keep(hash: string, name = 'bookworm-amd64'): Promise<void> {
  const store = new ImageStore(directory)
  writeFileSync(store.pathOf(hash), 'abc')
  const packages = { bash: '5', dash: '1' }
  const created = new Date(Date.now() - 2 * 86_400_000).toISOString()
  const of = { suite: 'bookworm', architecture: 'amd64', program: null }
  await store.save({ name, hash, ...of, packages, sizeBytes: 850_000_000, created })
}

describe('image ls', () => {
  test('shows what is there, for people and for programs', async () => {
    await keep('aaaa000000000001')
    expect((await holdfast(['image', 'ls', '--store', directory])).stdout).toBe(
      `NAME            HASH              SUITE     PACKAGES     SIZE  AGE
bookworm-amd64  aaaa000000000001  bookworm         2  811 MiB  2 d
`,
    )
    const { stdout } = await holdfast(['image', 'ls', '--json', '--store', directory])
    expect(JSON.parse(stdout)).toMatchObject({
      hash: 'aaaa000000000001',
      path: join(directory, 'aaaa000000000001.qcow2'),
      packages: { bash: '5' },
    })
  })
})

describe('image rm', () => {
  test('removes the one that is named, and says so', async () => {
    await keep('aaaa000000000001')
    await keep('bbbb000000000001')
    const { code, stdout } = await holdfast(['image', 'rm', 'aaaa', '--store', directory])
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'bookworm-amd64 aaaa000000000001 removed\n' })
    expect(readdirSync(directory)).toHaveLength(2)
  })

  test('removes all of them only when that is asked for', async () => {
    await keep('aaaa000000000001')
    await keep('bbbb000000000001')
    expect(await holdfast(['image', 'rm', 'bookworm-amd64', '--store', directory])).toMatchObject({ code: 1 })
    expect(await holdfast(['image', 'rm', '--store', directory])).toMatchObject({ code: 2 })
    expect(readdirSync(directory)).toHaveLength(4)
    expect(await holdfast(['image', 'rm', '--all', '--store', directory])).toMatchObject({ code: 0 })
    expect(readdirSync(directory)).toEqual([])
  })
})

describe('image build', () => {
  test.each([
    [['--format', 'iso'], 2, 'Cannot build a "iso": qcow2, tar, directory are the formats'],
    [['--from-list', '/nonexistent/list'], 1, 'Cannot read "/nonexistent/list": no such file or directory'],
    [['--format', 'tar'], 2, 'Cannot build a tar: no place for it is given'],
  ])('refuses %j before anything is made', async (args, code, message) => {
    const result = await holdfast(['image', 'build', '--store', directory, ...args])
    expect(result.stderr).toContain(message)
    expect(result.code).toBe(code)
    expect(readdirSync(directory)).toEqual([])
  })
})

test('images are kept where caches are', () => {
  expect(openImageStore(undefined, {}, true).directory).toBe('/var/cache/holdfast/images')
  expect(openImageStore(undefined, { HOME: '/home/a' }, false).directory).toBe('/home/a/.cache/holdfast/images')
  expect(openImageStore(undefined, { XDG_CACHE_HOME: '/c' }, false).directory).toBe('/c/holdfast/images')
  expect(openImageStore('here', {}, true).directory).toBe('here')
})

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1536, '1.5 KiB'],
  [1_067_778_048, '1018 MiB'],
  [5 * 1024 ** 3, '5.0 GiB'],
])('%i bytes are %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text)
})
