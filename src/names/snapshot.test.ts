import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { until } from '../../test/support/until.ts'
import { type SnapshotBatch, type SnapshotContent, snapshotId, SourceSnapshot } from './snapshot.ts'

let directory: string
let problems: string[]
let opened: SourceSnapshot[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-snapshot-'))
  problems = []
  opened = []
})

afterEach(() => {
  vi.useRealTimers()
  for (const snapshot of opened) snapshot.close()
  rmSync(directory, { recursive: true })
})

function open(in_ = directory): SourceSnapshot {
  const snapshot = SourceSnapshot.open(in_, 'names', (message) => problems.push(message))
  opened.push(snapshot)
  return snapshot
}

/** What a server that starts now would find. */
function found(in_ = directory): Record<string, string> | undefined {
  const snapshot = open(in_)
  const { content } = snapshot
  snapshot.close()
  return content && asRecord(content)
}

/** The same for a source whose names follow a primary. */
function strictly(): Record<string, string> | undefined {
  const snapshot = SourceSnapshot.open(directory, 'names', (message) => problems.push(message), 'discard')
  const { content } = snapshot
  snapshot.close()
  return content && asRecord(content)
}

/** One frame without the mark of its source. */
function asFirstVersion(frame: Buffer): Buffer {
  const payload = Buffer.concat([frame.subarray(16, 16 + 33), frame.subarray(16 + 33 + 8)])
  const header = Buffer.alloc(16)
  header.write('HFS1', 'latin1')
  header.writeUInt32LE(payload.length, 4)
  header.writeUInt32LE(crc32(payload), 8)
  header.writeUInt32LE(crc32(header.subarray(0, 12)), 12)
  return Buffer.concat([header, payload])
}

function asRecord({ entries }: SnapshotContent): Record<string, string> {
  return Object.fromEntries(
    [...entries].map(([name, { key, value }]) => {
      expect(Buffer.from(key).toString('latin1')).toBe(name)
      return [name, Buffer.from(value).toString('latin1')]
    }),
  )
}

/** `value` undefined = deleted. */
function batch(revision: number, changes: Record<string, string | undefined>, clusterId = 1n): SnapshotBatch {
  const entries = Object.entries(changes).map(([key, value]) => ({
    key: Buffer.from(key, 'latin1'),
    value: value === undefined ? undefined : Buffer.from(value, 'latin1'),
    modRevision: BigInt(revision),
    lease: 0n,
  }))
  return { revision: BigInt(revision), clusterId, entries }
}

const file = () => join(directory, 'names.snapshot')

