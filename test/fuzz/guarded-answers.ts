// The product's answering in this process, watched: the response buffer has guard bytes on both sides, and the arena
// must stay as it was.

import { answer, ELSEWHERE, SILENCE } from '../../src/zone/answer.ts'
import { Arena } from '../../src/zone/arena.ts'
import { ZoneBuilder } from '../../src/zone/build.ts'
import { checkZone } from '../../src/zone/check.ts'
import { compileFailedZone, compileZone } from '../../src/zone/compile.ts'
import { Directory } from '../../src/zone/directory.ts'
import { EdnsContext } from '../../src/zone/edns.ts'
import { Control } from '../../src/zone/epoch.ts'
import { Query, type View } from '../../src/zone/query.ts'
import type { PlainZone } from './reference-zone.ts'

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

  add(zone: PlainZone, space = 0): void {
    const builder = new ZoneBuilder(zone.origin)
    zone.records.forEach(({ owner, type, ttl, rdata }, line) => {
      builder.record(owner, owner.length, type, CLASS_IN, ttl, rdata, rdata.length, line)
    })
    const error = checkZone(builder).find(({ severity }) => severity === 'error')
    if (error !== undefined) throw new Error(`the zone was refused: ${error.message}`)
    this.#directory.publish(compileZone(builder, this.#arena, { space, slot: 1, fallthrough: zone.fallthrough }))
    this.#query.attach(this.#arena.buffer)
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
