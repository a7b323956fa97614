// The codec from both sides. Messages: what decodes must encode to something that decodes the same. Rdata of every
// type: what is valid on the wire must print as text that reads back to the same bytes.

import { decodeMessage, encodeMessage, type Message, type ResourceRecord } from '../../src/dns/message.ts'
import { canonicalRdata, formatRdata, validateRdata } from '../../src/dns/rdata/rdata.ts'
import { RDATA_TYPES } from '../../src/dns/rdata/table.ts'
import { TYPE, typeName } from '../../src/dns/types.ts'
import { parseRecord, type ZoneRecord } from '../../src/dns/zonefile/format.ts'
import { mutate, mutateMessage } from './mutate.ts'
import { below, ROOT_KEY, wireOf } from './names.ts'
import { Random } from './random.ts'
import { RDATA_SAMPLES } from './rdata-samples.ts'
import { mixCase, NamePool } from './random-zone.ts'
import { assert, decoded, hex, SALT, type Target } from './target.ts'

const ORIGIN = wireOf(below('example', ROOT_KEY))
const KNOWN_TYPES = [...RDATA_TYPES.keys()]
/** Pushes what follows out of the reach of compression pointers. */
const LONG = { type: 65_280, rdata: new Uint8Array(16_384) }
const OTHER_TYPES = [TYPE.MINFO, TYPE.MB, TYPE.NULL, TYPE.WKS, 65_280]

export class CodecTarget implements Target {
  readonly name = 'codec'
  readonly #seed: number
  readonly #samples: readonly ZoneRecord[]

  constructor(seed: number) {
    this.#seed = seed
    this.#samples = RDATA_SAMPLES.map((text) => parseRecord(`a 60 ${text}`, ORIGIN))
  }

  run(index: number): void {
    const random = new Random(this.#seed, SALT.codec, index)
    if (random.chance(0.5)) checkMessage(random, this.#message(random))
    else checkRdata(...this.#rdata(random))
  }

  describe(index: number): string {
    const random = new Random(this.#seed, SALT.codec, index)
    if (random.chance(0.5)) return `${hex(this.#message(random))}\n`
    const [type, rdata] = this.#rdata(random)
    return `a.example. 60 IN ${typeName(type)} \\# ${rdata.length} ${hex(rdata)}\n`
  }

  #rdata(random: Random): [number, Uint8Array] {
    const sample = random.pick(this.#samples)
    const kind = random.below(10)
    if (kind === 0) return [random.pick(KNOWN_TYPES), random.bytes(random.below(40))]
    if (kind === 1) return [random.pick([...KNOWN_TYPES, ...OTHER_TYPES]), sample.rdata]
    if (kind < 5) return [sample.type, mutate(random, sample.rdata, random.pick(this.#samples).rdata)]
    const rdata = sample.rdata.slice()
    for (let bytes = random.between(1, 3); bytes > 0; bytes--) rdata[random.below(rdata.length)] = random.below(256)
    return [sample.type, rdata]
  }

  /** Encoded by the codec, then damaged more often than not. */
  #message(random: Random): Uint8Array {
    if (random.chance(0.05)) return random.bytes(random.below(200))
    const whole = encodeMessage(this.#plainMessage(random))
    if (random.chance(0.2)) return whole
    return mutateMessage(random, whole, encodeMessage(this.#plainMessage(random)))
  }

  #plainMessage(random: Random): Message {
    const pool = new NamePool(random, [below('example', ROOT_KEY), ROOT_KEY])
    const records = (): ResourceRecord[] =>
      Array.from({ length: random.below(4) }, () => {
        const { type, rdata } = random.chance(0.01) ? LONG : random.pick(this.#samples)
        return { name: mixCase(random, pool.name(random)), type, klass: 1, ttlSeconds: random.next(), rdata }
      })
    const flag = () => random.chance(0.5)
    const edns = {
      udpBytes: random.below(65_536),
      version: random.below(2),
      do: flag(),
      options: Array.from({ length: random.below(3) }, () => ({
        code: random.below(20),
        data: random.bytes(random.below(20)),
      })),
    }
    return {
      id: random.below(65_536),
      ...{ qr: flag(), aa: flag(), tc: flag(), rd: flag(), ra: flag(), z: flag(), ad: flag(), cd: flag() },
      opcode: random.below(16),
      rcode: random.below(16),
      questions: Array.from({ length: random.below(3) }, () => ({
        name: mixCase(random, pool.name(random)),
        type: random.below(65_536),
        klass: random.below(65_536),
      })),
      answers: records(),
      authorities: records(),
      additionals: records(),
      ...(flag() ? { edns } : {}),
    }
  }
}

function checkMessage(random: Random, bytes: Uint8Array): void {
  const message = decodeMessage(bytes)
  if (typeof message === 'string') return
  const encoded = encodeMessage(message)
  const again = decoded(encoded)
  assert(print(again) === print(message), `not the same message again:\n  ${print(message)}\n  ${print(again)}`)
  const maxBytes = random.between(512, 1500)
  let short: Uint8Array
  try {
    short = encodeMessage(message, maxBytes)
  } catch (error) {
    if (error instanceof RangeError && error.message.startsWith('Cannot encode')) return
    throw error
  }
  assert(short.length <= maxBytes, `${short.length} bytes encoded, at most ${maxBytes} wanted`)
  const part = decoded(short)
  assert(part.answers.length === message.answers.length || part.tc, 'answers are missing without TC')
}

function print(message: Message): string {
  return JSON.stringify(message, (_, value: unknown) => (value instanceof Uint8Array ? hex(value) : value))
}

function checkRdata(type: number, rdata: Uint8Array): void {
  const problem = validateRdata(type, rdata)
  const text = formatRdata(type, rdata)
  assert(/^[\x20-\x7e]+$/.test(text), `not one line of text: ${JSON.stringify(text)}`)
  if (type === TYPE.OPT) return // no record of a zone
  const line = `a.example. 60 IN ${typeName(type)} ${text}`
  const again = tryParse(line)
  if (problem !== undefined) return assert(typeof again === 'string', `printed and read, though ${problem}: ${line}`)
  if (typeof again === 'string') throw new Error(`${line} does not read: ${again}`)
  assert(hex(again.rdata) === hex(rdata), `${line} reads as ${hex(again.rdata)}`)
  const canonical = canonicalRdata(type, rdata)
  assert(validateRdata(type, canonical) === undefined, `the canonical form is not valid: ${hex(canonical)}`)
  assert(hex(canonicalRdata(type, canonical)) === hex(canonical), 'the canonical form has another canonical form')
}

function tryParse(line: string): ZoneRecord | string {
  try {
    return parseRecord(line, ORIGIN)
  } catch (error) {
    // parseRecord says with a plain Error what is wrong with the text; anything else is ours.
    if (error instanceof Error && error.constructor === Error) return error.message
    throw error
  }
}
