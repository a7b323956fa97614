// A running server follows its zone directory: every way a file can come, change, break and go.

import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, renameSync, rmSync, symlinkSync, writeSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TYPE } from '../../src/dns/types.ts'
import { exchangeUdp } from '../support/dns-client.ts'
import { decoded, question } from '../support/fault-server.ts'
import { type HoldfastProcess, Sandbox, zoneText } from '../support/holdfast-process.ts'
import { brief, briefly, untilAnswer } from '../support/lookup.ts'
import { freePort } from '../support/ports.ts'

let sandbox: Sandbox
let port: number
beforeEach(async () => {
  sandbox = new Sandbox()
  port = await freePort()
})
afterEach(() => sandbox.close())

/** Serves the directory `zones`. */
function serve(...args: readonly string[]): Promise<HoldfastProcess> {
  return sandbox.serve('--zones', sandbox.path('zones'), '--listen', `127.0.0.1:${port}`, ...args)
}

test('a new file is served, new content takes effect without a new serial, a removed file is refused', async () => {
  sandbox.write('zones/db.first.test', zoneText(['www A 192.0.2.1']))
  const server = await serve()
  expect(await brief(port, 'www.second.test.')).toBe('REFUSED')
  sandbox.write('zones/db.second.test', zoneText(['www A 192.0.2.2']))
  await untilAnswer(port, 'www.second.test.', '192.0.2.2')
  sandbox.write('zones/db.second.test', zoneText(['www A 192.0.2.3']))
  await untilAnswer(port, 'www.second.test.', '192.0.2.3')
  await server.logged(/Zone second\.test\. serial 1, .*content changed, serial did not/u)
  rmSync(sandbox.path('zones/db.second.test'))
  await untilAnswer(port, 'www.second.test.', 'REFUSED')
  expect(await brief(port, 'www.first.test.')).toBe('192.0.2.1')
})

test('a pipe in place of a file that is included refuses its zone and holds up no other', async () => {
  execFileSync('mkfifo', [sandbox.path('fifo')])
  sandbox.write('zones/db.a.test', zoneText([`$INCLUDE ${sandbox.path('fifo')}`]))
  sandbox.write('zones/db.b.test', zoneText(['www A 192.0.2.1']))
  const server = await serve()
  expect(server.output).toContain(`Cannot read "${sandbox.path('fifo')}": not a regular file`)
  expect(await brief(port, 'www.a.test.')).toBe('SERVFAIL')
  expect(await brief(port, 'www.b.test.')).toBe('192.0.2.1')
  renameSync(sandbox.write('new', 'www A 192.0.2.2\n'), sandbox.path('fifo'))
  await untilAnswer(port, 'www.a.test.', '192.0.2.2')
})

test('a broken edit leaves the last good version in service and names file, line, column and token', async () => {
  const file = sandbox.write('zones/db.example.test', zoneText(['www A 192.0.2.1']))
  const server = await serve()
  sandbox.write('zones/db.example.test', zoneText(['www A 192.0.2.9', 'mail A 192.0.2.300'], 2))
  await server.logged(/Zone example\.test\. rejected: serial 1 stays in service/u)
  expect(server.output).toContain(`[ERROR] ${file}:6:8: `)
  expect(server.output).toContain('192.0.2.300')
  expect(await brief(port, 'www.example.test.')).toBe('192.0.2.1')
  sandbox.write('zones/db.example.test', zoneText(['www A 192.0.2.9'], 3))
  await untilAnswer(port, 'www.example.test.', '192.0.2.9')
})

test('a zone that was never good answers SERVFAIL until it is mended', async () => {
  sandbox.write('zones/db.good.test', zoneText(['www A 192.0.2.1']))
  sandbox.write('zones/db.bad.test', 'www A 192.0.2.1\n')
  await serve()
  expect(await brief(port, 'www.bad.test.')).toBe('SERVFAIL')
  expect(await brief(port, 'www.good.test.')).toBe('192.0.2.1')
  sandbox.write('zones/db.bad.test', zoneText(['www A 192.0.2.2']))
  await untilAnswer(port, 'www.bad.test.', '192.0.2.2')
})

test('a file renamed into place is served, and one renamed away is gone', async () => {
  sandbox.write('zones/db.example.test', zoneText(['www A 192.0.2.1']))
  await serve()
  renameSync(sandbox.write('new', zoneText(['www A 192.0.2.2'])), sandbox.path('zones/db.example.test'))
  await untilAnswer(port, 'www.example.test.', '192.0.2.2')
  renameSync(sandbox.path('zones/db.example.test'), sandbox.path('zones/db.other.test'))
  await untilAnswer(port, 'www.other.test.', '192.0.2.2')
  await untilAnswer(port, 'www.example.test.', 'REFUSED')
})