describe('a snapshot', () => {
  test('gives back what was appended, byte for byte', () => {
    const before = Date.now()
    const key = Uint8Array.of(0x2f, 0, 0xff, 0x80)
    const value = Uint8Array.from({ length: 256 }, (_, byte) => byte)
    open().append({
      revision: 2n ** 63n - 1n,
      clusterId: 2n ** 64n - 1n,
      entries: [{ key, value, modRevision: 2n ** 62n, lease: 7587890001n }],
    })
    const { content } = open()
    expect(content?.revision).toBe(2n ** 63n - 1n)
    expect(content?.clusterId).toBe(2n ** 64n - 1n)
    expect(content?.savedAt).toBeGreaterThanOrEqual(before)
    expect([...(content?.entries.values() ?? [])]).toMatchObject([
      { key, value, modRevision: 2n ** 62n, lease: 7587890001n },
    ])
    expect(problems).toEqual([])
  })

  test('is nothing before the first batch, and something after an empty one', () => {
    expect(open().content).toBeUndefined()
    open().append(batch(5, {}))
    expect(open().content?.entries.size).toBe(0)
    expect(open().content?.revision).toBe(5n)
  })

  test('lets its memory go when asked', () => {
    open().append(batch(1, { a: '1' }))
    const snapshot = open()
    expect(snapshot.content).toBeDefined()
    snapshot.release()
    expect(snapshot.content).toBeUndefined()
  })

  test('follows changes and deletions', () => {
    const snapshot = open()
    snapshot.append(batch(1, { a: '1', b: '1', c: '1' }))
    snapshot.append(batch(2, { b: '2', c: undefined }))
    snapshot.append(batch(3, { d: '' }))
    expect(found()).toEqual({ a: '1', b: '2', d: '' })
  })

  test('can be read by its owner only', () => {
    const inside = join(directory, 'state', 'here')
    open(inside).append(batch(1, { a: '1' }))
    expect(statSync(inside).mode & 0o777).toBe(0o700)
    expect(statSync(join(inside, 'names.snapshot')).mode & 0o777).toBe(0o600)
  })

  test('takes the entry of the highest revision, not the last one: two writers of one source do no harm', () => {
    const one = open()
    const other = open()
    const history = [
      batch(1, { a: '1', b: '1' }),
      batch(2, { a: '2' }),
      batch(3, { b: undefined }),
      batch(4, { c: '4' }),
    ]
    one.append(history[0])
    one.append(history[1])
    other.append(history[0])
    one.append(history[2])
    one.append(history[3])
    other.append(history[1])
    expect(found()).toEqual({ a: '2', c: '4' })
    expect(open().content?.revision).toBe(4n)
  })

  test('follows a source whose revisions begin anew, as after a restored backup or with another cluster', () => {
    const snapshot = open()
    snapshot.append(batch(1000, { a: '1000', b: '1000' }))
    snapshot.append(batch(10, { a: '10', b: undefined }))
    expect(found()).toEqual({ a: '10' })
    expect(open().content?.revision).toBe(10n)
    open().append(batch(20, { a: '20' }, 2n))
    open().append(batch(7, { a: '7' }, 3n))
    expect(found()).toEqual({ a: '7' })
    expect(open().content?.clusterId).toBe(3n)
  })

  test('counts a batch of many frames only when all of it is there', () => {
    const value = 'x'.repeat(10_000)
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`key${index}`, value]))
    open().append(batch(1, { before: '1' }))
    open().append(batch(2, many))
    expect(Object.keys(found() ?? {})).toHaveLength(101)
    truncateSync(file(), statSync(file()).size - 1)
    expect(found()).toEqual({ before: '1' })
    open().append(batch(2, many))
    expect(Object.keys(found() ?? {})).toHaveLength(101)
    expect(problems).toEqual([expect.stringContaining('the last change in it is cut at byte')])
  })
})

