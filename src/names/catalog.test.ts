import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { question } from '../../test/support/fault-server.ts'
import { LocalCatalog } from '../../test/support/local-catalog.ts'
import { parseName } from '../dns/name.ts'
import { TYPE } from '../dns/types.ts'
import { PLAIN_STYLE } from '../zone/edits.ts'

const ORIGIN = 'example.test.'
const KEY = 'example.test'

function zone(serial: number, ...records: readonly string[]): string {
  return [
    '$TTL 300',
    `@ SOA ns hostmaster ${serial} 3600 600 86400 60`,
    '@ NS ns',
    'ns A 192.0.2.53',
    ...records,
    '',
  ].join('\n')
}

/** The names www and ns, and an NSEC chain through them; the signatures are of no importance here. */
function signedZone(serial: number): string {
  return zone(serial, 'www A 192.0.2.1', '@ NSEC ns NS SOA NSEC', 'ns NSEC www A NSEC', 'www NSEC @ A NSEC')
}

/** Too many records to be read again as a whole. */
function largeZone(serial: number, ...records: readonly string[]): string {
  const hosts = Array.from({ length: 600 }, (_, i) => `host${i} A 10.0.${i >> 8}.${i & 255}`)
  return zone(serial, ...hosts, ...records)
}

test.each([
  ['read', zone],
  ['edited', largeZone],
])('a record that is there twice counts once in the report of a zone that is %s', (_, text) => {
  const local = new LocalCatalog()
  const texts = local.texts(0)
  texts.put(KEY, text(1))
  texts.put(KEY, text(2, 'www A 192.0.2.1', 'www A 192.0.2.1'))
  const counts = local.reports.flatMap((report) => (report.kind === 'zone' ? [report.records] : []))
  expect(counts).toHaveLength(2)
  expect(counts[1]).toBe(counts[0] + 1)
})

