import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { holdfast } from '../../test/support/command-line.ts'
import { freePort } from '../../test/support/ports.ts'
import { HttpServer } from '../server/http.ts'
import type { ServerStatus, SourceStatus } from './server-status.ts'
import { formatStatus, isWell } from './status-table.ts'

const NOW = Date.parse('2026-11-16T12:00:00Z')
const GOOD_SOURCE: SourceStatus = {
  ...{ name: 'zones', type: 'zones', prefix: '/zones/', endpoints: ['https://10.0.0.1:2379'], state: 'following' },
  ...{ since: '2026-11-16T11:50:00Z', keys: 12, revision: 345 },
}
const GOOD: ServerStatus = {
  version: '1.2.3',
  ready: true,
  sources: [GOOD_SOURCE],
  zones: [{ zone: 'a.test.', plugin: 'etcd', state: 'ok', serial: 5, from: '/zones/a.test' }],
}
const AWAY: SourceStatus = {
  ...{ ...GOOD_SOURCE, name: 'ingresses', state: 'away', since: '2026-11-16T11:59:20Z', keys: 1024, revision: 340 },
  ...{ error: 'Cannot reach etcd', hint: 'look at its log', startedFrom: '2026-11-15T10:00:00Z' },
}

const REFUSED: NonNullable<ServerStatus['configuration']> = {
  state: 'refused',
  since: '2026-11-16T11:58:00Z',
  errorCount: 7,
  errors: [
    {
      code: 'CorefileInvalid',
      message: 'Cannot load Corefile:2:5: unknown directive "foward"',
      place: { file: 'Corefile', line: 2, column: 5 },
    },
  ],
}

describe('the status for people', () => {
  test('begins with a configuration that was refused', () => {
    expect(
      formatStatus({ ...GOOD, configuration: REFUSED }, NOW)
        .split('\n')
        .slice(0, 6),
    ).toEqual([
      'holdfast 1.2.3',
      '',
      'The configuration was refused 2 min ago; the one before it stays in service:',
      '  Cannot load Corefile:2:5: unknown directive "foward"',
      '  and 6 more',
      '',
    ])
  })

  test('lists sources and zones', () => {
    expect(formatStatus(GOOD, NOW)).toBe(
      [
        'holdfast 1.2.3',
        '',
        'SOURCE  STATE      KEYS  REVISION   SINCE  REMARK',
        'zones   following    12       345  10 min',
        '',
        'ZONE     STATE  SERIAL  FROM           ERROR',
        'a.test.  ok          5  /zones/a.test',
        '',
      ].join('\n'),
    )
    expect(isWell(GOOD)).toBe(true)
  })

  test('begins with what is wrong, and says all of it', () => {
    const errors = ['/zones/b.test:4:6: "192.0.2.256": an IPv4 address', '/zones/b.test:9:1: "x": a record type']
    const status: ServerStatus = {
      ...GOOD,
      sources: [
        { ...GOOD_SOURCE, lastError: { at: '2026-11-16T09:00:00Z', message: 'Cannot reach etcd' } },
        { ...GOOD_SOURCE, name: 'keys', problemCount: 7, problems: ['Cannot use "/skydns/x": not JSON'] },
        { ...GOOD_SOURCE, name: 'lost', state: 'doubted' },
        AWAY,
      ],
      zones: [
        ...GOOD.zones,
        { zone: 'b.test.', plugin: 'etcd', state: 'refused', serial: 2, from: '/zones/b.test', errors },
        { zone: 'c.test.', plugin: 'skydns', state: 'awaited' },
      ],
    }
    expect(formatStatus(status, NOW).split('\n').slice(2)).toEqual([
      'SOURCE     STATE      KEYS  REVISION   SINCE  REMARK',
      'keys       following    12       345  10 min  Cannot use "/skydns/x": not JSON',
      '                                              and 6 more',
      'lost       doubted      12       345  10 min  there is nothing of it any more where it comes from; it stays in service until there is something again',
      'ingresses  away       1024       340    40 s  Cannot reach etcd; look at its log',
      '                                              serving what was known 26 h ago',
      'zones      following    12       345  10 min  3 h ago: Cannot reach etcd',
      '',
      'ZONE     STATE    SERIAL  FROM           ERROR',
      `b.test.  refused       2  /zones/b.test  ${errors[0]}`,
      `                                         ${errors[1]}`,
      'c.test.  awaited       -  skydns',
      'a.test.  ok            5  /zones/a.test',
      '',
    ])
  })

  test('counts good zones when there are many', () => {
    const zones = Array.from({ length: 500 }, (_, i) => ({ ...GOOD.zones[0], zone: `z${i}.test.` }))
    expect(formatStatus({ ...GOOD, zones }, NOW)).toMatch(/\n\n500 zones are ok; --json lists them\n$/u)
    const bad = { ...GOOD.zones[0], zone: 'bad.test.', state: 'failed' } as const
    expect(formatStatus({ ...GOOD, zones: [...zones, bad] }, NOW)).toMatch(/bad\.test\..*\n\n500 more zones are ok/u)
  })

  test.each<[string, Partial<ServerStatus>]>([
    ['is still loading', { ready: false }],
    ['has refused its configuration', { configuration: REFUSED }],
    ['has a source that is away', { sources: [AWAY] }],
    ['has a key it cannot use', { sources: [{ ...GOOD_SOURCE, problemCount: 1 }] }],
    ['has a zone that is refused', { zones: [{ ...GOOD.zones[0], state: 'refused' }] }],
  ])('is not well when the server %s', (_, wrong) => {
    expect(isWell({ ...GOOD, ...wrong })).toBe(false)
  })
})