describe('a file that is not whole', () => {
  test('loses only a cut last batch, wherever it is cut, and takes new ones', () => {
    open().append(batch(1, { a: '1' }))
    const whole = statSync(file()).size
    open().append(batch(2, { a: '2', b: '2' }))
    const bytes = readFileSync(file())
    for (let length = whole; length < bytes.length; length++) {
      writeFileSync(file(), bytes.subarray(0, length))
      const snapshot = open()
      expect(snapshot.content && asRecord(snapshot.content)).toEqual({ a: '1' })
      snapshot.append(batch(3, { c: '3' }))
      snapshot.close()
      expect(found()).toEqual({ a: '1', c: '3' })
      const cut = `Cannot use all of "${file()}": the last change in it is cut at byte ${whole}; what precedes that is used`
      expect(problems.splice(0)).toEqual(length === whole ? [] : [cut])
    }
  })

  test('is kept as .bad and reported once when a batch in the middle is damaged; what precedes it is used', () => {
    open().append(batch(1, { a: '1' }))
    const { size } = statSync(file())
    open().append(batch(2, { b: '2' }))
    open().append(batch(3, { c: '3' }))
    const bytes = readFileSync(file())
    bytes[size + 20] ^= 1
    writeFileSync(file(), bytes)
    expect(found()).toEqual({ a: '1' })
    expect(problems).toEqual([
      `Cannot use all of "${file()}": it is damaged at byte ${size}; what precedes that is used, and the file is kept as .bad`,
    ])
    expect(readFileSync(`${file()}.bad`)).toEqual(bytes)
    expect(found()).toEqual({ a: '1' })
    expect(problems).toHaveLength(1)
    expect(readdirSync(directory).toSorted()).toEqual(['names.snapshot', 'names.snapshot.bad'])
  })

  test('is kept as .bad and reported when its only batch is cut, as nothing is left then', () => {
    open().append(batch(1, { a: '1' }))
    truncateSync(file(), statSync(file()).size - 1)
    expect(found()).toBeUndefined()
    expect(problems).toEqual([
      `Cannot use all of "${file()}": it is damaged at byte 0; nothing before that is complete, and the file is kept as .bad`,
    ])
    expect(readdirSync(directory).toSorted()).toEqual(['names.snapshot', 'names.snapshot.bad'])
  })

  test('is not used at all by who prefers nothing to what is out of date, also not at the next start', () => {
    open().append(batch(1, { a: '1' }))
    const { size } = statSync(file())
    open().append(batch(2, { a: '2' }))
    const bytes = readFileSync(file())
    for (const [damage, said] of [
      [bytes.subarray(0, -1), 'the last change in it is cut'],
      [bytes.with(size + 20, bytes[size + 20] ^ 1), 'the last change in it is cut'],
      [bytes.with(20, bytes[20] ^ 1), 'it is damaged'],
    ] as const) {
      writeFileSync(file(), damage)
      expect(strictly()).toBeUndefined()
      expect(problems.splice(0)).toEqual([
        expect.stringMatching(
          new RegExp(
            `${said} at byte \\d+; nothing of it is used, since it may be out of date, and the file is kept as .bad$`,
            'u',
          ),
        ),
      ])
      expect(readFileSync(`${file()}.bad`)).toEqual(Buffer.from(damage))
      expect(strictly()).toBeUndefined()
    }
    open().append(batch(3, { a: '3' }))
    expect(strictly()).toEqual({ a: '3' })
    expect(problems).toEqual([])
  })

  test('is not used when it is of another source', () => {
    const other = SourceSnapshot.open(directory, 'other', (message) => problems.push(message))
    other.append(batch(1, { a: 'of another' }))
    other.close()
    renameSync(join(directory, 'other.snapshot'), file())
    expect(found()).toBeUndefined()
    expect(problems).toEqual([`Cannot use "${file()}": it is the snapshot of another source; it is kept as .bad`])
    open().append(batch(1, { a: '1' }))
    expect(found()).toEqual({ a: '1' })
  })

  test('is read when it is of the first version of the format, and goes on in the present one', () => {
    open().append(batch(1, { a: '1' }))
    writeFileSync(file(), asFirstVersion(readFileSync(file())))
    open().append(batch(2, { b: '2' }))
    expect(found()).toEqual({ a: '1', b: '2' })
    expect(problems).toEqual([])
  })

  test('is kept as .bad when it is something else', () => {
    writeFileSync(file(), 'the quick brown fox jumps over the lazy dog')
    expect(found()).toBeUndefined()
    expect(problems).toEqual([`Cannot use "${file()}": it is no snapshot; it is kept as .bad`])
    open().append(batch(1, { a: '1' }))
    expect(found()).toEqual({ a: '1' })
  })

  const key = fc.constantFrom('a', 'b', 'c', 'd')
  const change = fc.option(fc.string({ unit: 'binary-ascii', maxLength: 20 }), { nil: undefined })
  const history = fc.array(fc.dictionary(key, change, { maxKeys: 3, noNullPrototype: true }), {
    minLength: 1,
    maxLength: 8,
  })
  const damage = fc.oneof(
    fc.record({ kind: fc.constant('truncate' as const), at: fc.nat() }),
    fc.record({ kind: fc.constant('flip' as const), at: fc.nat(), bit: fc.nat(7) }),
    fc.record({ kind: fc.constant('append' as const), bytes: fc.uint8Array({ minLength: 1, maxLength: 60 }) }),
    fc.record({ kind: fc.constant('overwrite' as const), at: fc.nat(), bytes: fc.uint8Array({ minLength: 1 }) }),
  )

  test('never yields less than everything to who prefers nothing, unless whole changes are missing at its end', () => {
    fc.assert(
      fc.property(history, damage, (batches, one) => {
        rmSync(directory, { recursive: true })
        const ends = batches.map((changes, index) => {
          open().append(batch(index + 1, changes))
          return statSync(file()).size
        })
        const all = found()
        const bytes = readFileSync(file())
        const damaged = applyDamage(bytes, one)
        writeFileSync(file(), damaged)
        fc.pre(!ends.includes(damaged.length) || damaged.length === bytes.length)
        expect([undefined, all]).toContainEqual(strictly())
      }),
    )
  })

  test('never yields what was not written: it is always the state after some batch', () => {
    let run = 0
    fc.assert(
      fc.property(history, fc.array(damage, { minLength: 1, maxLength: 3 }), (batches, damages) => {
        const here = join(directory, `run${run++}`)
        const path = join(here, 'names.snapshot')
        const states: unknown[] = [undefined]
        let state: Record<string, string> = {}
        const writer = open(here)
        for (const [index, changes] of batches.entries()) {
          writer.append(batch(index + 1, changes))
          const present = Object.entries({ ...state, ...changes }).filter((pair) => pair[1] !== undefined)
          state = Object.fromEntries(present) as Record<string, string>
          states.push(state)
        }
        writer.close()
        let bytes: Buffer = readFileSync(path)
        for (const each of damages) bytes = applyDamage(bytes, each)
        writeFileSync(path, bytes)
        const after = found(here)
        expect(states).toContainEqual(after)
        open(here).append(batch(100, { new: 'value' }))
        expect(found(here)).toEqual({ ...after, new: 'value' })
      }),
      { numRuns: 300 },
    )
  })

  type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never

  function applyDamage(bytes: Buffer, each: Damage): Buffer {
    if (each.kind === 'append') return Buffer.concat([bytes, each.bytes])
    const copy = Buffer.from(bytes)
    const at = each.at % (bytes.length + 1)
    if (each.kind === 'truncate') return copy.subarray(0, at)
    if (each.kind === 'flip') copy[at] ^= 1 << each.bit
    else copy.set(each.bytes.subarray(0, copy.length - at), at)
    return copy
  }
})