describe('a zone with a text and names of other sources', () => {
  test('has what both have', () => {
    const local = new LocalCatalog()
    const part = local.part(1, ORIGIN)
    local.texts(0).put(KEY, zone(1, 'www A 192.0.2.1'))
    part.set({ [`web.${ORIGIN}`]: ['A 192.0.2.2'] })
    expect(local.ask(`www.${ORIGIN}`)).toBe('192.0.2.1')
    expect(local.ask(`web.${ORIGIN}`)).toBe('192.0.2.2')
    expect(local.ask(`none.${ORIGIN}`)).toBe('NXDOMAIN')
  })

  test.each([
    ['the text', 0, 1, '192.0.2.1', 'of the text'],
    ['the names', 1, 0, '192.0.2.2', 'NOERROR'],
  ])('has all of a name from the source that comes first: %s', (_, textRank, partRank, address, text) => {
    const local = new LocalCatalog()
    const part = local.part(partRank, ORIGIN)
    local.texts(textRank).put(KEY, zone(1, 'www A 192.0.2.1', 'www TXT "of the text"'))
    part.set({ [`www.${ORIGIN}`]: ['A 192.0.2.2'] })
    expect(local.ask(`www.${ORIGIN}`)).toBe(address)
    expect(local.ask(`www.${ORIGIN}`, TYPE.TXT).replaceAll('"', '')).toBe(text)
  })

  test('falls back to the text where a name is taken away, and to the other source where the text loses it', () => {
    const local = new LocalCatalog()
    const before = local.part(0, ORIGIN)
    const behind = local.part(2, ORIGIN)
    const texts = local.texts(1)
    texts.put(KEY, zone(1, 'www A 192.0.2.1'))
    behind.set({ [`www.${ORIGIN}`]: ['A 192.0.2.3'] })
    before.set({ [`www.${ORIGIN}`]: ['A 192.0.2.2'] })
    expect(local.ask(`www.${ORIGIN}`)).toBe('192.0.2.2')
    before.set({ [`www.${ORIGIN}`]: [] })
    expect(local.ask(`www.${ORIGIN}`)).toBe('192.0.2.1')
    texts.put(KEY, zone(2))
    expect(local.ask(`www.${ORIGIN}`)).toBe('192.0.2.3')
    behind.set({ [`www.${ORIGIN}`]: [] })
    expect(local.ask(`www.${ORIGIN}`)).toBe('NXDOMAIN')
  })

  test('is the same whichever source is heard first', () => {
    const [a, b] = [new LocalCatalog(), new LocalCatalog()]
    for (const [local, isTextFirst] of [
      [a, true],
      [b, false],
    ] as const) {
      const part = local.part(0, ORIGIN)
      const texts = local.texts(1)
      if (isTextFirst) texts.put(KEY, zone(1, 'www A 192.0.2.1', 'mail A 192.0.2.5'))
      part.set({ [`www.${ORIGIN}`]: ['A 192.0.2.2'], [`deep.er.${ORIGIN}`]: ['A 192.0.2.3'] })
      if (!isTextFirst) texts.put(KEY, zone(1, 'www A 192.0.2.1', 'mail A 192.0.2.5'))
    }
    for (const name of ['www', 'mail', 'deep.er', 'er', 'ns', 'none']) {
      expect([name, a.ask(`${name}.${ORIGIN}`)]).toEqual([name, b.ask(`${name}.${ORIGIN}`)])
    }
    expect(a.ask(`er.${ORIGIN}`)).toBe('NOERROR')
  })

  test('has each type of the apex from the first source with any', () => {
    const local = new LocalCatalog()
    const part = local.part(0, ORIGIN)
    local.texts(1).put(KEY, zone(7, '@ A 192.0.2.1', '@ MX 10 mail.example.test.'))
    part.set({ [ORIGIN]: ['A 192.0.2.2', 'TXT apex'] })
    expect(local.ask(ORIGIN)).toBe('192.0.2.2')
    expect(local.ask(ORIGIN, TYPE.TXT)).toBe('"apex"')
    expect(local.ask(ORIGIN, TYPE.MX)).toBe('10 mail.example.test.')
    expect(local.ask(ORIGIN, TYPE.NS)).toBe('ns.example.test.')
    expect(local.ask(ORIGIN, TYPE.SOA)).toMatch(
      /^ns\.example\.test\. hostmaster\.example\.test\. \d+ 3600 600 86400 60$/u,
    )
    part.set({ [ORIGIN]: [] })
    expect(local.ask(ORIGIN)).toBe('192.0.2.1')
    expect(local.ask(ORIGIN, TYPE.TXT)).toBe('NOERROR')
  })

  test('answers for its SOA also where services make its apex an alias', () => {
    const local = new LocalCatalog()
    const part = local.part(0, ORIGIN, { style: { services: true } })
    part.set({ [ORIGIN]: [`CNAME web.${ORIGIN}`], [`web.${ORIGIN}`]: ['A 192.0.2.1'] })
    expect(local.ask(ORIGIN, TYPE.SOA)).toMatch(/^ns\.dns\.example\.test\. /u)
    expect(local.ask(ORIGIN)).toBe(`web.${ORIGIN} 192.0.2.1`)
  })

  test('keeps the names when its text goes, with a SOA made up for it and a newer serial', () => {
    const local = new LocalCatalog()
    const part = local.part(1, ORIGIN)
    const texts = local.texts(0)
    texts.put(KEY, zone(2026111600, 'www A 192.0.2.1'))
    part.set({ [`web.${ORIGIN}`]: ['A 192.0.2.2'], [`www.${ORIGIN}`]: ['A 192.0.2.3'] })
    const before = local.serial(ORIGIN)
    texts.delete(KEY)
    expect(local.ask(`web.${ORIGIN}`)).toBe('192.0.2.2')
    expect(local.ask(`www.${ORIGIN}`)).toBe('192.0.2.3')
    expect(local.ask(`ns.${ORIGIN}`)).toBe('NXDOMAIN')
    expect(local.ask(ORIGIN, TYPE.SOA)).toMatch(/^ns\.dns\.example\.test\. hostmaster\.example\.test\. /u)
    expect(local.serial(ORIGIN)).toBeGreaterThan(before)
    texts.put(KEY, zone(1, 'www A 192.0.2.1'))
    expect(local.ask(`www.${ORIGIN}`)).toBe('192.0.2.1')
    expect(local.ask(`web.${ORIGIN}`)).toBe('192.0.2.2')
  })
})

