import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { until } from '../../../test/support/until.ts'
import { buildIso, extractFromIso } from './iso-image.ts'

const { signal } = new AbortController()
let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'holdfast-iso-'))
})
afterEach(() => rmSync(home, { recursive: true }))

/** More levels than ISO 9660 has by itself, and a name that it does not allow. */
const DEEP = 'a/b/c/d/e/f/g/h/i/j'
const NAME = `${DEEP}/a name in Mixed Case, longer than thirty-one characters.test.ts`

function directory(name: string): string {
  const path = join(home, name)
  mkdirSync(join(path, DEEP), { recursive: true })
  writeFileSync(join(path, NAME), 'deep\n')
  writeFileSync(join(path, 'secret'), 'ä\n', { mode: 0o600 })
  return path
}

async function build(name: string): Promise<string> {
  const file = join(home, `${name}.iso`)
  await buildIso({ file, label: 'cidata', directory: directory(name) }, signal)
  return file
}

test('what was put on an image is read back, with its mode', async () => {
  const image = await build('x')
  await extractFromIso(image, '/secret', join(home, 'secret'), signal)
  await extractFromIso(image, `/${NAME}`, join(home, 'deep'), signal)
  expect(readFileSync(join(home, 'secret'), 'utf8')).toBe('ä\n')
  expect(statSync(join(home, 'secret')).mode & 0o777).toBe(0o600)
  expect(readFileSync(join(home, 'deep'), 'utf8')).toBe('deep\n')
})

test('only its owner can read an image', async () => {
  expect(statSync(await build('x')).mode & 0o777).toBe(0o600)
})

test('the same files give the same bytes, whenever they are written', async () => {
  const digest = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')
  const first = digest(await build('x'))
  // A second is the resolution of its times.
  const second = () => Math.floor(Date.now() / 1000)
  const written = second()
  await until('the next second', () => second() > written)
  expect(digest(await build('y'))).toBe(first)
})

test('a file that is not there and an image that is none are told', async () => {
  const image = await build('x')
  await expect(extractFromIso(image, '/nothing', join(home, 'to'), signal)).rejects.toThrow(
    /"\/nothing".*No such file/u,
  )
  writeFileSync(image, 'no image')
  chmodSync(image, 0o600)
  await expect(extractFromIso(image, '/secret', join(home, 'to'), signal)).rejects.toThrow(/^Cannot read "\/secret"/u)
})