describe('rewriting', () => {
  const value = (index: number) => `${index}-${'x'.repeat(32_000)}`

  test('takes away what is dead, while batches go on being appended', async () => {
    const snapshot = open()
    snapshot.append(batch(1, { stays: 'here', goes: 'away' }))
    snapshot.append(batch(2, { goes: undefined }))
    const { ino } = statSync(file())
    let revision = 3
    const append = () => {
      for (let index = 0; index < 50; index++)
        snapshot.append(batch(revision, { [`key${index % 7}`]: value(revision++) }))
    }
    while (statSync(file()).size < 17_000_000) append()
    // Rewriting has begun, and may take any time.
    let rounds = 0
    await until('the file is a new one', () => {
      if (rounds++ < 5) append()
      return statSync(file()).ino !== ino
    })
    snapshot.append(batch(revision, { last: '1' }))
    // However much was appended while it was rewritten: some 16 MB of what came before are dead.
    expect(statSync(file()).size).toBeLessThan(revision * value(0).length - 10_000_000)
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    const state = found()
    expect(Object.keys(state ?? {}).toSorted()).toEqual(
      ['key0', 'key1', 'key2', 'key3', 'key4', 'key5', 'key6', 'last', 'stays'].toSorted(),
    )
    // The last write to index 49 was 49 % 7 = 0.
    expect(state?.key0).toBe(value(revision - 1))
    expect(state?.stays).toBe('here')
    expect(open().content?.revision).toBe(BigInt(revision))
    await until('no file is being rewritten', () => readdirSync(directory).length === 1)
    expect(problems).toEqual([])
  })

  test('happens at the start when most of the file is dead', async () => {
    const dead = open()
    for (let revision = 1; revision <= 520; revision++) dead.append(batch(revision, { key: value(revision) }))
    dead.close()
    const bytes = readFileSync(file())
    appendFileSync(file(), bytes)
    const snapshot = open()
    await until('the file is small', () => statSync(file()).size < 50_000)
    expect(asRecord(snapshot.content!)).toEqual({ key: value(520) })
    expect(found()).toEqual({ key: value(520) })
  })

  test('that was interrupted leaves nothing behind at the next start', () => {
    open().append(batch(1, { a: '1' }))
    copyFileSync(file(), `${file()}.0123456789ab.tmp`)
    expect(found()).toEqual({ a: '1' })
    expect(readdirSync(directory)).toEqual(['names.snapshot'])
  })

  test('of a snapshot that is closed meanwhile changes nothing', async () => {
    const snapshot = open()
    for (let revision = 1; revision <= 600; revision++) snapshot.append(batch(revision, { key: value(revision) }))
    snapshot.close()
    snapshot.append(batch(601, { key: 'too late' }))
    await until('no temporary file', () => readdirSync(directory).length === 1)
    expect(found()).toEqual({ key: value(600) })
    expect(problems).toEqual([])
  })
})

