// The product's answering in this process, watched: the response buffer has guard bytes on both sides, and the arena
// must stay as it was.

import { TYPE } from '../../src/dns/types.ts'
import { answer, ELSEWHERE, SILENCE } from '../../src/zone/answer.ts'
import { Arena } from '../../src/zone/arena.ts'
import { ZoneBuilder } from '../../src/zone/build.ts'
import { checkZone } from '../../src/zone/check.ts'
import { compileFailedZone, compileZone } from '../../src/zone/compile.ts'
import type { CompileOptions } from '../../src/zone/compile.ts'
import { Directory } from '../../src/zone/directory.ts'
import { ZoneEdits } from '../../src/zone/edits.ts'
import { EdnsContext } from '../../src/zone/edns.ts'
import { Control } from '../../src/zone/epoch.ts'
import { Query, type View } from '../../src/zone/query.ts'
import type { Random } from './random.ts'
import { keyOf } from './names.ts'
import type { PlainRecord, PlainZone } from './reference-zone.ts'

export const UDP_CAPACITY = 4096
export const TCP_CAPACITY = 65_535
const GUARD_BYTES = 600
const GUARD = 0xa5
const CLASS_IN = 1

export class GuardedAnswers {
  readonly #arena = new Arena(1 << 18)
  readonly #directory = new Directory(this.#arena, Control.create(1))
  readonly #query = new Query()
  readonly #edns = new EdnsContext(
    Uint8Array.from({ length: 16 }, (_, i) => i),
    100,
  )
  readonly #udp = guarded(UDP_CAPACITY)
  readonly #tcp = guarded(TCP_CAPACITY)

  /** `random`: the zone gets where it should be by changes of single names, if it is of the kind that can. */
  add(zone: PlainZone, space = 0, random?: Random): void {
    const builder = this.#builderOf(zone)
    const error = checkZone(builder).find(({ severity }) => severity === 'error')
    if (error !== undefined) throw new Error(`the zone was refused: ${error.message}`)
    const options = { space, slot: 1, fallthrough: zone.fallthrough }
    if (random !== undefined && zone.records.every(({ type }) => type !== TYPE.NSEC && type !== TYPE.NSEC3))
      this.#arrive(zone, options, random)
    else this.#directory.publish(compileZone(builder, this.#arena, options))
    this.#query.attach(this.#arena.buffer)
  }

  /** Starts with some names missing, some with other records and some that should not be there; then mends them in turn. */
  #arrive(zone: PlainZone, options: CompileOptions, random: Random): void {
    const owners = Map.groupBy(zone.records, ({ owner }) => keyOf(owner))
    const apex = keyOf(zone.origin)
    const wrong: PlainRecord[] = [...owners].flatMap(([key, records]) => {
      const fate = random.below(4)
      if (key === apex || fate === 0) return records
      return fate === 1 ? [] : [{ owner: records[0].owner, type: TYPE.TXT, ttl: 1, rdata: Uint8Array.of(1, 0x78) }]
    })
    const strangers = [...owners.values()]
      .map(([{ owner }]) => Uint8Array.from([1, random.pick([0x2a, 0x7a]), ...owner]))
      .filter((owner) => owner.length < 250 && !owners.has(keyOf(owner)) && random.chance(0.3))
    for (const owner of strangers) wrong.push({ owner, type: TYPE.TXT, ttl: 1, rdata: Uint8Array.of(1, 0x79) })
    const compiled = compileZone(this.#builderOf({ ...zone, records: wrong }), this.#arena, options)
    const early = random.chance(0.5)
    if (early) this.#directory.publish(compiled)
    const pending: (readonly [Uint8Array, readonly PlainRecord[]])[] = [
      ...strangers.map((owner) => [owner, []] as const),
      ...[...owners.values()].map((records) => [records[0].owner, records] as const),
    ]
    while (pending.length > 0) {
      const edits = new ZoneEdits(zone.origin)
      for (let i = random.between(1, 4); i > 0 && pending.length > 0; i--) {
        const [[owner, records]] = pending.splice(random.below(pending.length), 1)
        edits.name(owner)
        for (const { type, ttl, rdata } of records) edits.add(owner, type, ttl, rdata)
      }
      this.#directory.patch(compiled, edits)
      if (random.chance(0.5)) this.#directory.reclaim()
    }
    if (!early) this.#directory.publish(compiled)
  }

  #builderOf(zone: PlainZone): ZoneBuilder {
    const builder = new ZoneBuilder(zone.origin)
    zone.records.forEach(({ owner, type, ttl, rdata }, line) => {
      builder.record(owner, owner.length, type, CLASS_IN, ttl, rdata, rdata.length, line)
    })
    return builder
  }

  addFailed(origin: Uint8Array): void {
    this.#directory.publish(compileFailedZone(origin, this.#arena, { space: 0, slot: 1, fallthrough: false }))
    this.#query.attach(this.#arena.buffer)
  }

  /** The response; undefined for silence. A query for the forwarders must still have its question. */
  ask(packet: Uint8Array, views: readonly View[], tcp: boolean): Uint8Array | 'elsewhere' | undefined {
    const buffer = tcp ? this.#tcp : this.#udp
    const capacity = tcp ? TCP_CAPACITY : UDP_CAPACITY
    buffer.set(packet, GUARD_BYTES)
    this.#query.open(buffer, GUARD_BYTES, packet.length, capacity, tcp)
    const length = answer(this.#query, views, this.#edns)
    if (!isIntact(buffer, 0) || !isIntact(buffer, GUARD_BYTES + capacity))
      throw new Error('bytes outside the response buffer were written')
    if (length === ELSEWHERE) {
      const end = this.#query.questionEnd
      if (Buffer.compare(packet.subarray(0, end), buffer.subarray(GUARD_BYTES, GUARD_BYTES + end)) !== 0)
        throw new Error('the question of a query for the forwarders was overwritten')
      return 'elsewhere'
    }
    if (length === SILENCE) return undefined
    if (length < 0 || length > capacity) throw new Error(`a response of ${length} bytes in a buffer of ${capacity}`)
    return buffer.slice(GUARD_BYTES, GUARD_BYTES + length)
  }

  /** Changes when anything in the arena does. */
  arenaChecksum(): number {
    let sum = 0
    for (const word of this.#arena.words) sum = (Math.imul(sum, 31) + word) | 0
    return sum
  }
}

function guarded(capacity: number): Uint8Array {
  return new Uint8Array(GUARD_BYTES + capacity + GUARD_BYTES).fill(GUARD)
}

function isIntact(buffer: Uint8Array, from: number): boolean {
  for (let i = from; i < from + GUARD_BYTES; i++) if (buffer[i] !== GUARD) return false
  return true
}
