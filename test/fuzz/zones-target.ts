// Random zones, random questions, and the answers held against the reference. Questions come many to a set of zones,
// because zones are what costs time to make. Each is asked over TCP, where everything fits, and over UDP.

import type { Message } from '../../src/dns/message.ts'
import { formatName } from '../../src/dns/name.ts'
import { TYPE, typeName } from '../../src/dns/types.ts'
import { formatRecord } from '../../src/dns/zonefile/format.ts'
import type { View } from '../../src/zone/query.ts'
import { GuardedAnswers } from './guarded-answers.ts'
import { keyOf } from './names.ts'
import { queryPacket } from './query-packet.ts'
import { Random } from './random.ts'
import { mixCase, type NamePool, randomZones } from './random-zone.ts'
import { type Expected, keyOfRecord, lookup } from './reference.ts'
import { type PlainZone, ReferenceZone } from './reference-zone.ts'
import { assert, decoded, SALT, type Target } from './target.ts'

const QUESTIONS_PER_ZONES = 200
/** Answers whose records add up to less must fit into a TCP message. */
const SURE_TO_FIT_BYTES = 60_000

const TYPES = [
  ...[TYPE.A, TYPE.A, TYPE.A, TYPE.AAAA, TYPE.NS, TYPE.CNAME, TYPE.DNAME, TYPE.SOA, TYPE.MX, TYPE.TXT, TYPE.SRV],
  ...[
    TYPE.DS,
    TYPE.DS,
    TYPE.ANY,
    TYPE.RRSIG,
    TYPE.NSEC,
    TYPE.NSEC3,
    TYPE.HTTPS,
    TYPE.SVCB,
    TYPE.PTR,
    TYPE.CAA,
    65_280,
    65_281,
  ],
]

interface World {
  readonly zones: readonly PlainZone[]
  readonly pool: NamePool
  readonly reference: readonly ReferenceZone[]
  readonly answers: GuardedAnswers
}

interface Question {
  readonly name: Uint8Array
  readonly type: number
  readonly dnssecOk: boolean
  readonly udpBytes: number
  readonly view: View
  readonly packet: Uint8Array
}

export class ZonesTarget implements Target {
  readonly name = 'zones'
  readonly #seed: number
  #worldIndex = -1
  #world: World | undefined

  constructor(seed: number) {
    this.#seed = seed
  }

  run(index: number): void {
    const world = this.#worldOf(index)
    const question = this.#question(index, world)
    const expected = lookup(world.reference, {
      name: keyOf(question.name),
      type: question.type,
      dnssecOk: question.dnssecOk,
      minimalAny: question.view.minimalAny,
      handsOver: question.view.handsOver,
    })
    const overTcp = world.answers.ask(question.packet, [question.view], true)
    const overUdp = world.answers.ask(question.packet, [question.view], false)
    assert(overTcp !== undefined && overUdp !== undefined, 'no answer at all')
    assert((overTcp === 'elsewhere') === expected.elsewhere, `for the forwarders: expected ${expected.elsewhere}`)
    if (overTcp === 'elsewhere') return assert(overUdp === 'elsewhere' || decoded(overUdp).tc, 'answered over UDP only')
    assert(overUdp !== 'elsewhere', 'for the forwarders over UDP only')
    const tcp = decoded(overTcp)
    const udp = decoded(overUdp)
    if (tcp.tc) assert(bytesOf(expected) > SURE_TO_FIT_BYTES, 'truncated over TCP')
    else compare(tcp, expected, 'all')
    assert(overUdp.length <= question.udpBytes, `${overUdp.length} bytes over UDP, at most ${question.udpBytes} wanted`)
    if (udp.tc) assert(tcp.tc || overTcp.length > question.udpBytes, 'truncated over UDP without need')
    else compare(udp, expected, 'some')
    assert(udp.rcode === expected.rcode || udp.tc, `rcode ${udp.rcode} over UDP, expected ${expected.rcode}`)
  }

