import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ZoneDirectory, type ZoneDirectoryOptions } from './zone-directory.ts'

/** Longer than a test lasts: what is noticed is noticed by inotify. */
const NEVER_MS = 3_600_000

let base: string
let abort: AbortController

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'zones-'))
  mkdirSync(join(base, 'zones'))
  abort = new AbortController()
})

afterEach(() => {
  abort.abort()
  rmSync(base, { recursive: true })
})

interface Seen {
  readonly source: ZoneDirectory
  /** Origin to file, as a consumer would have them now. */
  readonly zones: Map<string, string>
  /** `+origin` and `-origin` in order. */
  readonly events: string[]
  readonly problems: string[]
  /** Origin and path. */
  readonly unreadable: string[]
}

function follow(options: Partial<ZoneDirectoryOptions> = {}): Seen {
  const zones = new Map<string, string>()
  const events: string[] = []
  const problems: string[] = []
  const unreadable: string[] = []
  const source = new ZoneDirectory({
    directory: join(base, 'zones'),
    pattern: /db\.(.*)/u,
    template: '${1}',
    reloadMs: NEVER_MS,
    zones: ['.'],
    signal: abort.signal,
    onUnreadable: (origin, path) => unreadable.push(`${origin ?? '-'} ${path}`),
    onZone: (origin, file) => {
      zones.set(origin, file)
      events.push(`+${origin}`)
    },
    onGone: (origin) => {
      zones.delete(origin)
      events.push(`-${origin}`)
    },
    onProblem: (message) => problems.push(message),
    ...options,
  })
  source.start()
  return { source, zones, events, problems, unreadable }
}

const at = (...parts: string[]) => join(base, 'zones', ...parts)
const soon = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 5 })
const names = (seen: Seen) => [...seen.zones.keys()].sort()

describe('at the start', () => {
  test('files whose name matches are zones, links included, and others are not', () => {
    writeFileSync(at('db.example.org'), 'x')
    writeFileSync(at('aa.example.org'), 'x')
    symlinkSync('db.example.org', at('db.example.com'))
    symlinkSync('db.example.org', at('aa.example.com'))
    const seen = follow()
    expect(names(seen)).toEqual(['example.com.', 'example.org.'])
    expect(seen.zones.get('example.org.')).toBe(at('db.example.org'))
    expect(seen.problems).toEqual([])
  })

  test('the directory itself may be a link', () => {
    writeFileSync(at('db.example.org'), 'x')
    symlinkSync('zones', join(base, 'link'))
    const seen = follow({ directory: join(base, 'link') })
    expect([...seen.zones]).toEqual([['example.org.', join(base, 'link/db.example.org')]])
  })

  test('directories below are walked, linked ones too, hidden ones not, and no circle is endless', () => {
    mkdirSync(at('sub/deep'), { recursive: true })
    mkdirSync(at('.git'))
    mkdirSync(join(base, 'other'))
    for (const path of ['sub/deep/db.a', '.git/db.b', '../other/db.c']) writeFileSync(at(path), 'x')
    symlinkSync('../other', at('linked'))
    symlinkSync('..', at('sub/up'))
    expect(names(follow())).toEqual(['a.', 'c.'])
  })

  test('of two files for one origin the first in path order counts, and one warning names both', () => {
    writeFileSync(at('example.org.zone'), 'x')
    writeFileSync(at('example.org.zone.bak-20260528'), 'x')
    const seen = follow({ pattern: /(.*)\.zone/u })
    expect([...seen.zones]).toEqual([['example.org.', at('example.org.zone')]])
    expect(seen.problems).toEqual([
      `Cannot load zone "example.org." from "${at('example.org.zone.bak-20260528')}": "${at('example.org.zone')}" gives it too and comes first`,
    ])
  })

  test('path order is that of a walk: a directory before its longer namesake', () => {
    mkdirSync(at('a'))
    mkdirSync(at('a-b'))
    writeFileSync(at('a/db.x'), '1')
    writeFileSync(at('a-b/db.x'), '2')
    expect(follow().zones.get('x.')).toBe(at('a/db.x'))
  })

  test('origins outside the zones, impossible names and hidden files are left out', () => {
    for (const name of ['db.example.org', 'db.sub.Example.ORG', 'db.example.com', 'db.a..b', '.db..swp', 'db.']) {
      writeFileSync(at(name), 'x')
    }
    const seen = follow({ zones: ['example.org.'] })
    expect(names(seen)).toEqual(['example.org.', 'sub.example.org.'])
    expect(seen.problems).toEqual([`Cannot load "${at('db.a..b')}": "a..b" is not a domain name`])
  })

  test('what is no file is a problem', () => {
    symlinkSync('nowhere', at('db.a'))
    execFileSync('mkfifo', [at('db.b')])
    const seen = follow()
    expect(names(seen)).toEqual([])
    expect(seen.problems).toEqual([
      `Cannot read "${at('db.a')}": the link leads nowhere`,
      `Cannot read "${at('db.b')}": not a regular file`,
    ])
  })
})