describe('a place that cannot be written to', () => {
  test('is reported once; all is written when it can be', () => {
    vi.useFakeTimers()
    const state = join(directory, 'state')
    writeFileSync(state, 'a file where the directory should be')
    const snapshot = open(state)
    expect(snapshot.content).toBeUndefined()
    snapshot.append(batch(1, { a: '1', b: '1' }))
    vi.advanceTimersByTime(200_000)
    snapshot.append(batch(2, { a: '2', b: undefined }))
    vi.advanceTimersByTime(200_000)
    expect(problems).toEqual([
      `Cannot write "${join(state, 'names.snapshot')}": file already exists; changes are kept in memory and it is tried again every minute`,
    ])
    rmSync(state)
    vi.advanceTimersByTime(60_000)
    expect(found(state)).toEqual({ a: '2' })
    snapshot.append(batch(3, { c: '3' }))
    expect(found(state)).toEqual({ a: '2', c: '3' })
    expect(problems).toHaveLength(1)
  })

  test('is read all the same, and followed when it can be written', () => {
    open().append(batch(1, { a: '1', gone: '1' }))
    // It cannot be tidied up, so nothing is opened for writing.
    const inTheWay = join(directory, 'names.snapshot.0.tmp')
    mkdirSync(inTheWay)
    const snapshot = open()
    expect(snapshot.content && asRecord(snapshot.content)).toEqual({ a: '1', gone: '1' })
    expect(problems).toHaveLength(1)
    snapshot.append(batch(2, { b: '2', gone: undefined }))
    rmSync(inTheWay, { recursive: true })
    snapshot.close()
    expect(found()).toEqual({ a: '1', b: '2' })
  })

  test('may be no file at all', () => {
    execFileSync('mkfifo', [file()])
    expect(found()).toBeUndefined()
    expect(problems).toEqual([expect.stringContaining('it is not a regular file')])
  })

  test('at the start does not bring back later what was deleted meanwhile', () => {
    const state = join(directory, 'state')
    mkdirSync(join(state, 'names.snapshot'), { recursive: true })
    const snapshot = open(state)
    rmSync(join(state, 'names.snapshot'), { recursive: true })
    const before = SourceSnapshot.open(state, 'names', () => undefined)
    before.append(batch(1, { gone: '1', here: '1' }))
    before.close()
    snapshot.append(batch(2, { here: '1' }))
    snapshot.close()
    expect(found(state)).toEqual({ here: '1' })
  })

  test('for lack of room leaves what was written, and gets the rest when there is room', async () => {
    const program = `
      import { SourceSnapshot } from ${JSON.stringify(fileURLToPath(new URL('snapshot.ts', import.meta.url)))}
      const snapshot = SourceSnapshot.open(${JSON.stringify(directory)}, 'names', (message) => console.log(message))
      const value = Buffer.alloc(3000, 'v')
      for (let revision = 1n; revision <= 10n; revision++) {
        const entry = { key: Buffer.from('key' + revision), value, modRevision: revision, lease: 0n }
        snapshot.append({ revision, clusterId: 1n, entries: [entry] })
      }
      console.log('full')
      process.stdin.once('data', () => { snapshot.close(); process.exit() })`
    const child = spawn(
      'bash',
      ['-c', 'ulimit -S -f 10; exec "$0" --input-type=module -e "$1"', process.execPath, program],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    )
    try {
      let output = ''
      child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
      await until('the child has written', () => output.endsWith('full\n'))
      expect(output).toBe(
        `Cannot write "${file()}": no room for all of it; changes are kept in memory and it is tried again every minute\nfull\n`,
      )
      expect(Object.keys(found() ?? {})).toEqual(['key1', 'key2', 'key3'])
      const prlimit = spawn('prlimit', ['--pid', String(child.pid), '--fsize=unlimited'])
      await once(prlimit, 'exit')
      child.stdin.write('\n')
      await once(child, 'exit')
      expect(Object.keys(found() ?? {})).toHaveLength(10)
      expect(problems).toEqual([])
    } finally {
      child.kill('SIGKILL')
    }
  })
})

