// What is asked: every owner name and its near-misses, by type, in several shapes of query. The ordinary run spreads
// the shapes over the names (each question is asked in some of them), the full run asks everything in every shape.

import { encodeMessage, type Edns, type Message } from '../../src/dns/message.ts'
import { formatName, parseName } from '../../src/dns/name.ts'
import { CLASS, OPCODE, typeName, typeNumber } from '../../src/dns/types.ts'
import type { ConformanceZone } from './zones.ts'

export interface Query {
  /** For the report. */
  readonly label: string
  readonly bytes: Uint8Array
  readonly transport: 'udp' | 'tcp'
  readonly name: Uint8Array
  readonly type: number
  readonly klass: number
  /** What the client can take, over UDP. */
  readonly udpBytes: number
  readonly do: boolean
  /** Not an ordinary question, so only such rules as ask for it apply. */
  readonly odd: boolean
}

export type Shape = Partial<Omit<Message, 'questions'>>

const SHAPES: Readonly<Record<string, Shape>> = {
  plain: {},
  edns: { edns: opt({ udpBytes: 1232 }) },
  do: { edns: opt({ udpBytes: 1232, do: true }) },
  'edns512,rd': { rd: true, edns: opt({ udpBytes: 512 }) },
  'do4096,cd': { cd: true, edns: opt({ udpBytes: 4096, do: true }) },
  'plain,rd,ad': { rd: true, ad: true },
}

const TYPES = ['A', 'AAAA', 'NS', 'SOA', 'CNAME', 'MX', 'TXT', 'DS', 'DNAME', 'SRV', 'HTTPS', 'ANY', 'TYPE65280']
const NEAR_MISS_TYPES = ['A', 'TXT', 'DS', 'CNAME', 'ANY']

export function opt(edns: Partial<Edns> = {}): Edns {
  return { udpBytes: 1232, version: 0, do: false, options: [], ...edns }
}

export function query(name: string | Uint8Array, type: string, shape: Shape = {}, more: Partial<Query> = {}): Query {
  const wire = typeof name === 'string' ? parseName(name) : name
  const number = typeNumber(type)
  if (number === undefined) throw new Error(`Cannot ask for the type ${type}`)
  const klass = more.klass ?? CLASS.IN
  const message: Message = {
    ...{
      id: 0,
      qr: false,
      opcode: OPCODE.QUERY,
      aa: false,
      tc: false,
      rd: false,
      ra: false,
      z: false,
      ad: false,
      cd: false,
    },
    ...{ rcode: 0, questions: [{ name: wire, type: number, klass }], answers: [], authorities: [], additionals: [] },
    ...shape,
  }
  return {
    label: `${formatName(wire)} ${typeName(number)}`,
    bytes: encodeMessage(message),
    transport: 'udp',
    name: wire,
    type: number,
    klass,
    udpBytes: Math.max(512, message.edns?.udpBytes ?? 512),
    do: message.edns?.do ?? false,
    odd: false,
    ...more,
  }
}

export function questionsOf(zones: readonly ConformanceZone[], full: boolean): Query[] {
  const queries: Query[] = []
  const shapes = Object.keys(SHAPES)
  const asked = new Set<string>()
  let turn = 0
  const ask = (name: Uint8Array, type: string, count: number): void => {
    const key = `${formatName(name)} ${type}`
    if (asked.has(key)) return
    asked.add(key)
    for (let index = 0; index < (full ? shapes.length : count); index++) {
      const shape = shapes[full ? index : turn++ % shapes.length]
      queries.push(query(name, type, SHAPES[shape], { label: `${key} (${shape})` }))
    }
    if (!full && turn % 7 === 0) turn++
  }
  for (const zone of zones) {
    for (const [owner, types] of zone.owners) {
      const name = parseName(owner)
      for (const type of new Set([...types, ...TYPES])) ask(name, type, types.has(type) ? 3 : 1)
      for (const near of nearMisses(name)) for (const type of NEAR_MISS_TYPES) ask(near, type, 1)
    }
  }
  return [...queries, ...overTcp(queries, full)]
}

/** Whoever gets a truncated answer asks again over TCP; every tenth question stands for the rest. */
function overTcp(queries: readonly Query[], full: boolean): Query[] {
  const big = /^(big|eight|nine)/
  return queries
    .filter((each, index) => big.test(each.label) || index % (full ? 3 : 10) === 0)
    .map((each) => ({ ...each, label: `${each.label} tcp`, transport: 'tcp' }))
}

function nearMisses(name: Uint8Array): Uint8Array[] {
  const parent = name[0] === 0 ? name : name.subarray(1 + name[0])
  const misses = [
    swapCase(name),
    prepend('nx', name),
    prepend('a.b', name),
    prepend('*', name),
    prepend('\\000', name),
    prepend('zzz', parent),
    prepend('*', parent),
    parent,
  ]
  return misses.filter((miss) => miss !== undefined)
}

function prepend(labels: string, name: Uint8Array): Uint8Array | undefined {
  const front = parseName(`${labels}.`).slice(0, -1)
  return front.length + name.length > 255 ? undefined : Uint8Array.of(...front, ...name)
}

/** Every other letter, so that most labels end up mixed. */
function swapCase(name: Uint8Array): Uint8Array {
  return name.map((octet, index) => {
    const letter = (octet | 0x20) >= 0x61 && (octet | 0x20) <= 0x7a
    return letter && index % 2 === 0 ? octet ^ 0x20 : octet
  })
}