describe('holdfast status', () => {
  let directory: string
  let http: HttpServer
  let port: number
  let status: unknown
  beforeEach(async () => {
    status = GOOD
    directory = mkdtempSync(join(tmpdir(), 'holdfast-status-'))
    port = await freePort()
    http = new HttpServer({ notReady: () => [], metrics: () => '', status: () => status })
    const address = { host: '127.0.0.1', port }
    await http.serve([
      { directive: 'health', address, at: '' },
      { directive: 'status', address, at: '' },
    ])
  })
  afterEach(async () => {
    await http.close()
    rmSync(directory, { recursive: true })
  })

  test.each(['http://127.0.0.1:PORT', 'http://127.0.0.1:PORT/', 'http://127.0.0.1:PORT/status', '127.0.0.1:PORT'])(
    'asks the server at %s',
    async (url) => {
      const { code, stdout } = await holdfast(['status', '--url', url.replace('PORT', String(port))])
      expect(stdout).toMatch(/^holdfast 1\.2\.3\n\nSOURCE /u)
      expect(code).toBe(0)
    },
  )

  test('prints what the server says as JSON, and exits with 1 when something is wrong', async () => {
    status = { ...GOOD, sources: [AWAY] }
    const { code, stdout } = await holdfast(['status', '--url', `127.0.0.1:${port}`, '--json'])
    expect(JSON.parse(stdout)).toEqual(status)
    expect(code).toBe(1)
  })

  test.each([
    ['--config', 'names.yaml', 'sources: [{ type: directory, path: . }]\nserve: { health: ":PORT" }\n'],
    ['-conf', 'Corefile', '.:5300 {\n auto {\n directory .\n }\n}\n.:5301 {\n health 127.0.0.1:PORT\n}\n'],
  ])('finds the address in what %s names', async (flag, name, text) => {
    const file = join(directory, name)
    writeFileSync(file, text.replace('PORT', String(port)))
    expect(await holdfast(['status', flag, file])).toMatchObject({ code: 0, stderr: '' })
  })

  test('says that a configuration has no address to ask', async () => {
    const file = join(directory, 'Corefile')
    writeFileSync(file, '.:5300 {\n errors\n}\n')
    expect(await holdfast(['status', '-conf', file])).toEqual({
      code: 1,
      stdout: '',
      stderr: `holdfast: Cannot ask the server of "${file}": it has no "health", next to which it would report; add one [NoStatus]\n`,
    })
  })

  test('says that nobody answers', async () => {
    await http.close()
    const { code, stderr } = await holdfast(['status', '--url', `127.0.0.1:${port}`])
    expect(stderr).toBe(
      `holdfast: Cannot reach the server at http://127.0.0.1:${port}/status: connection refused; start it, or give the address of its "health" with --url [ServerUnreachable]\n`,
    )
    expect(code).toBe(1)
  })

  test.each([
    ['something else answers', '/health', '"OK"'],
    ['there is no such page', '/nothing', '"HTTP status 404"'],
  ])('says that %s', async (_, path, says) => {
    const { code, stderr } = await holdfast(['status', '--url', `http://127.0.0.1:${port}${path}`])
    expect(stderr).toContain(
      `Cannot use the answer of http://127.0.0.1:${port}${path}: ${says} is not the status of a name server`,
    )
    expect(code).toBe(1)
  })

  test.each([
    [['--url', 'ftp://host'], 'Cannot ask "ftp://host": not a URL; expected one such as http://127.0.0.1:8080'],
    [['--url', 'x', '--config', 'y'], 'Cannot use --url with --config or -conf'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await holdfast(['status', ...args])
    expect(stderr).toContain(message)
    expect(code).toBe(2)
  })

  test('that cannot be written is an error of that request only', async () => {
    status = {
      toJSON: () => {
        throw new Error('no such zone')
      },
    }
    const { stderr } = await holdfast(['status', '--url', `127.0.0.1:${port}`])
    expect(stderr).toContain('HTTP status 500')
    status = GOOD
    expect((await holdfast(['status', '--url', `127.0.0.1:${port}`])).code).toBe(0)
  })
})
