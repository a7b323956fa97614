// Random bytes and damaged queries, answered from a broad set of zones. Whatever comes in: no throw, nothing written
// outside the response, and a response that is a message within its limits. What is a proper query gets an answer.

import { readdirSync, readFileSync } from 'node:fs'
import { decodeMessage } from '../../src/dns/message.ts'
import { parseName } from '../../src/dns/name.ts'
import { RCODE, TYPE } from '../../src/dns/types.ts'
import { textSource } from '../../src/dns/zonefile/format.ts'
import { parseZoneFile } from '../../src/dns/zonefile/parse.ts'
import type { View } from '../../src/zone/query.ts'
import { classify } from './classify.ts'
import { GuardedAnswers, TCP_CAPACITY, UDP_CAPACITY } from './guarded-answers.ts'
import { mutateMessage } from './mutate.ts'
import { below, ROOT_KEY } from './names.ts'
import { queryPacket } from './query-packet.ts'
import { Random } from './random.ts'
import { mixCase, NamePool, randomZone } from './random-zone.ts'
import type { PlainRecord, PlainZone } from './reference-zone.ts'
import { assert, decoded, hex, SALT, type Target } from './target.ts'

const CONFORMANCE_ZONES = new URL('../conformance/zones/', import.meta.url)
const CASES_PER_CHECKSUM = 20_000
const HEADER_BYTES = 12
const OPTIONS = { nsid: 3, cookie: 10, keepalive: 11, padding: 12 } as const
const TYPES = [...Object.values(TYPE), 0, 65_280, 65_535]

interface Case {
  readonly packet: Uint8Array
  readonly tcp: boolean
  readonly views: readonly View[]
}

export class MessagesTarget implements Target {
  readonly name = 'messages'
  readonly #seed: number
  readonly #answers = new GuardedAnswers()
  readonly #owners: Uint8Array[] = []
  readonly #checksum: number

  constructor(seed: number) {
    this.#seed = seed
    const random = new Random(seed, SALT.messages)
    const pool = new NamePool(random, [
      below('fuzz', ROOT_KEY),
      below('other', ROOT_KEY),
      below('w', below('other', ROOT_KEY)),
    ])
    const zones = [...conformanceZones(), ...pool.origins.map((origin) => randomZone(random, origin, pool))]
    for (const zone of zones) {
      this.#answers.add(zone)
      this.#answers.add(zone, 1)
      this.#owners.push(...new Set(zone.records.map(({ owner }) => owner)))
    }
    this.#answers.addFailed(parseName('failed.example.'))
    this.#owners.push(parseName('failed.example.'), parseName('version.bind.'), parseName('id.server.'))
    this.#checksum = this.#answers.arenaChecksum()
  }

  run(index: number): void {
    const { packet, tcp, views } = this.#case(index)
    const response = this.#answers.ask(packet, views, tcp)
    check(packet, response, tcp, views)
    if (index % CASES_PER_CHECKSUM === 0)
      assert(this.#answers.arenaChecksum() === this.#checksum, 'the arena was changed by answering')
  }

  describe(index: number): string {
    const { packet, tcp, views } = this.#case(index)
    const settings = views.map(({ handsOver, minimalAny, udpBytes }) =>
      JSON.stringify({ handsOver, minimalAny, udpBytes }),
    )
    return `${hex(packet)}\n; over ${tcp ? 'TCP' : 'UDP'}, views ${settings.join(' ')}\n`
  }

  #case(index: number): Case {
    const random = new Random(this.#seed, SALT.messages, index)
    const tcp = random.chance(0.3)
    const views = random.chance(0.7)
      ? [randomView(random, 0, [Uint8Array.of(0)])]
      : [
          randomView(random, 0, [parseName('example.')]),
          randomView(random, 1, [parseName('fuzz.'), parseName('a.example.')]),
        ]
    const packet = this.#packet(random).subarray(0, tcp ? TCP_CAPACITY : UDP_CAPACITY)
    return { packet, tcp, views }
  }

  #packet(random: Random): Uint8Array {
    const kind = random.below(20)
    if (kind === 0) return random.bytes(random.below(100))
    if (kind === 1)
      return Uint8Array.from([...random.bytes(2), 0, 0, 0, 1, 0, 0, 0, 0, 0, random.below(2), ...random.bytes(60)])
    const query = this.#query(random)
    return kind < 8 ? query : mutateMessage(random, query, this.#query(random))
  }

  #query(random: Random): Uint8Array {
    const edns = random.chance(0.6)
      ? {
          udpBytes: random.pick([0, 511, 512, 1232, 4096, 65_535, random.below(65_536)]),
          dnssecOk: random.chance(0.5),
          options: randomOptions(random),
        }
      : undefined
    return queryPacket({
      id: random.below(65_536),
      name: this.#name(random),
      type: random.chance(0.5) ? random.pick([TYPE.A, TYPE.NS, TYPE.MX, TYPE.ANY, TYPE.DS]) : random.pick(TYPES),
      klass: random.chance(0.9) ? 1 : random.pick([0, 3, 4, 254, 255]),
      recursionDesired: random.chance(0.5),
      ...(edns === undefined ? {} : { edns }),
    })
  }