  describe(index: number): string {
    const { zones } = this.#worldOf(index)
    const { name, type, dnssecOk, udpBytes, view } = this.#question(index, this.#worldOf(index))
    const texts = zones.map(
      ({ origin, records, fallthrough }) =>
        `; zone ${formatName(origin)}${fallthrough ? ' with fallthrough' : ''}\n${records.map((r) => `${formatRecord(r.owner, r.ttl, r.type, r.rdata)}\n`).join('')}`,
    )
    const options = `do=${dnssecOk} udp=${udpBytes} minimalAny=${view.minimalAny} handsOver=${view.handsOver}`
    return `${texts.join('\n')}\n; question ${formatName(name)} ${typeName(type)} ${options}\n`
  }

  #worldOf(index: number): World {
    const worldIndex = Math.floor(index / QUESTIONS_PER_ZONES)
    if (this.#world === undefined || worldIndex !== this.#worldIndex) {
      const { zones, pool } = randomZones(new Random(this.#seed, SALT.zones, worldIndex))
      const answers = new GuardedAnswers()
      const random = new Random(this.#seed, SALT.patches, worldIndex)
      for (const zone of zones) answers.add(zone, 0, random.chance(0.5) ? random : undefined)
      this.#world = { zones, pool, reference: zones.map((zone) => new ReferenceZone(zone)), answers }
      this.#worldIndex = worldIndex
    }
    return this.#world
  }

  #question(index: number, { zones, pool }: World): Question {
    const random = new Random(this.#seed, SALT.zones, -1 - index)
    const record = random.pick(random.pick(zones).records)
    const name = random.chance(0.4)
      ? record.owner
      : mixCase(random, pool.name(random, undefined, random.chance(0.02) ? 40 : 6))
    const type = random.chance(0.3) ? record.type : random.pick(TYPES)
    const dnssecOk = random.chance(0.4)
    const edns = dnssecOk || random.chance(0.5)
    const view: View = {
      block: 0,
      space: 0,
      zones: [Uint8Array.of(0)],
      udpBytes: random.pick([512, 1232, 4096]),
      rotate: random.chance(0.5),
      minimalAny: random.chance(0.5),
      handsOver: random.chance(0.2),
      searches: false,
      handoverRcodes: 0,
      nsid: undefined,
      version: undefined,
      hostname: undefined,
    }
    const asked = random.pick([512, 1232, 4096])
    const packet = queryPacket({
      id: random.below(65_536),
      name,
      type,
      klass: 1,
      recursionDesired: random.chance(0.5),
      ...(edns ? { edns: { udpBytes: asked, dnssecOk, options: new Uint8Array(0) } } : {}),
    })
    return { name, type, dnssecOk, udpBytes: edns ? Math.min(asked, view.udpBytes) : 512, view, packet }
  }
}

/** Additional records may be left out where room is short. */
function compare(message: Message, expected: Expected, additionals: 'all' | 'some'): void {
  assert(message.rcode === expected.rcode, `rcode ${message.rcode}, expected ${expected.rcode}`)
  assert(message.aa === expected.aa, `aa ${message.aa}, expected ${expected.aa}`)
  compareSection('answer', message.answers.map(keyOfRecord), expected.answers)
  compareSection('authority', message.authorities.map(keyOfRecord), expected.authorities)
  const told = message.additionals.map(keyOfRecord)
  const wanted = additionals === 'all' ? expected.additionals : expected.additionals.filter((key) => told.includes(key))
  compareSection('additional', told, wanted)
  assert(
    expected.glue.every((key) => told.includes(key)),
    'glue is missing without TC',
  )
}

function compareSection(section: string, found: readonly string[], expected: readonly string[]): void {
  const [left, right] = [found.toSorted(), expected.toSorted()]
  if (left.join('\n') === right.join('\n')) return
  throw new Error(`${section} section:\n  ${left.join('\n  ')}\nexpected:\n  ${right.join('\n  ')}`)
}

function bytesOf({ answers, authorities }: Expected): number {
  return [...answers, ...authorities].reduce((sum, key) => sum + key.length / 2, 0)
}
