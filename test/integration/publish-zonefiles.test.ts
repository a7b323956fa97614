// `holdfast publish zonefiles`, as a process, against a real etcd.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { holdfast } from '../support/command-line.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { type HoldfastProcess, Sandbox, zoneText } from '../support/holdfast-process.ts'
import { until } from '../support/until.ts'

const PREFIX = '/coredns/'

let etcd: EtcdCluster
let sandbox: Sandbox
beforeAll(async () => {
  etcd = await EtcdCluster.start({ members: 1 })
})
afterAll(() => etcd.stop())
beforeEach(() => {
  sandbox = new Sandbox()
})
afterEach(async () => {
  await sandbox.close()
  await etcd.etcdctl('del', '', '--prefix')
})

function publish(...args: readonly string[]): HoldfastProcess {
  return sandbox.spawn(['publish', 'zonefiles', ...args], 'pipe', {
    ETCD_ENDPOINTS: etcd.endpoints.join(','),
    ETCD_KEY_PREFIX: PREFIX,
    ZONEFILE_PATH: 'zones',
    CONNECTION_TIMEOUT: '2',
    REQUEST_TIMEOUT: '5',
    REQUEST_RETRIES: '3',
  })
}

function put(name: string, text: string): Promise<string> {
  return etcd.etcdctl('put', '--', `${PREFIX}${name}`, text)
}