test('a ConfigMap that Kubernetes swaps by its ..data link is followed', async () => {
  sandbox.write('zones/..2026_1/db.example.test', zoneText(['www A 192.0.2.1']))
  symlinkSync('..2026_1', sandbox.path('zones/..data'))
  symlinkSync('..data/db.example.test', sandbox.path('zones/db.example.test'))
  await serve()
  expect(await brief(port, 'www.example.test.')).toBe('192.0.2.1')
  sandbox.write('zones/..2026_2/db.example.test', zoneText(['www A 192.0.2.2']))
  symlinkSync('..2026_2', sandbox.path('zones/..data_tmp'))
  renameSync(sandbox.path('zones/..data_tmp'), sandbox.path('zones/..data'))
  rmSync(sandbox.path('zones/..2026_1'), { recursive: true })
  await untilAnswer(port, 'www.example.test.', '192.0.2.2')
})

test('a change of an included file is a change of the zone', async () => {
  sandbox.write('parts/hosts', 'www A 192.0.2.1\n')
  sandbox.write('zones/db.example.test', zoneText(['$INCLUDE ../parts/hosts']))
  const server = await serve()
  expect(await brief(port, 'www.example.test.')).toBe('192.0.2.1')
  sandbox.write('parts/hosts', 'www A 192.0.2.2\n')
  await untilAnswer(port, 'www.example.test.', '192.0.2.2')
  const file = sandbox.write('parts/hosts', 'www A 192.0.2.2\nwww B 192.0.2.2\n')
  await server.logged(/rejected: serial 1 stays/u)
  expect(server.output).toContain(`${file}:2:`)
  rmSync(file)
  await server.logged(/rejected: serial 1 stays[^]*rejected: serial 1 stays/u)
  expect(await brief(port, 'www.example.test.')).toBe('192.0.2.2')
})

test('a directory where a zone file is expected is looked into and stops nothing', async () => {
  sandbox.write('zones/db.example.test', zoneText(['www A 192.0.2.1']))
  mkdirSync(sandbox.path('zones/db.folder.test'))
  const server = await serve()
  expect(await brief(port, 'www.folder.test.')).toBe('REFUSED')
  expect(await brief(port, 'www.example.test.')).toBe('192.0.2.1')
  expect(server.output).not.toContain('ERROR')
})

test('a link that leads nowhere is reported and keeps the zone it gave', async () => {
  sandbox.write('target', zoneText(['www A 192.0.2.1']))
  mkdirSync(sandbox.path('zones'))
  symlinkSync('../target', sandbox.path('zones/db.example.test'))
  const server = await serve()
  rmSync(sandbox.path('target'))
  await server.logged(/Cannot read ".*db\.example\.test": the link leads nowhere/u)
  expect(await brief(port, 'www.example.test.')).toBe('192.0.2.1')
  sandbox.write('target', zoneText(['www A 192.0.2.2']))
  await untilAnswer(port, 'www.example.test.', '192.0.2.2')
})

test('a directory on the command line that is not there is an error', async () => {
  const server = sandbox.spawn(['dns', '--zones', sandbox.path('zones'), '--listen', `127.0.0.1:${port}`])
  expect(await server.ended()).toBe(1)
  expect(server.output).toContain(`Cannot read "${sandbox.path('zones')}": there is no such directory`)
})

test('a directory in a Corefile that is not there yet is served once it is', async () => {
  const auto = `auto {\n directory ${sandbox.path('zones')}\n }`
  const corefile = `.:${port} {\n bind 127.0.0.1\n ${auto}\n}\n`
  const server = await sandbox.serve('-conf', sandbox.write('Corefile', corefile))
  expect(server.output).toContain('Cannot read directory')
  expect(await brief(port, 'www.example.test.')).toBe('REFUSED')
  sandbox.write('zones/db.example.test', zoneText(['www A 192.0.2.1']))
  await untilAnswer(port, 'www.example.test.', '192.0.2.1')
})

test('an error at line 300,000 is named by its line, and the old version stays', async () => {
  sandbox.write('zones/db.example.test', zoneText(['www A 192.0.2.1']))
  const server = await serve()
  const lines = Array.from({ length: 299_995 }, (_, i) => `h${i} A 192.0.2.7`)
  const file = sandbox.write('zones/db.example.test', zoneText([...lines, 'oops A 192.0.2.', 'last A 192.0.2.8'], 2))
  await server.logged(/Zone example\.test\. rejected: serial 1 stays in service/u)
  expect(server.output).toContain(`[ERROR] ${file}:300000:8: `)
  expect(await brief(port, 'www.example.test.')).toBe('192.0.2.1')
  expect(await brief(port, 'h1.example.test.')).toBe('NXDOMAIN')
})

