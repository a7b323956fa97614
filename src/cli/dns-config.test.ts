import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Io } from './command.ts'
import { ConfigSource } from './config-source.ts'
import { configOf, type DnsOptions } from './dns-config.ts'

const io: Io = {
  stdin: Readable.from([]),
  stdout: new Writable(),
  stderr: new Writable(),
  env: {},
  stopSignal: () => new AbortController().signal,
  onHangup: () => undefined,
}
const NONE: DnsOptions = {
  config: undefined,
  conf: undefined,
  zones: [],
  listen: [],
  'dns.port': undefined,
  health: undefined,
  ready: undefined,
  metrics: undefined,
  state: undefined,
}

let directory: string
const write = (name: string, text: string) => {
  writeFileSync(join(directory, name), text)
  return join(directory, name)
}
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-test-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const NAMES = 'sources: [{ type: directory, path: zones }]\nserve: { listen: [":5300"], reload: 2s }'

test('names.yaml, a Corefile and directories become the same kind of configuration', () => {
  const names = configOf({ ...NONE, config: write('names.yaml', NAMES) }, io)
  const corefile = configOf(
    { ...NONE, conf: write('Corefile', '. {\n auto {\n directory zones\n }\n}'), 'dns.port': '5300' },
    io,
  )
  const zones = configOf({ ...NONE, zones: [directory], listen: [':5300'] }, io)
  for (const { load } of [names, corefile, zones])
    expect(load().config.blocks).toMatchObject([{ port: 5300, bind: [], zones: ['.'] }])
  expect([names, corefile, zones].map(({ source }) => source === undefined)).toEqual([false, false, true])
  expect([names, corefile, zones].map(({ load }) => load().requireNs)).toEqual([true, false, true])
})

describe('flags that contradict each other or what is there are refused', () => {
  test.each<[string, Partial<DnsOptions>, string]>([
    ['two files', { config: 'a', conf: 'b' }, 'Cannot use --config with -conf: '],
    ['directories beside a file', { config: 'a', zones: ['b'] }, 'with names.yaml: it says what is served and where'],
    ['an address beside a Corefile', { conf: 'a', listen: [':53'] }, 'with a Corefile: it says what is served and'],
    ['a default port for names.yaml', { config: 'a', 'dns.port': '53' }, 'Cannot use -dns.port with --config: '],
    ['a default port for directories', { zones: ['.'], 'dns.port': '53' }, 'Cannot use -dns.port with --zones: '],
    ['no directory', { zones: ['/nowhere'] }, 'Cannot read "/nowhere": there is no such directory; '],
    ['no file', { config: '/nowhere' }, 'Cannot read "/nowhere": no such file or directory'],
    ['nothing at all', {}, 'nothing to serve; expected --config FILE, -conf FILE or --zones DIR'],
  ])('%s', (_, options, message) => {
    expect(() => configOf({ ...NONE, ...options }, io).load()).toThrow(message)
  })
})

test('a secret is followed but no part of the hash, which everybody can see', () => {
  const source = new ConfigSource(write('names.yaml', 'text'))
  const before = (source.readMain(), source.hash())
  expect(source.readSecret(write('password', 'one'))).toBe('one')
  expect(source.hash()).toBe(before)
  expect(source.changed()).toBe(false)
  write('password', 'two')
  expect(source.changed()).toBe(true)
  expect(source.places().paths).toContain(join(directory, 'password'))
})