function read(name: string): string | undefined {
  const path = sandbox.path(`zones/${name}`)
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

function files(): string[] {
  return readdirSync(sandbox.path('zones')).toSorted()
}

function holds(name: string, text: string | undefined): Promise<true> {
  return until(`zones/${name} as wanted`, () => read(name) === text)
}

test('files follow what is in etcd', async () => {
  await put('a.test', zoneText([]))
  const publisher = publish()
  await holds('a.test', zoneText([]))
  await put('b.test', zoneText(['www A 192.0.2.1']))
  await holds('b.test', zoneText(['www A 192.0.2.1']))
  await put('b.test', zoneText(['www A 192.0.2.2']))
  await holds('b.test', zoneText(['www A 192.0.2.2']))
  await etcd.etcdctl('del', `${PREFIX}a.test`)
  await holds('a.test', undefined)
  expect(files()).toEqual(['b.test'])
  expect(statSync(sandbox.path('zones/b.test')).mode & 0o777).toBe(0o644)
  publisher.kill('SIGTERM')
  expect(await publisher.ended()).toBe(0)
  expect(publisher.output).toContain('Stopping on SIGTERM')
})

test('a start leaves files alone that are right, and removes those of zones that are not in etcd', async () => {
  await put('a.test', zoneText([]))
  const path = sandbox.write('zones/a.test', zoneText([]))
  sandbox.write('zones/gone.test', zoneText([]))
  sandbox.write('zones/.hidden', 'x')
  sandbox.write('zones/folder/a.test', 'x')
  const before = statSync(path)
  const once = publish('--once')
  expect(await once.ended()).toBe(0)
  const after = statSync(path)
  expect([after.mtimeMs, after.ino]).toEqual([before.mtimeMs, before.ino])
  expect(files()).toEqual(['.hidden', 'a.test', 'folder'])
  expect(once.output).toContain('File gone.test removed: etcd has no such key')
})

test('a start leaves files alone that are no zones: the directory may be the wrong one', async () => {
  await put('a.test', zoneText([]))
  sandbox.write('zones/hostname', 'x')
  sandbox.write('zones/package.json', '{}')
  const once = publish('--once')
  expect(await once.ended()).toBe(0)
  expect(files()).toEqual(['a.test', 'hostname', 'package.json'])
  expect(once.output).toContain('[WARNING] File hostname stays, although etcd has no such key: it is not a good zone')
})

test('when etcd has no key at all, files stay', async () => {
  sandbox.write('zones/a.test', zoneText([]))
  const once = publish('--once')
  expect(await once.ended()).toBe(0)
  expect(files()).toEqual(['a.test'])
  expect(once.output).toContain(`Cannot find any key under "${PREFIX}" in etcd; the files in "zones" stay as they are`)
})

test('a value that is not a good zone leaves the last good file, with the place of the error', async () => {
  await put('a.test', zoneText([]))
  const publisher = publish()
  await holds('a.test', zoneText([]))
  await put('a.test', zoneText(['www A nowhere']))
  await publisher.logged(/\[ERROR\] \/coredns\/a\.test:5:7: "nowhere": expected/u)
  await publisher.logged(
    /\[ERROR\] Cannot publish "\/coredns\/a\.test": it is not a good zone; the file stays as it is/u,
  )
  await put('b.test', zoneText([]))
  await holds('b.test', zoneText([]))
  expect(read('a.test')).toBe(zoneText([]))
  await put('a.test', zoneText(['www A 192.0.2.3']))
  await holds('a.test', zoneText(['www A 192.0.2.3']))
})

test('keys that are no file name are passed over with one line each, and harm nothing', async () => {
  const outside = sandbox.write('outside', 'untouched')
  for (const name of [
    '',
    '..',
    '../outside',
    'a/b.test',
    '.',
    '.hidden',
    'x'.repeat(300),
    '@',
    'two words.test',
    '\ufffd',
  ])
    await put(name, zoneText([]))
  await put('a.test', zoneText([]))
  const once = publish('--once')
  expect(await once.ended()).toBe(0)
  expect(files()).toEqual(['a.test'])
  expect(readFileSync(outside, 'utf8')).toBe('untouched')
  expect(once.output.match(/\[ERROR\] Cannot publish "\/coredns\/.*": .*; it is passed over$/gmu)).toHaveLength(10)
})

test('an outage of etcd changes nothing, and what was changed meanwhile follows', async () => {
  await put('a.test', zoneText([]))
  await put('b.test', zoneText([]))
  const publisher = publish()
  await holds('b.test', zoneText([]))
  await etcd.kill(0)
  await publisher.logged(/\[ERROR\] Cannot .*refuses connections.*files stay as they are/u)
  publisher.kill('SIGKILL')
  await publisher.ended()
  const restarted = publish()
  await restarted.logged(/\[ERROR\] Cannot .*refuses connections.*files stay as they are/u)
  expect(files()).toEqual(['a.test', 'b.test'])
  await etcd.restart(0)
  await etcd.healthy()
  await etcd.etcdctl('del', `${PREFIX}a.test`)
  await put('b.test', zoneText(['www A 192.0.2.1']))
  await holds('b.test', zoneText(['www A 192.0.2.1']))
  await holds('a.test', undefined)
})

test('killed in the middle of writing, it leaves whole files only, and the next start clears up', async () => {
  const text = (name: string, serial: number) => `${zoneText([], serial)}; ${name}${' '.repeat(400_000)}\n; end\n`
  const names = ['a.test', 'b.test', 'c.test', 'd.test', 'e.test', 'f.test']
  const temporary = () => (existsSync(sandbox.path('zones')) ? files().filter((name) => name.startsWith('.')) : [])
  const whole = (newest: number) => {
    const serials = Array.from({ length: newest }, (_, i) => i + 1)
    for (const name of files().filter((each) => !each.startsWith('.')))
      expect(serials.map((serial) => text(name, serial)).indexOf(read(name) ?? ''), name).toBeGreaterThanOrEqual(0)
  }
  let found = 0
  let serial = 0
  // Now and then it is done before it can be killed.
  while (serial < 4 || (found === 0 && serial < 20)) {
    serial++
    await putFiles(names.map((name) => sandbox.write(`in/${name}`, text(name, serial))))
    const publisher = publish()
    await until('a file being written', () => temporary().length > 0 || read('f.test') === text('f.test', serial))
    publisher.kill('SIGKILL')
    await publisher.ended()
    found += temporary().length
    whole(serial)
  }
  expect(found).toBeGreaterThan(0)
  const last = publish('--once')
  expect(await last.ended()).toBe(0)
  expect(files()).toEqual(names)
  for (const name of names) expect(read(name) === text(name, serial), name).toBe(true)
})

/** Larger values than a command line has room for. */
async function putFiles(paths: readonly string[]): Promise<void> {
  const { code, stderr } = await holdfast(['zone', 'put', ...paths, '--endpoints', etcd.endpoints.join(',')])
  expect(code, stderr).toBe(0)
}

test('two of them on one directory agree in the end', async () => {
  const [first, second] = [publish(), publish()]
  await Promise.all([first.logged(/Following/u), second.logged(/Following/u)])
  const wanted = new Map<string, string>()
  for (let i = 0; i < 60; i++) {
    wanted.set(`z${i % 7}.test`, zoneText([], i + 1))
    await put(`z${i % 7}.test`, zoneText([], i + 1))
  }
  await etcd.etcdctl('del', `${PREFIX}z0.test`)
  wanted.delete('z0.test')
  const agrees = () =>
    files().join() === [...wanted.keys()].toSorted().join() && [...wanted].every(([name, text]) => read(name) === text)
  await until('the files as in etcd', agrees)
  for (const publisher of [first, second]) publisher.kill('SIGTERM')
  for (const publisher of [first, second]) expect(await publisher.ended()).toBe(0)
  expect(agrees()).toBe(true)
  expect(first.output + second.output).not.toContain('[ERROR]')
})

test('a file that cannot be written is tried again until it can, and holds up no other', async () => {
  mkdirSync(sandbox.path('zones/a.test/in-the-way'), { recursive: true })
  await put('a.test', zoneText([]))
  await put('b.test', zoneText([]))
  const publisher = publish()
  await holds('b.test', zoneText([]))
  await publisher.logged(/\[ERROR\] Cannot write "a\.test" into "zones": .*; it is tried again/u)
  rmSync(sandbox.path('zones/a.test'), { recursive: true })
  await holds('a.test', zoneText([]))
  expect(publisher.output.match(/it is tried again/gu)).toHaveLength(1)
})

describe('what it cannot do without is asked for', () => {
  test.each([
    [{ ZONEFILE_PATH: '' }, '--directory or ZONEFILE_PATH is missing'],
    [{ CONNECTION_TIMEOUT: '5s' }, 'Cannot read "5s" as CONNECTION_TIMEOUT: expected a whole number'],
    [{ REQUEST_RETRIES: 'many' }, 'Cannot read "many" as REQUEST_RETRIES: expected a whole number'],
  ])('%o', async (env, message) => {
    const options = { env: { ZONEFILE_PATH: 'zones', ETCD_KEY_PREFIX: PREFIX, ...env } }
    const { code, stderr } = await holdfast(['publish', 'zonefiles'], options)
    expect(code).toBe(2)
    expect(stderr).toContain(message)
  })
})