test('while a zone alternates between two versions, every answer is entirely one of them', async () => {
  const version = (n: number) => zoneText([`www A 192.0.2.${n}`, `www A 198.51.100.${n}`, `www A 203.0.113.${n}`], n)
  sandbox.write('zones/db.example.test', version(1))
  await serve()
  const seen = new Set<string>()
  let asked = 0
  for (let round = 0; round < 30; round++) {
    sandbox.write('zones/db.example.test', version((round % 2) + 1))
    const questions = Array.from({ length: 400 }, () => question('www.example.test.', TYPE.A))
    for (const answer of await exchangeUdp(port, questions)) {
      if (answer === undefined) throw new Error('a query was lost')
      seen.add(briefly(decoded(answer)).split(' ').toSorted().join(' '))
      asked++
    }
  }
  expect(asked).toBe(12_000)
  expect([...seen].toSorted()).toEqual(['192.0.2.1 198.51.100.1 203.0.113.1', '192.0.2.2 198.51.100.2 203.0.113.2'])
})

test('two thousand zones are loaded and served', async () => {
  for (let i = 0; i < 2000; i++) sandbox.write(`zones/z${i}.test`, zoneText([`www A 10.0.${i >> 8}.${i & 255}`]))
  const server = await serve()
  await server.logged(/2000 zones with 8000 records loaded|All zones are loaded/u)
  const numbers = Array.from({ length: 1000 }, (_, i) => i * 2)
  const answers = await exchangeUdp(
    port,
    numbers.map((i) => question(`www.z${i}.test.`)),
  )
  const found = answers.map((answer) => answer && briefly(decoded(answer)))
  expect(found).toEqual(numbers.map((i) => `10.0.${i >> 8}.${i & 255}`))
  sandbox.write('zones/z7.test', zoneText(['www A 192.0.2.77']))
  await untilAnswer(port, 'www.z7.test.', '192.0.2.77')
})

test('a file that is still being written is not read until it is whole', async () => {
  const file = sandbox.write('zones/db.example.test', zoneText(['www A 192.0.2.1', 'last A 192.0.2.2']))
  const server = await serve()
  const writer = openSync(file, 'w')
  writeSync(writer, zoneText(['www A 192.0.2.9'], 2))
  // A change elsewhere shows that the loader has been round since.
  sandbox.write('zones/db.other.test', zoneText(['www A 192.0.2.3']))
  await untilAnswer(port, 'www.other.test.', '192.0.2.3')
  expect(await brief(port, 'last.example.test.')).toBe('192.0.2.2')
  expect(await brief(port, 'www.example.test.')).toBe('192.0.2.1')
  writeSync(writer, 'last A 192.0.2.10\n')
  closeSync(writer)
  await untilAnswer(port, 'last.example.test.', '192.0.2.10')
  expect(server.output).not.toMatch(/example\.test\. serial 2, 4 records/u)
})

test('a reload that would lose a zone is refused, and the last good version stays', async () => {
  sandbox.write('zones/db.example.test', zoneText(['www A 192.0.2.1']))
  const server = await serve()
  sandbox.write('zones/db.example.test', zoneText(['www A oops'], 2))
  await server.logged(/Zone example\.test\. rejected: serial 1 stays in service/u)
  server.kill('SIGHUP')
  await server.logged(/Cannot reload, .* Cannot do without example\.test\.: /u)
  expect(await brief(port, 'www.example.test.')).toBe('192.0.2.1')
  sandbox.write('zones/db.example.test', zoneText(['www A 192.0.2.2'], 3))
  await untilAnswer(port, 'www.example.test.', '192.0.2.2')
  server.kill('SIGHUP')
  await server.logged(/Reloaded the configuration/u)
  expect(await brief(port, 'www.example.test.')).toBe('192.0.2.2')
})

test('a link that leads nowhere from the start is a zone that fails, not one that is unknown', async () => {
  mkdirSync(sandbox.path('zones'))
  symlinkSync(sandbox.path('elsewhere'), sandbox.path('zones/db.example.test'))
  await serve()
  expect(await brief(port, 'www.example.test.')).toBe('SERVFAIL')
  sandbox.write('elsewhere', zoneText(['www A 192.0.2.1']))
  await untilAnswer(port, 'www.example.test.', '192.0.2.1')
})