describe('a file that others touch', () => {
  test('is put back when it was removed, and its directory too', () => {
    const state = join(directory, 'state')
    const snapshot = open(state)
    snapshot.append(batch(1, { a: '1' }))
    rmSync(state, { recursive: true })
    snapshot.append(batch(2, { b: '2' }))
    expect(found(state)).toEqual({ a: '1', b: '2' })
    expect(problems).toEqual([])
  })

  test('is followed when another process has rewritten it', () => {
    const snapshot = open()
    snapshot.append(batch(1, { a: '1' }))
    // As rewriting does: another file takes the place.
    copyFileSync(file(), `${file()}.new`)
    renameSync(`${file()}.new`, file())
    snapshot.append(batch(2, { b: '2' }))
    snapshot.append(batch(3, { c: '3' }))
    expect(found()).toEqual({ a: '1', b: '2', c: '3' })
    expect(problems).toEqual([])
  })
})

test('a process that is killed loses nothing it had appended', async () => {
  const program = `
    import { writeSync } from 'node:fs'
    import { SourceSnapshot } from ${JSON.stringify(fileURLToPath(new URL('snapshot.ts', import.meta.url)))}
    const snapshot = SourceSnapshot.open(${JSON.stringify(directory)}, 'names', () => undefined)
    for (let revision = (snapshot.content?.revision ?? 0n) + 1n; ; revision++) {
      const entries = [0, 1, 2].map((part) => ({
        key: Buffer.from('key' + ((revision + BigInt(part)) % 50n)),
        value: Buffer.from(revision + ' '.repeat(Number(revision % 3000n))),
        modRevision: revision,
        lease: 0n,
      }))
      snapshot.append({ revision, clusterId: 1n, entries })
      writeSync(1, revision + '\\n')
      if (revision % 20n === 0n) await new Promise(setImmediate)
    }`
  let told = 0n
  for (let round = 0; round < 5; round++) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const enough = 200 + 200 * round
    await until('enough is written', () => output.split('\n').length > enough)
    child.kill('SIGKILL')
    await once(child, 'close')
    told = BigInt(output.slice(0, output.lastIndexOf('\n')).split('\n').at(-1) ?? '')
    const { content } = open()
    const revision = content?.revision ?? 0n
    expect(revision === told || revision === told + 1n).toBe(true)
    expect(content?.entries.size).toBe(50)
    for (let key = 0n; key < 50n; key++) {
      // The last revision r up to `revision` with (r + 0, 1 or 2) % 50 = key.
      let last = revision
      while (![0n, 1n, 2n].some((part) => (last + part) % 50n === key)) last--
      const value = Buffer.from(content?.entries.get(`key${key}`)?.value ?? []).toString()
      expect(value).toBe(`${last}${' '.repeat(Number(last % 3000n))}`)
    }
  }
  expect(told).toBeGreaterThan(1000n)
  // The kill may cut the write of a change that was not acknowledged yet; nothing else may be missing.
  expect(problems.filter((problem) => !problem.includes('the last change in it is cut'))).toEqual([])
})

test('the id of a snapshot is readable, and distinct by all its parts', () => {
  const id = snapshotId(['skydns', 'https://a:2379,https://b:2379', '/skydns/'])
  expect(id).toMatch(/^skydns-skydns-[0-9a-f]{12}$/u)
  expect(snapshotId(['skydns', 'https://a:2379,https://b:2379', '/skydns/'])).toBe(id)
  expect(snapshotId(['skydns', 'https://a:2379', '/skydns/'])).not.toBe(id)
  expect(snapshotId(['zones', '/../../x y/'])).toMatch(/^zones-x-y-[0-9a-f]{12}$/u)
})