describe('changes', () => {
  test('new content, a new file and a deletion are noticed', async () => {
    writeFileSync(at('db.a'), '1')
    const seen = follow()
    writeFileSync(at('db.a'), '2')
    await soon(() => expect(seen.events).toEqual(['+a.', '+a.']))
    writeFileSync(at('db.b'), '1')
    await soon(() => expect(names(seen)).toEqual(['a.', 'b.']))
    unlinkSync(at('db.a'))
    await soon(() => expect(seen.events).toEqual(['+a.', '+a.', '+b.', '-a.']))
    expect(seen.problems).toEqual([])
  })

  test('a file renamed into place is one change', async () => {
    writeFileSync(at('db.a'), '1')
    const seen = follow()
    writeFileSync(at('.tmp'), '2')
    renameSync(at('.tmp'), at('db.a'))
    await soon(() => expect(seen.events).toEqual(['+a.', '+a.']))
  })

  test('bytes decide: a touched file is none, the same size at the same time is one', async () => {
    writeFileSync(at('db.a'), '1')
    writeFileSync(at('db.b'), '1')
    const past = new Date(1_700_000_000_000)
    for (const name of ['db.a', 'db.b']) utimesSync(at(name), past, past)
    const seen = follow()
    utimesSync(at('db.a'), new Date(), new Date())
    writeFileSync(at('db.b'), '2')
    utimesSync(at('db.b'), past, past)
    await soon(() => expect(seen.events).toEqual(['+a.', '+b.', '+b.']))
    writeFileSync(at('db.c'), '1')
    await soon(() => expect(seen.events).toEqual(['+a.', '+b.', '+b.', '+c.']))
  })

  test('a storm of writes to one file is few changes, the last of them with everything', async () => {
    writeFileSync(at('db.a'), '')
    const seen = follow()
    for (let index = 0; index < 500; index++) appendFileSync(at('db.a'), `${index}\n`)
    await soon(() => expect(seen.events.length).toBeGreaterThan(1))
    writeFileSync(at('db.end'), '1')
    await soon(() => expect(names(seen)).toEqual(['a.', 'end.']))
    expect(seen.events.length).toBeLessThan(10)
  })

  test('ten thousand files are found, and one of them changing is one event', async () => {
    for (let index = 0; index < 10_000; index++) writeFileSync(at(`db.z${index}`), '1')
    const seen = follow()
    expect(seen.zones.size).toBe(10_000)
    writeFileSync(at('db.z5000'), '2')
    await soon(() => expect(seen.events.slice(10_000)).toEqual(['+z5000.']))
  })

  test('a directory made later is followed, and taken away again', async () => {
    const seen = follow()
    mkdirSync(at('sub/deep'), { recursive: true })
    writeFileSync(at('sub/deep/db.a'), '1')
    await soon(() => expect(names(seen)).toEqual(['a.']))
    writeFileSync(at('sub/deep/db.b'), '1')
    await soon(() => expect(names(seen)).toEqual(['a.', 'b.']))
    renameSync(at('sub'), join(base, 'away'))
    await soon(() => expect(names(seen)).toEqual([]))
  })

  test('when the file that counts goes, the other takes over, and the warning does not repeat', async () => {
    mkdirSync(at('1'))
    mkdirSync(at('2'))
    writeFileSync(at('1/db.a'), '1')
    writeFileSync(at('2/db.a'), '2')
    const seen = follow()
    writeFileSync(at('1/db.a'), '3')
    await soon(() => expect(seen.events).toEqual(['+a.', '+a.']))
    expect(seen.problems).toHaveLength(1)
    unlinkSync(at('1/db.a'))
    await soon(() => expect(seen.zones.get('a.')).toBe(at('2/db.a')))
    expect(seen.events).toEqual(['+a.', '+a.', '+a.'])
  })

  test('after the signal nothing is reported', async () => {
    writeFileSync(at('db.a'), '1')
    const seen = follow()
    const other = new AbortController()
    const control = follow({ signal: other.signal })
    abort.abort()
    writeFileSync(at('db.a'), '2')
    await soon(() => expect(control.events).toHaveLength(2))
    other.abort()
    expect(seen.events).toEqual(['+a.'])
  })
})