describe('a text that is refused', () => {
  test.each([
    ['small', zone],
    ['large', largeZone],
  ])('leaves the last good version in service, where names go on changing: %s', (_, text) => {
    const local = new LocalCatalog()
    const part = local.part(1, ORIGIN)
    const texts = local.texts(0)
    texts.put(KEY, text(1, 'www A 192.0.2.1'))
    part.set({ [`web.${ORIGIN}`]: ['A 192.0.2.2'] })
    expect(texts.put(KEY, text(2, 'www A 192.0.2.256'))).toBe(false)
    const refused = local.reports.find((report) => report.kind === 'refused')
    expect(refused?.errors.join()).toMatch(/^\/zones\/example\.test:\d+:7: .*192\.0\.2\.256/u)
    expect(refused?.keptSerial).toBe(local.serial(ORIGIN))
    expect(local.ask(`www.${ORIGIN}`)).toBe('192.0.2.1')
    part.set({ [`web.${ORIGIN}`]: ['A 192.0.2.3'] })
    expect(local.ask(`web.${ORIGIN}`)).toBe('192.0.2.3')
    expect(local.ask(`www.${ORIGIN}`)).toBe('192.0.2.1')
    expect(texts.put(KEY, text(3, 'www A 192.0.2.4'))).toBe(true)
    expect(local.ask(`www.${ORIGIN}`)).toBe('192.0.2.4')
    expect(local.ask(`web.${ORIGIN}`)).toBe('192.0.2.3')
  })

  test('and has no good version before it makes the zone fail until there is one', () => {
    const local = new LocalCatalog()
    const texts = local.texts(0)
    expect(texts.put(KEY, zone(1, 'www A nonsense'))).toBe(false)
    expect(local.ask(`www.${ORIGIN}`)).toBe('SERVFAIL')
    expect(texts.put(KEY, zone(1, 'www A 192.0.2.1'))).toBe(true)
    expect(local.ask(`www.${ORIGIN}`)).toBe('192.0.2.1')
    texts.delete(KEY)
    expect(local.ask(`www.${ORIGIN}`)).toBe('REFUSED')
    expect(local.reports.at(-1)?.kind).toBe('gone')
  })

  test('is no fault of the zone any more once it is deleted and only names are left', () => {
    const local = new LocalCatalog()
    const part = local.part(1, ORIGIN)
    const texts = local.texts(0)
    part.set({ [`web.${ORIGIN}`]: ['A 192.0.2.2'] })
    texts.put(KEY, zone(1, 'www A nonsense'))
    local.catalog.reportChanged()
    expect(local.reports.at(-1)).toMatchObject({ kind: 'names', hasText: true })
    texts.delete(KEY)
    local.catalog.reportChanged()
    expect(local.reports.at(-1)).toMatchObject({ kind: 'names', hasText: false })
    expect(local.ask(`web.${ORIGIN}`)).toBe('192.0.2.2')
  })
})

