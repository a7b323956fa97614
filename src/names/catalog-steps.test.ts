// A catalog whose work is interrupted after every step: what is in service in the end is what it would be otherwise.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LocalCatalog, type LocalPart } from '../../test/support/local-catalog.ts'
import { STEP_SIZE } from '../dns/steps.ts'
import { TYPE } from '../dns/types.ts'
import type { ZoneOffer, ZoneSource } from './offer.ts'
import { loadZoneTextSteps } from './load-zone.ts'
import { EtcdZones } from './sources/etcd-zones.ts'
import { WorkQueue } from './work-queue.ts'

const ORIGIN = 'example.test.'
const HEAD = '$TTL 300\n@ SOA ns hostmaster 1 3600 600 86400 60\n@ NS ns\nns A 192.0.2.53\n'

function zone(records: number, address: string): string {
  return `${HEAD}${Array.from({ length: records }, (_, i) => `host${i} A ${address}\n`).join('')}`
}

/** Every step is a turn of its own, taken by hand. */
class SlowCatalog {
  readonly #deferred: (() => void)[] = []
  readonly local: LocalCatalog
  readonly #source: ZoneSource
  readonly #zones: EtcdZones
  #revision = 0n

  constructor(rank = 1) {
    const work = new WorkQueue({ sliceMs: 0, now: () => 0, defer: (run) => this.#deferred.push(run) })
    this.local = new LocalCatalog({ work })
    this.#source = this.local.source(rank)
    this.#zones = new EtcdZones({
      ...{ prefix: '/', maxRecords: 100_000 },
      onZone: (origin, offer) => this.local.catalog.offer(this.#source, origin, offer),
      onGone: (origin) => this.local.catalog.withdraw(this.#source, origin),
      onProblem: () => undefined,
    })
  }

  put(text: string | undefined): boolean | Promise<boolean> {
    const value = text === undefined ? undefined : Buffer.from(text)
    return this.#zones.apply({ key: Buffer.from('/example.test'), value, modRevision: ++this.#revision, lease: 0n })
  }

  file(text: string): boolean | Promise<boolean> {
    const offer: ZoneOffer = {
      label: 'db',
      *load(origin, options) {
        const { zone: builder, ...loaded } = yield* loadZoneTextSteps(Buffer.from(text), 'db', origin, options)
        return { ...loaded, builder }
      },
    }
    return this.local.catalog.offer(this.#source, ORIGIN, offer)
  }

  /** So many turns; false when there was nothing left to do. */
  turn(count = 1): boolean {
    for (let i = 0; i < count; i++) {
      const runs = this.#deferred.splice(0)
      if (runs.length === 0) return false
      for (const run of runs) run()
    }
    return true
  }

  finish(): void {
    while (this.turn());
  }
}

describe('while a large text is read', () => {
  test('names of other zones and of its own change at once', async () => {
    const slow = new SlowCatalog()
    const part = slow.local.part(0, ORIGIN)
    const primary = slow.local.part(0, 'pg.test.')
    part.set({ 'web.example.test.': ['A 192.0.2.1'] })
    primary.set({ 'primary.pg.test.': ['A 10.0.0.1'] })
    slow.finish()
    const verdict = slow.put(zone(3000, '192.0.2.9'))
    for (let i = 2; slow.turn(); i++) {
      primary.set({ 'primary.pg.test.': [`A 10.0.${i >> 8}.${i & 255}`] })
      part.set({ 'web.example.test.': [`A 192.0.${i >> 8}.${i & 255}`] })
      expect(slow.local.ask('primary.pg.test.')).toBe(`10.0.${i >> 8}.${i & 255}`)
      expect(slow.local.ask('web.example.test.')).toBe(`192.0.${i >> 8}.${i & 255}`)
      if (i > 2000) break
    }
    slow.finish()
    expect(await verdict).toBe(true)
    expect(slow.local.ask('host7.example.test.')).toBe('192.0.2.9')
  })

  test('the newest of those that come meanwhile is next, and the others are not remembered', async () => {
    const slow = new SlowCatalog()
    const first = slow.put(zone(3000, '192.0.2.1'))
    slow.turn(20)
    const second = slow.put(zone(1000, '192.0.2.2'))
    slow.turn(5)
    const third = slow.put(zone(2000, '192.0.2.3'))
    slow.finish()
    expect(await Promise.all([first, second, third])).toEqual([true, false, true])
    expect(slow.local.ask('host7.example.test.')).toBe('192.0.2.3')
    expect(slow.local.ask('host2500.example.test.')).toBe('NXDOMAIN')
    expect(slow.local.reports.filter(({ kind }) => kind === 'zone')).toHaveLength(2)
  })

  test('it comes into service though the next one is refused', async () => {
    const slow = new SlowCatalog()
    void slow.put(zone(10, '192.0.2.1'))
    slow.finish()
    const good = slow.put(zone(3000, '192.0.2.2'))
    slow.turn(20)
    const broken = slow.put('nonsense')
    slow.finish()
    expect(await Promise.all([good, broken])).toEqual([true, false])
    expect(slow.local.ask('host7.example.test.')).toBe('192.0.2.2')
  })

  test('the last good one comes into service when those that came after it are refused', async () => {
    const slow = new SlowCatalog()
    const first = slow.put(zone(3000, '192.0.2.1'))
    slow.turn(20)
    const good = slow.put(zone(1000, '192.0.2.2'))
    const broken = [slow.put('nonsense'), slow.put('more nonsense')]
    slow.finish()
    expect(await Promise.all([first, good, ...broken])).toEqual([true, true, false, false])
    expect(slow.local.ask('host7.example.test.')).toBe('192.0.2.2')
  })

  test('the newest comes into service when the one before it is refused', async () => {
    const slow = new SlowCatalog()
    void slow.put(zone(3000, '192.0.2.1'))
    slow.turn(20)
    const older = slow.put(zone(1000, '192.0.2.2'))
    void slow.put('nonsense')
    slow.turn(400)
    const newest = slow.put(zone(10, '192.0.2.3'))
    slow.finish()
    expect(await newest).toBe(true)
    expect(typeof (await older)).toBe('boolean')
    expect(slow.local.ask('host7.example.test.')).toBe('192.0.2.3')
  })

  test('it comes into service though it is edited all the time', () => {
    const slow = new SlowCatalog()
    const seen = new Set<string>()
    for (let i = 1; i <= 200; i++) {
      void slow.put(zone(1500, `192.0.2.${i}`))
      slow.turn(5)
      seen.add(slow.local.ask('host7.example.test.'))
    }
    expect(seen.size).toBeGreaterThan(5)
  })

  test('it is given up when its source has it no longer', async () => {
    const slow = new SlowCatalog()
    slow.local.part(0, ORIGIN).set({ 'web.example.test.': ['A 192.0.2.9'] })
    slow.finish()
    const verdicts = [slow.put(zone(3000, '192.0.2.1')), slow.put(zone(3000, '192.0.2.2'))]
    slow.turn(5)
    void slow.put(undefined)
    const again = slow.put('nonsense')
    slow.finish()
    expect(await Promise.all([...verdicts, again])).toEqual([false, false, false])
    expect(slow.local.ask('host7.example.test.')).toBe('NXDOMAIN')
    expect(slow.local.ask('web.example.test.')).toBe('192.0.2.9')
  })

  test('its zone is known, and fails until it has been read', () => {
    const slow = new SlowCatalog()
    void slow.put(zone(3000, '192.0.2.1'))
    slow.local.catalog.awaitTexts()
    expect(slow.local.ask('host7.example.test.')).toBe('SERVFAIL')
    expect(slow.local.reports).toMatchObject([{ kind: 'awaited', origin: ORIGIN, plugin: 'etcd' }])
    slow.finish()
    expect(slow.local.ask('host7.example.test.')).toBe('192.0.2.1')
  })

  test('its removal leaves nothing behind', async () => {
    const slow = new SlowCatalog()
    const used = slow.local.zones.arena.usedBytes
    for (const turns of [1, 5, 15, 25]) {
      const verdict = slow.put(zone(3000, '192.0.2.1'))
      slow.turn(turns)
      void slow.put(undefined)
      expect(await verdict).toBe(false)
      expect(slow.local.ask(ORIGIN)).toBe('REFUSED')
    }
    slow.finish()
    slow.local.zones.directory.reclaim()
    expect(slow.local.zones.arena.usedBytes).toBe(used)
  })

  test('the version in service stays when it is refused', async () => {
    const slow = new SlowCatalog()
    void slow.put(zone(10, '192.0.2.1'))
    slow.finish()
    const verdict = slow.put(`${zone(3000, '192.0.2.2')}host1 CNAME host2\n`)
    slow.finish()
    expect(await verdict).toBe(false)
    expect(slow.local.ask('host7.example.test.')).toBe('192.0.2.1')
  })
})

test('names that nobody had a place for are put into service, whatever becomes of the text', async () => {
  const slow = new SlowCatalog()
  const part = slow.local.part(0, ORIGIN)
  const text = slow.put(zone(3000, '192.0.2.1'))
  slow.turn(60)
  part.set({ 'web.example.test.': ['A 192.0.2.2'] })
  const refused = slow.put('nonsense')
  slow.finish()
  expect([await text, await refused]).toEqual([true, false])
  expect(slow.local.ask('web.example.test.')).toBe('192.0.2.2')
})

test('more names than readers could wait for come into service together', () => {
  const slow = new SlowCatalog()
  const part = slow.local.part(0, ORIGIN)
  const names = (address: string) =>
    Object.fromEntries(Array.from({ length: 11_000 }, (_, i) => [`n${i}.${ORIGIN}`, [`A ${address}`]]))
  part.set(names('192.0.2.1'))
  slow.finish()
  part.set(names('192.0.2.2'))
  while (slow.turn()) {
    const [first, last] = [slow.local.ask(`n0.${ORIGIN}`), slow.local.ask(`n10999.${ORIGIN}`)]
    expect(first).toBe(last)
  }
  expect(slow.local.ask(`n5000.${ORIGIN}`)).toBe('192.0.2.2')
})

test('a change of one name with many records is made in steps', async () => {
  const slow = new SlowCatalog()
  const crowd = (first: string) =>
    `${zone(600, '192.0.2.1')}${Array.from({ length: 9000 }, (_, i) => `crowd TYPE${65_280 + (i % 9)} \\# 4 ${i === 0 ? first : i.toString(16).padStart(8, '0')}\n`).join('')}`
  void slow.put(crowd('ffff0001'))
  slow.finish()
  const verdict = slow.put(crowd('ffff0002'))
  let turns = 0
  while (slow.turn()) turns++
  expect(await verdict).toBe(true)
  expect(turns).toBeGreaterThan(9000 / STEP_SIZE)
  expect(slow.local.ask(`crowd.${ORIGIN}`, 65_280).slice(0, 13)).toBe('\\# 4 FFFF0002')
})

test('whatever changes while work is under way, the end is the same', () => {
  const name = fc.constantFrom('host1', 'host2', 'web', 'a.b', '*')
  const address = fc.integer({ min: 1, max: 4 }).map((n) => `192.0.2.${n}`)
  const event = fc.oneof(
    fc.record({ kind: fc.constant('text' as const), records: fc.constantFrom(3, 600, 1200), address }),
    fc.record({ kind: fc.constant('gone' as const) }),
    fc.record({ kind: fc.constant('refused' as const) }),
    fc.record({ kind: fc.constant('names' as const), which: fc.nat(1), name, address: fc.option(address) }),
    fc.record({ kind: fc.constant('turns' as const), count: fc.integer({ min: 1, max: 30 }) }),
  )
  fc.assert(
    fc.property(fc.array(event, { maxLength: 25 }), fc.boolean(), (events, isFile) => {
      const slow = new SlowCatalog()
      const fast = new LocalCatalog()
      const fastTexts = fast.texts(1)
      const fastSource = fast.source(1)
      const parts = (local: LocalCatalog): LocalPart[] => [local.part(0, ORIGIN), local.part(2, ORIGIN)]
      const [slowParts, fastParts] = [parts(slow.local), parts(fast)]
      let serial = 0
      const good = new Set<string>()
      const put = (text: string) => {
        if (isFile) {
          void slow.file(text)
          fast.file(fastSource, ORIGIN, text)
        } else {
          void slow.put(text)
          fastTexts.put('example.test', text)
        }
      }
      const putGood = (records: number, of: string) => {
        good.add(of)
        put(`${zone(records, of).replace('hostmaster 1', `hostmaster ${++serial}`)}@ TXT ${of}\n`)
      }
      for (const each of events) {
        if (each.kind === 'turns') slow.turn(each.count)
        else if (each.kind === 'names') {
          const change = { [`${each.name}.${ORIGIN}`]: each.address === null ? [] : [`A ${each.address}`] }
          slowParts[each.which].set(change)
          fastParts[each.which].set(change)
        } else if (each.kind === 'gone') {
          if (isFile) continue
          void slow.put(undefined)
          fastTexts.delete('example.test')
          good.clear()
        } else if (each.kind === 'refused') put(`${HEAD}host1 A nowhere\n`)
        else putGood(each.records, each.address)
      }
      slow.finish()
      // A file that waited when another one came is not read, and of many texts that wait the oldest are dropped.
      const textOf = (local: LocalCatalog) => /192\.0\.2\.\d/.exec(local.ask(ORIGIN, TYPE.TXT))?.[0] ?? 'none'
      const served = textOf(slow.local)
      const last = events.findLast(({ kind }) => kind === 'refused' || kind === 'text' || (kind === 'gone' && !isFile))
      const texts = events.filter(({ kind }) => kind === 'refused' || kind === 'text')
      if (last?.kind === 'refused' && (isFile || texts.length > 8)) expect([...good, 'none']).toContain(served)
      else expect(served).toBe(textOf(fast))
      putGood(3, '192.0.2.5')
      slow.finish()
      for (const asked of ['host1', 'host2', 'host700', 'web', 'a.b', 'x.y', 'ns'])
        expect(slow.local.ask(`${asked}.${ORIGIN}`), asked).toBe(fast.ask(`${asked}.${ORIGIN}`))
    }),
    { numRuns: 60 },
  )
}, 120_000)