describe('links', () => {
  test('the target changing is a change, wherever it is', async () => {
    mkdirSync(join(base, 'other'))
    writeFileSync(join(base, 'other/a'), '1')
    symlinkSync('../other/a', at('db.a'))
    const seen = follow()
    writeFileSync(join(base, 'other/a'), '2')
    await soon(() => expect(seen.events).toEqual(['+a.', '+a.']))
    writeFileSync(join(base, 'other/b'), '3')
    symlinkSync('../other/b', at('new'))
    renameSync(at('new'), at('db.a'))
    await soon(() => expect(seen.events).toEqual(['+a.', '+a.', '+a.']))
  })

  test('a mounted ConfigMap is followed through the swap of its ..data link', async () => {
    const publish = (version: string, files: Record<string, string>) => {
      mkdirSync(at(`..${version}`))
      for (const [name, text] of Object.entries(files)) writeFileSync(at(`..${version}`, name), text)
      symlinkSync(`..${version}`, at('..data_tmp'))
      renameSync(at('..data_tmp'), at('..data'))
      for (const name of Object.keys(files)) {
        rmSync(at(name), { force: true })
        symlinkSync(`..data/${name}`, at(name))
      }
    }
    publish('1', { 'db.a': '1', 'db.b': '1' })
    const seen = follow()
    expect([...seen.zones.values()]).toEqual([at('db.a'), at('db.b')])
    mkdirSync(at('..2'))
    writeFileSync(at('..2/db.a'), '2')
    writeFileSync(at('..2/db.b'), '1')
    symlinkSync('..2', at('..data_tmp'))
    renameSync(at('..data_tmp'), at('..data'))
    rmSync(at('..1'), { recursive: true })
    await soon(() => expect(seen.events).toEqual(['+a.', '+b.', '+a.']))
    publish('3', { 'db.a': '2', 'db.b': '3' })
    await soon(() => expect(seen.events.at(-1)).toBe('+b.'))
    expect(names(seen)).toEqual(['a.', 'b.'])
  })

  test('the link to the directory may be led to another one', async () => {
    mkdirSync(join(base, 'v1'))
    mkdirSync(join(base, 'v2'))
    writeFileSync(join(base, 'v1/db.a'), '1')
    writeFileSync(join(base, 'v2/db.b'), '1')
    symlinkSync('v1', join(base, 'current'))
    symlinkSync('current', join(base, 'served'))
    const seen = follow({ directory: join(base, 'served') })
    symlinkSync('v2', join(base, 'next'))
    renameSync(join(base, 'next'), join(base, 'current'))
    await soon(() => expect(names(seen)).toEqual(['b.']))
    writeFileSync(join(base, 'v2/db.c'), '1')
    await soon(() => expect(names(seen)).toEqual(['b.', 'c.']))
  })
})

