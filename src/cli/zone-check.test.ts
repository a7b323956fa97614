import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Io } from './command.ts'
import { zoneCheckCommand } from './zone-check.ts'

const APEX = '$TTL 1h\n@ SOA ns hostmaster 7 2h 30m 2w 5m\n@ NS ns\nns A 192.0.2.1\n'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-zone-check-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

function write(name: string, text: string): string {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}

async function check(...argv: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const streams = { stdout: '', stderr: '' }
  const collect = (name: 'stdout' | 'stderr') =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        streams[name] += chunk.toString()
        done()
      },
    })
  const io: Io = {
    stdin: Readable.from([]),
    stdout: collect('stdout'),
    stderr: collect('stderr'),
    env: {},
    stopSignal: () => new AbortController().signal,
    onHangup() {},
  }
  const code = await zoneCheckCommand.run(argv, io)
  return { code, ...streams }
}

test('a good zone is one line and exit code 0', async () => {
  const path = write('db.example.test', APEX)
  const expected = `${path}: zone example.test., serial 7, 3 records\n`
  expect(await check(path)).toEqual({ code: 0, stdout: expected, stderr: '' })
})

test('a record that is there twice counts once', async () => {
  const path = write('db.example.test', `${APEX}${APEX.replaceAll(' ns', ' NS')}`)
  expect((await check(path)).stdout).toBe(`${path}: zone example.test., serial 7, 3 records\n`)
})

test('an error names file, line, column and token, and the exit code is 3', async () => {
  const path = write('db.example.test', `${APEX}www A 192.0.2.256\n`)
  const { code, stdout, stderr } = await check(path)
  expect(code).toBe(3)
  expect(stdout).toBe('')
  expect(stderr).toContain(`${path}:5:7: "192.0.2.256": expected `)
  expect(stderr).toContain(
    'rejected as zone example.test.; the origin was inferred from the file name, override it with --origin',
  )
})

test('what holds between records is checked too', async () => {
  const path = write('db.example.test', `${APEX}www CNAME ns\nwww A 192.0.2.2\n`)
  const { code, stderr } = await check(path, '--origin', 'example.test')
  expect(code).toBe(3)
  expect(stderr).toContain(`${path}:6: CNAME and A at www.example.test.`)
  expect(stderr).toContain('rejected as zone example.test.\n')
})

test('a zone without SOA has no line to point at', async () => {
  const path = write('db.example.test', '$TTL 1h\n@ NS ns\nns A 192.0.2.1\n')
  expect((await check(path)).stderr).toContain(`${path}: no SOA record at example.test.`)
})

test('warnings are printed and change nothing', async () => {
  const path = write('db.example.test', `${APEX}sub NS ns.sub\n`)
  const { code, stderr } = await check(path)
  expect(code).toBe(0)
  expect(stderr).toContain(`${path}:5: warning: NS of sub.example.test.`)
})

test('a file that cannot be read does not keep the others from being checked', async () => {
  const good = write('db.example.test', APEX)
  const absent = join(directory, 'db.absent.test')
  const { code, stdout, stderr } = await check(absent, directory, good)
  expect(code).toBe(3)
  expect(stderr).toContain(`Cannot read "${absent}": no such file or directory`)
  expect(stderr).toContain(`Cannot read "${directory}": not a regular file`)
  expect(stdout).toBe(`${good}: zone example.test., serial 7, 3 records\n`)
})

test('--json gives one object a line, with positions', async () => {
  const good = write('db.example.test', APEX)
  const bad = write('db.example.org', `${APEX}www A nowhere\n`)
  const { code, stdout, stderr } = await check('--json', good, bad, join(directory, 'absent'))
  const [first, second, third] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object)
  expect(code).toBe(3)
  expect(stderr).toBe('')
  expect(first).toEqual({
    ok: true,
    file: good,
    origin: 'example.test.',
    serial: 7,
    records: 3,
    errors: [],
    warnings: [],
  })
  expect(second).toMatchObject({
    ok: false,
    origin: 'example.org.',
    errors: [{ file: bad, line: 5, column: 7, token: 'nowhere', message: expect.stringContaining('expected') }],
  })
  expect(third).toMatchObject({ ok: false, origin: null, serial: null, records: 0 })
})

test('--print gives every record in canonical order, with absolute names and TTLs', async () => {
  const path = write('db.example.test', `${APEX}b A 192.0.2.2\na 5 TXT "x"\n`)
  const { stdout } = await check('--print', path)
  expect(stdout).toBe(
    [
      'example.test. 3600 IN SOA ns.example.test. hostmaster.example.test. 7 7200 1800 1209600 300',
      'example.test. 3600 IN NS ns.example.test.',
      'a.example.test. 5 IN TXT "x"',
      'b.example.test. 3600 IN A 192.0.2.2',
      'ns.example.test. 3600 IN A 192.0.2.1',
      '',
    ].join('\n'),
  )
})

test('$INCLUDE is found beside the file it stands in', async () => {
  const path = write('db.example.test', `${APEX}$INCLUDE hosts\n`)
  write('hosts', 'www A 192.0.2.80\n')
  expect((await check(path)).stdout).toContain('4 records')
  rmSync(join(directory, 'hosts'))
  expect((await check(path)).stderr).toContain(`${path}:5:10: "hosts": expected`)
})

test.each([
  ['db.example.test', APEX, 'example.test.'],
  ['example.test.zone', APEX, 'example.test.'],
  ['example.test', APEX, 'example.test.'],
  ['zones.txt', `$ORIGIN example.test.\n${APEX}`, 'example.test.'],
  ['root.txt', `$ORIGIN .\n${APEX}`, '.'],
  ['root.txt', APEX.replaceAll('@', '.').replace('ns A', 'ns. A').replaceAll(' ns', ' ns.'), '.'],
  [
    'zones.txt',
    APEX.replaceAll('@', 'example.test.').replace('ns A', 'ns.example.test. A').replaceAll(' ns', ' ns.example.test.'),
    'example.test.',
  ],
])('without --origin %s is understood', async (name, text, origin) => {
  expect((await check(write(name, text))).stdout).toContain(`zone ${origin}, serial 7, 3 records`)
})

test('an origin that is no name is wrong usage', async () => {
  await expect(check('--origin', 'a..b', write('zone', APEX))).rejects.toMatchObject({ code: 'Usage' })
})
