import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Build } from './build-step.ts'
import { checkPlace, deliverDisk, deliverRoot, findDelivered } from './deliver.ts'
import { ImageStore } from './store.ts'

const HASH = 'aaaa000000000001'
const ABOUT = {
  ...{ name: 'bookworm-amd64', hash: HASH, program: null, created: '2026-01-01T00:00:00.000Z' },
  ...{ suite: 'bookworm', architecture: 'amd64', packages: { bash: '5' } },
}

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-deliver-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

describe('a disk', () => {
  const output = () => join(directory, 'base.qcow2')

  async function deliver(): Promise<void> {
    const store = new ImageStore(join(directory, 'store'))
    mkdirSync(store.directory, { recursive: true })
    writeFileSync(store.pathOf(HASH), 'disk')
    await deliverDisk(store, { ...ABOUT, sizeBytes: 4 }, output())
  }

  test('is put in place with its list, and nothing else is left there', async () => {
    await deliver()
    expect(readFileSync(output(), 'utf8')).toBe('disk')
    expect(JSON.parse(readFileSync(`${output()}.json`, 'utf8'))).toMatchObject({ hash: HASH, sizeBytes: 4 })
    expect(readdirSync(directory).toSorted()).toEqual(['base.qcow2', 'base.qcow2.json', 'store'])
  })

  test('that is there already is found', async () => {
    const place = { format: 'qcow2', output: output() } as const
    expect(findDelivered(place, HASH)).toBeUndefined()
    await deliver()
    expect(findDelivered(place, HASH)).toMatchObject({ path: output(), image: { hash: HASH } })
  })

  test('of another hash, or of nobody knows whom, is never replaced', async () => {
    const place = { format: 'qcow2', output: output() } as const
    const refusal = expect.objectContaining({
      code: 'ImageExists',
      message: `Cannot write "${output()}": another image is there, and it may be the base of disks; expected another name`,
      hint: `for instance --output ${directory}/base-bbbb000000000002.qcow2`,
    })
    await deliver()
    expect(() => findDelivered(place, 'bbbb000000000002')).toThrow(refusal)
    rmSync(`${output()}.json`)
    expect(() => findDelivered(place, HASH)).toThrow(expect.objectContaining({ code: 'ImageExists' }))
  })
})

describe('a root directory', () => {
  test('is whole, whatever a killed build has left beside it', async () => {
    const [root, output] = [join(directory, 'made'), join(directory, 'root')]
    const left = join(directory, `.root.${HASH}.tmp`)
    for (const path of [root, left]) mkdirSync(path)
    writeFileSync(join(left, 'half'), '')
    writeFileSync(join(root, 'file'), 'text')
    const { image } = await deliverRoot(buildIn(directory), root, ABOUT, { format: 'directory', output })
    expect(readdirSync(output)).toEqual(['file'])
    expect(image.sizeBytes).toBe(4)
    expect(existsSync(left)).toBe(false)
    expect(() => checkPlace({ format: 'directory', output })).toThrow('expected a new directory')
  })

  test('that cannot be written is told', async () => {
    const root = join(directory, 'made')
    mkdirSync(root)
    const place = { format: 'directory', output: join(directory, 'none/root') } as const
    await expect(deliverRoot(buildIn(directory), root, ABOUT, place)).rejects.toMatchObject({
      code: 'FileUnwritable',
      message: `Cannot write "${directory}/none/root": no such file or directory`,
    })
  })
})

function buildIn(parent: string): Build {
  const { signal } = new AbortController()
  return { directory: parent, log: join(parent, 'build.log'), env: {}, signal, onProgress: () => undefined }
}