describe('a signed text', () => {
  const LINE = `Cannot add names of skydns to ${ORIGIN}: its text is signed, and says that they do not exist; give them a zone of their own`

  test('is served as it is, and it is said once that no names can be added', () => {
    const local = new LocalCatalog()
    const part = local.part(1, ORIGIN)
    local.texts(0).put(KEY, signedZone(5))
    for (const address of ['192.0.2.2', '192.0.2.3']) part.set({ [`web.${ORIGIN}`]: [`A ${address}`] })
    expect(local.ask(`www.${ORIGIN}`)).toBe('192.0.2.1')
    expect(local.ask(`web.${ORIGIN}`)).toBe('NXDOMAIN')
    expect(local.serial(ORIGIN)).toBe(5)
    expect(local.problems).toEqual([LINE])
  })

  test('takes the place of one that was not, and the other way round', () => {
    const local = new LocalCatalog()
    const part = local.part(1, ORIGIN)
    const texts = local.texts(0)
    part.set({ [`web.${ORIGIN}`]: ['A 192.0.2.2'] })
    texts.put(KEY, zone(1, 'www A 192.0.2.1'))
    expect(local.ask(`web.${ORIGIN}`)).toBe('192.0.2.2')
    expect(texts.put(KEY, signedZone(2))).toBe(true)
    expect(local.ask(`web.${ORIGIN}`)).toBe('NXDOMAIN')
    expect(local.ask(ORIGIN, TYPE.NSEC)).toMatch(/^ns\.example\.test\. /u)
    part.set({ [`web.${ORIGIN}`]: ['A 192.0.2.3'] })
    expect(texts.put(KEY, zone(3, 'www A 192.0.2.1'))).toBe(true)
    expect(local.ask(`web.${ORIGIN}`)).toBe('192.0.2.3')
  })

  test('is compiled as a whole also where its changes are known name by name', () => {
    const local = new LocalCatalog()
    const texts = local.texts(0)
    const chain = ['@ NSEC host0 NS SOA NSEC', 'host0 NSEC ns A NSEC', 'ns NSEC @ A NSEC']
    texts.put(KEY, largeZone(1))
    expect(texts.put(KEY, largeZone(2, ...chain))).toBe(true)
    expect(local.ask(`host0.${ORIGIN}`, TYPE.NSEC)).toMatch(/^ns\.example\.test\. /u)
    expect(texts.put(KEY, largeZone(3, ...chain, 'www A 192.0.2.1'))).toBe(true)
    expect(local.ask(`www.${ORIGIN}`)).toBe('192.0.2.1')
    expect(texts.put(KEY, largeZone(4, 'www A 192.0.2.2'))).toBe(true)
    expect(local.ask(`www.${ORIGIN}`)).toBe('192.0.2.2')
    expect(local.problems).toEqual([])
  })

  test('may have a stray NSEC record that proves nothing, and change all the same', () => {
    const local = new LocalCatalog()
    const texts = local.texts(0)
    texts.put(KEY, largeZone(1, 'www A 192.0.2.1'))
    expect(texts.put(KEY, largeZone(2, 'www A 192.0.2.1', 'www NSEC ns A NSEC'))).toBe(true)
    expect(local.ask(`www.${ORIGIN}`, TYPE.NSEC)).toMatch(/^ns\.example\.test\. /u)
  })
})