  /** An owner, something above it, or something below, up to as long as a name can be and sometimes longer. */
  #name(random: Random): Uint8Array {
    const owner = random.pick(this.#owners)
    const kind = random.below(4)
    if (kind === 0) return owner.slice(owner[0] === 0 ? 0 : owner[0] + 1)
    if (kind > 1) return owner
    let name = Buffer.from(owner).toString('latin1')
    for (let more = random.chance(0.1) ? 127 : random.between(1, 2); more > 0; more--) {
      const longer = below(random.pick(['x', '*', 'ns', '\0', 'y'.repeat(63)]), name)
      if (longer.length > (random.chance(0.1) ? 260 : 255)) break
      name = longer
    }
    return mixCase(random, name)
  }
}

function conformanceZones(): PlainZone[] {
  const files = readdirSync(CONFORMANCE_ZONES).filter((file) => file.endsWith('.zone'))
  return files.sort().map((file) => {
    const origin = parseName(file.replace(/zone$/, ''))
    const records: PlainRecord[] = []
    parseZoneFile(
      textSource(readFileSync(new URL(file, CONFORMANCE_ZONES))),
      { file, origin },
      {
        record(owner, ownerLength, type, _klass, ttl, rdata, rdataLength) {
          records.push({ owner: owner.slice(0, ownerLength), ttl, type, rdata: rdata.slice(0, rdataLength) })
        },
      },
    )
    return { origin, records, fallthrough: file.startsWith('wild') }
  })
}

function randomView(random: Random, space: number, zones: readonly Uint8Array[]): View {
  // Beside the longest question there is room for an identifier of 198 bytes in 512.
  const text = () => (random.chance(0.5) ? random.bytes(random.pick([0, 5, 64, 198])) : undefined)
  return {
    block: space,
    space,
    zones,
    udpBytes: random.pick([512, 1232, 4096]),
    rotate: random.chance(0.5),
    minimalAny: random.chance(0.5),
    handsOver: random.chance(0.3),
    searches: false,
    handoverRcodes: random.chance(0.1) ? (1 << RCODE.SERVFAIL) | (1 << RCODE.NXDOMAIN) : 0,
    nsid: text(),
    version: text(),
    hostname: text(),
  }
}

function randomOptions(random: Random): Uint8Array {
  const options: number[] = []
  for (let count = random.below(4); count > 0; count--) {
    const code = random.chance(0.8) ? random.pick(Object.values(OPTIONS)) : random.below(65_536)
    const length = code === OPTIONS.cookie ? random.pick([8, 16, 24, 40, random.below(50)]) : random.below(12)
    options.push(code >> 8, code & 255, 0, length, ...random.bytes(length))
  }
  return Uint8Array.from(options)
}

function check(
  packet: Uint8Array,
  response: Uint8Array | 'elsewhere' | undefined,
  tcp: boolean,
  views: readonly View[],
): void {
  const isQuery = packet.length >= HEADER_BYTES && packet[2] < 0x80
  if (response === undefined) return assert(!isQuery, 'a query got no answer')
  assert(isQuery, 'something that is not a query got an answer')
  const { kind, questionEnd } = classify(packet)
  if (response === 'elsewhere') {
    const handsOver = views.some((view) => view.handsOver || view.handoverRcodes !== 0)
    return assert(handsOver && (kind === 'proper' || kind === 'other'), `handed over, though ${kind}`)
  }
  const message = decoded(response)
  assert(message.qr && message.id === ((packet[0] << 8) | packet[1]), 'QR or the id is wrong')
  assert(message.opcode === ((packet[2] >> 3) & 15), 'the opcode is not the one of the query')
  // RD and CD are copied from a query; of other opcodes their meaning is not known.
  const isOpcodeQuery = message.opcode === 0
  assert(message.rd === (isOpcodeQuery && (packet[2] & 1) !== 0), 'RD is wrong')
  assert(message.cd === (isOpcodeQuery && (packet[3] & 16) !== 0), 'CD is wrong')
  assert(!message.ra && !message.z && !message.ad, 'RA, Z or AD is wrong')
  assert(response.length <= mostBytes(packet, tcp, views), `${response.length} bytes are too many`)
  assert(!message.tc || !tcp, 'truncated over TCP')
  const { rcode } = message
  if (kind === 'malformed') assert(rcode === RCODE.FORMERR, `rcode ${rcode} for a malformed query`)
  if (kind === 'not implemented') assert(rcode === RCODE.NOTIMP, `rcode ${rcode} for another opcode`)
  if (kind !== 'proper') return
  assert(rcode !== RCODE.FORMERR && rcode !== RCODE.NOTIMP, `rcode ${rcode} for a proper query`)
  const question = hex(packet.subarray(HEADER_BYTES, questionEnd))
  assert(hex(response.subarray(HEADER_BYTES, questionEnd)) === question, 'the question is not repeated')
  const hasEdns = packet.length > questionEnd
  assert((message.edns !== undefined) === hasEdns, 'EDNS is not answered with EDNS')
}

/** Without EDNS 512; with it what both sides allow. */
function mostBytes(packet: Uint8Array, tcp: boolean, views: readonly View[]): number {
  if (tcp) return TCP_CAPACITY
  const query = decodeMessage(packet)
  if (typeof query === 'string') return UDP_CAPACITY
  if (query.edns === undefined) return 512
  return Math.min(Math.max(query.edns.udpBytes, 512), Math.max(...views.map(({ udpBytes }) => udpBytes)))
}