describe('faults', () => {
  test('a directory that is missing at the start is waited for', async () => {
    const seen = follow({ directory: join(base, 'later/zones') })
    expect(seen.problems).toHaveLength(1)
    expect(seen.problems[0]).toContain(`Cannot read directory "${join(base, 'later/zones')}": ENOENT`)
    mkdirSync(join(base, 'later/zones'), { recursive: true })
    writeFileSync(join(base, 'later/zones/db.a'), '1')
    await soon(() => expect(names(seen)).toEqual(['a.']))
  })

  test('the directory moved away leaves its zones, and one put in its place is followed', async () => {
    writeFileSync(at('db.a'), '1')
    const seen = follow()
    renameSync(at(), join(base, 'away'))
    await soon(() => expect(seen.problems).toHaveLength(1))
    expect(names(seen)).toEqual(['a.'])
    mkdirSync(at())
    writeFileSync(at('db.b'), '1')
    await soon(() => expect(names(seen)).toEqual(['b.']))
    writeFileSync(at('db.c'), '1')
    await soon(() => expect(names(seen)).toEqual(['b.', 'c.']))
  })

  test.skipIf(process.getuid?.() === 0)(
    'a file that cannot be read keeps its zone and is loaded once it can (root reads everything)',
    async () => {
      writeFileSync(at('db.a'), '1')
      const seen = follow()
      chmodSync(at('db.a'), 0)
      await soon(() => expect(seen.problems[0]).toContain(`Cannot read "${at('db.a')}": EACCES`))
      expect(names(seen)).toEqual(['a.'])
      chmodSync(at('db.a'), 0o644)
      await soon(() => expect(seen.events).toEqual(['+a.', '+a.']))
    },
  )

  test('a file replaced by something unreadable keeps its zone until it is a file again', async () => {
    writeFileSync(at('db.a'), '1')
    const seen = follow()
    symlinkSync('nowhere', at('new'))
    renameSync(at('new'), at('db.a'))
    await soon(() => expect(seen.problems).toEqual([`Cannot read "${at('db.a')}": the link leads nowhere`]))
    expect(names(seen)).toEqual(['a.'])
    writeFileSync(at('nowhere'), '2')
    await soon(() => expect(seen.events).toEqual(['+a.', '+a.']))
  })
})

describe('the interval', () => {
  test('finds what inotify cannot tell', async () => {
    // A watch ends with the directory it is on; a mount over a parent is not announced at all.
    mkdirSync(join(base, 'outer/inner'), { recursive: true })
    writeFileSync(join(base, 'outer/inner/db.a'), '1')
    const seen = follow({ directory: join(base, 'outer/inner'), reloadMs: 20 })
    mkdirSync(join(base, 'other/inner'), { recursive: true })
    writeFileSync(join(base, 'other/inner/db.b'), '1')
    renameSync(join(base, 'outer'), join(base, 'away'))
    renameSync(join(base, 'other'), join(base, 'outer'))
    await soon(() => expect(names(seen)).toEqual(['b.']))
  })

  test('of 0 means never to look again', async () => {
    writeFileSync(at('db.a'), '1')
    const seen = follow({ reloadMs: 0 })
    const control = follow()
    writeFileSync(at('db.a'), '2')
    await soon(() => expect(control.events).toHaveLength(2))
    expect(seen.events).toEqual(['+a.'])
  })
})

describe('included files', () => {
  test('load every zone that includes them again', async () => {
    mkdirSync(join(base, 'inc'))
    writeFileSync(join(base, 'inc/common'), '1')
    for (const name of ['db.a', 'db.b', 'db.c']) writeFileSync(at(name), '1')
    // Files are as old as the clock of the file system tells, which ticks coarsely.
    const made = Date.now()
    await soon(() => expect(Date.now()).toBeGreaterThan(made + 30))
    const seen = follow()
    for (const origin of ['a.', 'b.']) seen.source.watchAlso(origin, [join(base, 'inc/common'), join(base, 'inc/none')])
    const before = seen.events.length
    writeFileSync(join(base, 'inc/common'), '2')
    await soon(() => expect(seen.events.slice(before)).toEqual(['+a.', '+b.']))
    writeFileSync(join(base, 'inc/none'), '1')
    await soon(() => expect(seen.events.slice(before)).toEqual(['+a.', '+b.', '+a.', '+b.']))
    unlinkSync(join(base, 'inc/none'))
    await soon(() => expect(seen.events).toHaveLength(before + 6))
  })

  test('that changed while the zone was being loaded make it be loaded again, once', async () => {
    writeFileSync(at('db.a'), '1')
    const loaded: string[] = []
    const seen = follow({
      onZone: (origin) => {
        if (loaded.push(origin) === 1) writeFileSync(join(base, 'common'), '1')
        if (origin === 'a.') setImmediate(() => seen.source.watchAlso(origin, [join(base, 'common')]))
      },
    })
    await soon(() => expect(loaded).toEqual(['a.', 'a.']))
    writeFileSync(at('db.end'), '1')
    await soon(() => expect(loaded).toContain('end.'))
    expect(loaded).toEqual(['a.', 'a.', 'end.'])
  })
})