describe('serials', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-catalog-'))
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  test.each([
    ['small', zone],
    ['large', largeZone],
  ])('are the author’s as long as they go up: %s', (_, text) => {
    const local = new LocalCatalog()
    const texts = local.texts(0)
    const served = [5, 6, 6, 4, 9, 2026111600].map((serial, i) => {
      texts.put(KEY, text(serial, `www A 192.0.2.${i + 1}`))
      expect(local.ask(`www.${ORIGIN}`)).toBe(`192.0.2.${i + 1}`)
      return local.serial(ORIGIN)
    })
    expect(served).toEqual([5, 6, 7, 8, 9, 2026111600])
  })

  test('are remembered across a restart: the same for the same text, newer for another', () => {
    const first = new LocalCatalog({ stateDirectory: directory })
    const texts = first.texts(0)
    texts.put(KEY, zone(5), 1n)
    texts.put(KEY, zone(5, 'www A 192.0.2.1'), 2n)
    expect(first.serial(ORIGIN)).toBe(6)
    first.serials.close()
    const second = new LocalCatalog({ stateDirectory: directory })
    second.texts(0).put(KEY, zone(5, 'www A 192.0.2.1'), 2n)
    expect(second.serial(ORIGIN)).toBe(6)
    second.serials.close()
    const third = new LocalCatalog({ stateDirectory: directory })
    third.texts(0).put(KEY, zone(5, 'www A 192.0.2.2'), 3n)
    expect(third.serial(ORIGIN)).toBe(7)
    third.serials.close()
  })

  test('go up with each change of a part, beside a text or not', () => {
    const local = new LocalCatalog()
    const [beside, alone] = [local.part(1, ORIGIN), local.part(1, 'alone.test.')]
    local.texts(0).put(KEY, zone(5))
    const serials = [1, 2, 3].map((i) => {
      beside.set({ [`web.${ORIGIN}`]: [`A 192.0.2.${i}`] })
      alone.set({ 'web.alone.test.': [`A 192.0.2.${i}`] }, 100 + i)
      return [local.serial(ORIGIN), local.serial('alone.test.')]
    })
    expect(serials).toEqual([
      [6, 101],
      [7, 102],
      [8, 103],
    ])
    // etcd was made anew: its revisions begin again, ours do not.
    alone.set({ 'web.alone.test.': ['A 192.0.2.9'] }, 4)
    expect(local.serial('alone.test.')).toBe(104)
  })

  test('of a part are the same after a restart at the same revision', () => {
    const serials = [57, 57, 60, 12].map((revision, i) => {
      const local = new LocalCatalog({ stateDirectory: directory })
      local.part(1, ORIGIN).set({ [`web.${ORIGIN}`]: [`A 192.0.2.${i < 2 ? 1 : i}`] }, revision)
      local.serials.close()
      return local.serial(ORIGIN)
    })
    expect(serials).toEqual([57, 57, 60, 61])
  })

  test('of a file are its author’s alone, but never go back where names change the zone, too', () => {
    const local = new LocalCatalog()
    const source = local.source(0, { plugin: 'file' })
    for (const [serial, host] of [
      [9, 1],
      [8, 2],
    ]) {
      local.file(source, 'alone.test.', zone(serial, `www A 192.0.2.${host}`))
      expect(local.serial('alone.test.')).toBe(serial)
    }
    const part = local.part(1, ORIGIN)
    local.file(source, ORIGIN, zone(5))
    for (const i of [1, 2, 3]) part.set({ [`web.${ORIGIN}`]: [`A 192.0.2.${i}`] })
    expect(local.serial(ORIGIN)).toBe(8)
    local.file(source, ORIGIN, zone(6, 'www A 192.0.2.1'))
    expect(local.serial(ORIGIN)).toBe(9)
    local.file(source, ORIGIN, zone(20, 'www A 192.0.2.1'))
    expect(local.serial(ORIGIN)).toBe(20)
  })

  test('do not go back when a text takes the place of a file', () => {
    const local = new LocalCatalog()
    const file = local.source(0, { plugin: 'file' })
    local.file(file, ORIGIN, zone(50))
    local.texts(1).put(KEY, zone(7))
    local.catalog.withdraw(file, ORIGIN)
    expect(local.serial(ORIGIN)).toBe(51)
  })
})

describe('two texts for one zone', () => {
  test('are told in one line, and the second takes over when the first goes', () => {
    const local = new LocalCatalog()
    const [first, second] = [local.source(0, { plugin: 'file' }), local.texts(1)]
    local.file(first, ORIGIN, zone(1, 'www A 192.0.2.1'))
    expect(second.put(KEY, zone(1, 'www A 192.0.2.2'))).toBe(true)
    second.put(KEY, zone(2, 'www A 192.0.2.3'))
    expect(local.ask(`www.${ORIGIN}`)).toBe('192.0.2.1')
    expect(local.problems).toEqual([
      'Cannot use "/zones/example.test" for example.test.: "db.example.test." comes first; remove one of them',
    ])
    local.catalog.withdraw(first, ORIGIN)
    expect(local.ask(`www.${ORIGIN}`)).toBe('192.0.2.3')
    local.file(first, ORIGIN, zone(1, 'www A 192.0.2.1'))
    expect(local.ask(`www.${ORIGIN}`)).toBe('192.0.2.1')
    expect(local.problems).toHaveLength(2)
    second.delete(KEY)
    expect(local.ask(`www.${ORIGIN}`)).toBe('192.0.2.1')
  })

  test('are told in one line also when the second was heard first', () => {
    const local = new LocalCatalog()
    local.texts(1).put(KEY, zone(1, 'www A 192.0.2.2'))
    local.file(local.source(0), ORIGIN, zone(1, 'www A 192.0.2.1'))
    expect(local.ask(`www.${ORIGIN}`)).toBe('192.0.2.1')
    expect(local.problems).toEqual([
      'Cannot use "/zones/example.test" for example.test.: "db.example.test." comes first; remove one of them',
    ])
  })
})

