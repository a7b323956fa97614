import { describe, expect, test } from 'vitest'
import { question } from '../../test/support/fault-server.ts'
import { LocalZones } from '../../test/support/local-answer.ts'
import { parseName } from '../dns/name.ts'
import { TYPE } from '../dns/types.ts'
import { compileZone } from './compile.ts'
import type { CompiledZone } from './compile.ts'
import { ZoneEdits } from './edits.ts'
import { HEADER } from './layout.ts'

const ORIGIN = parseName('example.')
const SOA = Uint8Array.of(1, 0x61, 0, 1, 0x62, 0, ...new Uint8Array(20))
/** As long as etcd lets a lease be, from the present on. */
const LONGEST_LEASE = 1_800_000_000 + 9_000_000_000

class Fixture {
  readonly zones = new LocalZones()
  readonly compiled: CompiledZone

  constructor(leastTtl = 0) {
    const edits = new ZoneEdits(ORIGIN)
    edits.add(ORIGIN, TYPE.SOA, 60, SOA)
    const options = { space: 0, slot: 1, fallthrough: false, leastTtl }
    this.compiled = compileZone(edits.builder, this.zones.arena, options)
  }

  get version(): number {
    return this.zones.arena.words[HEADER.version]
  }

  setAddress(expiresAt?: number): void {
    const edits = new ZoneEdits(ORIGIN)
    edits.add(parseName('a.example.'), TYPE.A, 60, Uint8Array.of(192, 0, 2, 1), expiresAt)
    this.zones.directory.patch(this.compiled, edits)
  }

  publish(): void {
    this.zones.directory.publish(this.compiled)
  }

  ttlAt(nowSeconds: number): unknown {
    this.zones.edns.nowSeconds = nowSeconds
    const answer = this.zones.ask(question('a.example.', TYPE.A))
    return typeof answer === 'object' ? answer.answers[0]?.ttlSeconds : answer
  }
}

describe('changing single names', () => {
  test('gives readers nothing to wait for while the zone is not in service', () => {
    const fixture = new Fixture()
    fixture.setAddress()
    expect(fixture.version).toBe(0)
    fixture.publish()
    fixture.setAddress()
    expect(fixture.version).toBe(2)
  })

  test.each([
    [LONGEST_LEASE, 1_800_000_000, 60],
    [2 ** 31 + 100, 1_800_000_000, 60],
    [2 ** 31 + 100, 2 ** 31 + 90, 10],
    [2 ** 31 + 100, 2 ** 31 + 200, 0],
  ])('a TTL of 60 that expires at %d is, at %d, %d', (expiresAt, now, ttl) => {
    const fixture = new Fixture()
    fixture.setAddress(expiresAt)
    fixture.publish()
    expect(fixture.ttlAt(now)).toBe(ttl)
  })

  test('the least TTL of records that expire may be as long as TTLs can be', () => {
    const fixture = new Fixture(2 ** 32 - 1)
    fixture.setAddress(1_800_000_010)
    fixture.publish()
    expect(fixture.ttlAt(1_800_000_000)).toBe(60)
  })
})