describe('what cannot be put into service', () => {
  function failOnce(local: LocalCatalog): void {
    vi.spyOn(local.zones.arena, 'allocate').mockImplementationOnce(() => {
      throw new Error('no room')
    })
  }

  test('leaves a zone as it is, and the next change brings everything', () => {
    const local = new LocalCatalog()
    const part = local.part(1, ORIGIN)
    const texts = local.texts(0)
    texts.put(KEY, largeZone(1, 'www A 192.0.2.1'))
    failOnce(local)
    // More than the blocks that are ready hold.
    part.set(Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`n${i}.${ORIGIN}`, ['A 192.0.2.2']])))
    expect(local.problems).toEqual([`Cannot change names of ${ORIGIN}: no room; it stays as it is`])
    expect(local.ask(`n7.${ORIGIN}`)).toBe('NXDOMAIN')
    expect(local.ask(`www.${ORIGIN}`)).toBe('192.0.2.1')
    part.set({ [`web.${ORIGIN}`]: ['A 192.0.2.3'] })
    expect(local.ask(`n7.${ORIGIN}`)).toBe('192.0.2.2')
    expect(local.ask(`web.${ORIGIN}`)).toBe('192.0.2.3')
  })

  test('is tried again after a while that grows, not at once', () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const local = new LocalCatalog()
    const part = local.part(1, ORIGIN)
    const allocate = vi.spyOn(local.zones.arena, 'allocate').mockImplementation(() => {
      throw new Error('no room')
    })
    const attempts = () => local.problems.filter((problem) => problem.startsWith('Cannot change names')).length
    part.set({ [`web.${ORIGIN}`]: ['A 192.0.2.1'] })
    expect(attempts()).toBe(1)
    for (let i = 0; i < 100; i++) part.set({ [`web${i}.${ORIGIN}`]: ['A 192.0.2.1'] })
    expect(attempts()).toBe(1)
    vi.advanceTimersByTime(3600_000)
    expect(attempts()).toBeGreaterThan(20)
    expect(attempts()).toBeLessThan(80)
    allocate.mockRestore()
    vi.advanceTimersByTime(60_000)
    expect(local.ask(`web99.${ORIGIN}`)).toBe('192.0.2.1')
  })

  test('is tried again also when it is the removal of a text', () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const local = new LocalCatalog()
    local.part(1, ORIGIN).set({ [`web.${ORIGIN}`]: ['A 192.0.2.1'] })
    const texts = local.texts(0)
    texts.put(KEY, largeZone(1, 'www A 192.0.2.2'))
    failOnce(local)
    texts.delete(KEY)
    expect(local.ask(`www.${ORIGIN}`)).toBe('192.0.2.2')
    vi.advanceTimersByTime(1000)
    expect(local.ask(`www.${ORIGIN}`)).toBe('NXDOMAIN')
    expect(local.ask(`web.${ORIGIN}`)).toBe('192.0.2.1')
  })

  test('of whole zones leaves room for the names of parts', () => {
    const local = new LocalCatalog()
    vi.spyOn(local.zones.arena, 'allocateZone').mockImplementation(() => {
      throw new Error('no room for zones')
    })
    local.part(1, ORIGIN).set({ [`web.${ORIGIN}`]: ['A 192.0.2.1'] })
    expect(local.ask(`web.${ORIGIN}`)).toBe('192.0.2.1')
  })

  test('refuses a text, also one whose changes are known name by name', () => {
    const local = new LocalCatalog()
    const texts = local.texts(0)
    texts.put(KEY, largeZone(1))
    failOnce(local)
    const more = Array.from({ length: 2000 }, (_, i) => `n${i} A 192.0.2.2`)
    expect(texts.put(KEY, largeZone(2, ...more))).toBe(false)
    expect(local.reports.at(-1)).toMatchObject({ kind: 'refused', keptSerial: 1 })
    expect(local.ask(`n7.${ORIGIN}`)).toBe('NXDOMAIN')
    expect(texts.put(KEY, largeZone(3, ...more, 'www A 192.0.2.3'))).toBe(true)
    expect(local.ask(`n7.${ORIGIN}`)).toBe('192.0.2.2')
    expect(local.ask(`www.${ORIGIN}`)).toBe('192.0.2.3')
  })
})

describe('records that expire', () => {
  const HOST = parseName(`host.${ORIGIN}`)
  const SERVICE = parseName(`service.${ORIGIN}`)
  const ALIAS = parseName(`alias.${ORIGIN}`)

  /** Address, service and alias, which end at second 1000. */
  function expiring(leastTtl: number): LocalCatalog {
    const local = new LocalCatalog()
    const options = { space: 0, rank: 0, plugin: 'skydns', style: PLAIN_STYLE, fallthrough: [], searches: false }
    const part = local.catalog.part({ ...options, leastTtl }, ORIGIN)
    const record = { ttl: 300, expiresAt: 1000 }
    part.set(HOST, [{ ...record, type: TYPE.A, rdata: Uint8Array.of(192, 0, 2, 1) }])
    part.set(SERVICE, [{ ...record, type: TYPE.SRV, rdata: Uint8Array.of(0, 1, 0, 1, 0, 80, ...HOST) }])
    part.set(ALIAS, [{ ...record, type: TYPE.CNAME, rdata: HOST }])
    part.commit(1)
    return local
  }

  /** All TTLs in the answer. */
  function ttls(local: LocalCatalog, name: string, type: number, now: number): number[] {
    local.zones.edns.nowSeconds = now
    const message = local.zones.ask(question(`${name}.${ORIGIN}`, type))
    if (typeof message !== 'object') throw new Error('no answer')
    return [...message.answers, ...message.additionals].map(({ ttlSeconds }) => ttlSeconds)
  }

  test.each([
    [0, 300],
    [700, 300],
    [701, 299],
    [960, 40],
    [990, 30],
    [5000, 30],
  ])('at second %i have %i s left, in every section', (now, left) => {
    const local = expiring(30)
    expect(ttls(local, 'host', TYPE.A, now)).toEqual([left])
    expect(ttls(local, 'service', TYPE.SRV, now)).toEqual([left, left])
    expect(ttls(local, 'alias', TYPE.A, now)).toEqual([left, left])
  })

  test('end at 0 where nothing else is said', () => {
    expect(ttls(expiring(0), 'host', TYPE.A, 999)).toEqual([1])
    expect(ttls(expiring(0), 'host', TYPE.A, 2000)).toEqual([0])
  })
})

describe('slots of counters', () => {
  test('stay with a zone that goes and comes back', () => {
    const local = new LocalCatalog()
    const texts = local.texts(0)
    for (let i = 0; i < 3; i++) {
      texts.put(KEY, zone(i + 1))
      texts.put('other.test', zone(i + 1))
      texts.delete(KEY)
    }
    const slots = local.reports.flatMap((report) => (report.kind === 'zone' ? [`${report.origin} ${report.slot}`] : []))
    expect([...new Set(slots)]).toEqual(['example.test. 1', 'other.test. 2'])
  })
})
