// Whole DNS messages as plain objects, for everything that is not the hot path: forwarding, caching, tools, tests.
// Names and rdata in a decoded message are uncompressed and keep their letter case, so a message compares, stores and
// re-encodes without the packet it came from. Decoding never throws: it returns the message or a sentence saying why
// the bytes are not one. The OPT record (RFC 6891) is not a record here but `edns`, and `rcode` is the extended one.

import { equalNames } from './name.ts'
import { type NameLayout, nameOffset, rdataNames } from './rdata/rdata.ts'
import { TYPE } from './types.ts'
import { HEADER_BYTES, Malformed, WireReader } from './wire-reader.ts'
import { WireWriter } from './wire-writer.ts'

export interface Question {
  readonly name: Uint8Array
  readonly type: number
  readonly klass: number
}

export interface ResourceRecord {
  readonly name: Uint8Array
  readonly type: number
  readonly klass: number
  readonly ttlSeconds: number
  readonly rdata: Uint8Array
}

export interface EdnsOption {
  readonly code: number
  readonly data: Uint8Array
}

export interface Edns {
  readonly udpBytes: number
  readonly version: number
  readonly do: boolean
  readonly options: readonly EdnsOption[]
}

export interface Message {
  readonly id: number
  readonly qr: boolean
  readonly opcode: number
  readonly aa: boolean
  readonly tc: boolean
  readonly rd: boolean
  readonly ra: boolean
  readonly z: boolean
  readonly ad: boolean
  readonly cd: boolean
  /** 12 bits; the upper 8 travel in the OPT record and are lost without one. */
  readonly rcode: number
  readonly questions: readonly Question[]
  readonly answers: readonly ResourceRecord[]
  readonly authorities: readonly ResourceRecord[]
  readonly additionals: readonly ResourceRecord[]
  readonly edns?: Edns
}

/** Everything of a question or record that is neither name nor rdata. */
const QUESTION_FIXED_BYTES = 4
const RECORD_FIXED_BYTES = 10
const OPT_BYTES = 11
const FLAG = { qr: 0x8000, aa: 0x0400, tc: 0x0200, rd: 0x0100, ra: 0x0080, z: 0x0040, ad: 0x0020, cd: 0x0010 }
const DO = 0x8000

/** Types of RFC 1035 that `rdata/` leaves opaque, being out of use, but which may still arrive compressed. */
const OBSOLETE: ReadonlyMap<number, NameLayout> = new Map(
  [TYPE.MD, TYPE.MF, TYPE.MB, TYPE.MG, TYPE.MR, TYPE.MINFO].map((type) => {
    return [type, { offset: 0, count: type === TYPE.MINFO ? 2 : 1, compress: true, lower: true }]
  }),
)

function namesIn(type: number): NameLayout | undefined {
  return OBSOLETE.get(type) ?? rdataNames(type)
}

export function decodeMessage(bytes: Uint8Array): Message | string {
  try {
    return decode(new WireReader(bytes))
  } catch (thrown) {
    if (thrown instanceof Malformed) return thrown.message
    throw thrown
  }
}

function decode(reader: WireReader): Message {
  reader.need(HEADER_BYTES, 'the header')
  const id = reader.u16()
  const flags = reader.u16()
  const counts = [reader.u16(), reader.u16(), reader.u16(), reader.u16()]
  const questions = Array.from(upTo(counts[0]), (): Question => {
    const name = reader.name()
    reader.need(QUESTION_FIXED_BYTES, 'a question')
    return { name, type: reader.u16(), klass: reader.u16() }
  })
  const answers = Array.from(upTo(counts[1]), () => decodeRecord(reader))
  const authorities = Array.from(upTo(counts[2]), () => decodeRecord(reader))
  const rest = Array.from(upTo(counts[3]), () => decodeRecord(reader))
  const trailing = reader.bytes.length - reader.at
  if (trailing > 0) throw new Malformed(`${trailing} bytes follow the last record`)
  const additionals = rest.filter((record) => record.type !== TYPE.OPT)
  if (rest.length - additionals.length > 1) throw new Malformed('there is more than one OPT record')
  const opt = rest.find((record) => record.type === TYPE.OPT)
  const upperRcode = opt === undefined ? 0 : opt.ttlSeconds >>> 24
  return {
    id,
    qr: (flags & FLAG.qr) !== 0,
    opcode: (flags >> 11) & 15,
    aa: (flags & FLAG.aa) !== 0,
    tc: (flags & FLAG.tc) !== 0,
    rd: (flags & FLAG.rd) !== 0,
    ra: (flags & FLAG.ra) !== 0,
    z: (flags & FLAG.z) !== 0,
    ad: (flags & FLAG.ad) !== 0,
    cd: (flags & FLAG.cd) !== 0,
    rcode: (upperRcode << 4) | (flags & 15),
    questions,
    answers,
    authorities,
    additionals,
    ...(opt === undefined ? {} : { edns: decodeEdns(opt) }),
  }
}

/** Lazy, so that a header claiming 65,535 records costs nothing before the bytes run out. */
function* upTo(count: number): Generator<number> {
  for (let index = 0; index < count; index++) yield index
}

function decodeRecord(reader: WireReader): ResourceRecord {
  const name = reader.name()
  reader.need(RECORD_FIXED_BYTES, 'a record')
  const type = reader.u16()
  const klass = reader.u16()
  const ttlSeconds = reader.u32()
  const rdataLength = reader.u16()
  reader.need(rdataLength, 'rdata')
  const end = reader.at + rdataLength
  const rdata = decodeRdata(reader, type, end)
  if (reader.at !== end) throw new Malformed(`the names in rdata of type ${type} do not fit its length`)
  return { name, type, klass, ttlSeconds, rdata }
}

/** Names are expanded in every type known to have them, whether or not it may be compressed (RFC 3597 section 4). */
function decodeRdata(reader: WireReader, type: number, end: number): Uint8Array {
  const names = namesIn(type)
  if (names === undefined || reader.at === end) return reader.slice(end - reader.at)
  const offset = names.offset < 0 ? nameOffset(type, reader.bytes.subarray(reader.at, end)) : names.offset
  if (!(offset >= 0 && reader.at + offset < end)) throw new Malformed(`rdata of type ${type} ends before its name`)
  const parts = [reader.slice(offset)]
  for (let count = 0; count < names.count; count++) parts.push(reader.name())
  if (reader.at < end) parts.push(reader.slice(end - reader.at))
  return concat(parts)
}

function decodeEdns(opt: ResourceRecord): Edns {
  if (opt.name.length !== 1) throw new Malformed('the OPT record is not owned by the root')
  const options: EdnsOption[] = []
  const reader = new WireReader(opt.rdata)
  while (reader.at < opt.rdata.length) {
    reader.need(4, 'an EDNS option')
    const code = reader.u16()
    const length = reader.u16()
    reader.need(length, 'an EDNS option')
    options.push({ code, data: reader.slice(length) })
  }
  return { udpBytes: opt.klass, version: (opt.ttlSeconds >> 16) & 255, do: (opt.ttlSeconds & DO) !== 0, options }
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/**
 * Encodes with name compression, in at most `maxBytes`. What does not fit is left out by whole RRsets, from the end;
 * TC is set when answer or authority data is missing (RFC 2181 section 9), or glue of a referral (RFC 9471).
 * Throws a RangeError when not even header, questions and OPT fit, which 512 bytes and modest options rule out.
 */
export function encodeMessage(message: Message, maxBytes = 65535): Uint8Array {
  const sections = [message.answers, message.authorities, message.additionals]
  const optBytes =
    message.edns === undefined ? 0 : message.edns.options.reduce((sum, o) => sum + 4 + o.data.length, OPT_BYTES)
  const writer = new WireWriter(uncompressedBytes(message.questions, sections.flat()) + optBytes)
  writer.at = HEADER_BYTES
  for (const question of message.questions) {
    writer.name(question.name)
    writer.u16(question.type)
    writer.u16(question.klass)
  }
  const room = maxBytes - optBytes
  if (writer.at > room)
    throw new RangeError(`Cannot encode a message in ${maxBytes} bytes: its question alone is longer`)

  const counts = [0, 0, 0]
  let full = -1
  for (let section = 0; section < 3 && full < 0; section++) {
    for (const rrset of rrsets(sections[section])) {
      const start = writer.at
      for (const record of rrset) encodeRecord(writer, record)
      if (writer.at > room) {
        writer.rewind(start)
        full = section
        break
      }
      counts[section] += rrset.length
    }
  }
  const referral = !message.aa && message.answers.length === 0
  const tc = message.tc || full === 0 || full === 1 || (full === 2 && referral)
  if (message.edns !== undefined) encodeOpt(writer, message.edns, message.rcode, optBytes)
  encodeHeader(writer.view, { ...message, tc }, [
    message.questions.length,
    counts[0],
    counts[1],
    counts[2] + (message.edns === undefined ? 0 : 1),
  ])
  return writer.bytes.slice(0, writer.at)
}

function uncompressedBytes(questions: readonly Question[], records: readonly ResourceRecord[]): number {
  let bytes = HEADER_BYTES
  for (const { name } of questions) bytes += name.length + QUESTION_FIXED_BYTES
  for (const { name, rdata } of records) bytes += name.length + RECORD_FIXED_BYTES + rdata.length
  return bytes
}

/** Neighbours with the same owner, type and class. */
function* rrsets(records: readonly ResourceRecord[]): Generator<readonly ResourceRecord[]> {
  let start = 0
  for (let index = 1; index <= records.length; index++) {
    if (index < records.length && sameRrset(records[start], records[index])) continue
    yield records.slice(start, index)
    start = index
  }
}

function sameRrset(a: ResourceRecord, b: ResourceRecord): boolean {
  return a.type === b.type && a.klass === b.klass && equalNames(a.name, b.name)
}

function encodeRecord(writer: WireWriter, record: ResourceRecord): void {
  writer.name(record.name)
  writer.u16(record.type)
  writer.u16(record.klass)
  writer.u32(record.ttlSeconds)
  const lengthAt = writer.at
  writer.at += 2
  encodeRdata(writer, record.type, record.rdata)
  writer.view.setUint16(lengthAt, writer.at - lengthAt - 2)
}

function encodeRdata(writer: WireWriter, type: number, rdata: Uint8Array): void {
  const names = namesIn(type)
  let from = 0
  if (names?.compress === true) {
    from = Math.min(names.offset, rdata.length)
    writer.raw(rdata.subarray(0, from))
    for (let count = 0; count < names.count; count++) {
      const end = endOfName(rdata, from)
      if (end < 0) break
      writer.name(rdata.subarray(from, end))
      from = end
    }
  }
  writer.raw(rdata.subarray(from))
}

/** -1 where there is no whole name, so that rdata of the wrong shape is passed on as it is. */
function endOfName(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at] !== 0) at += 1 + bytes[at]
  return at < bytes.length ? at + 1 : -1
}

function encodeOpt(writer: WireWriter, edns: Edns, rcode: number, optBytes: number): void {
  writer.bytes[writer.at++] = 0
  writer.u16(TYPE.OPT)
  writer.u16(edns.udpBytes)
  writer.u32((((rcode >> 4) << 24) | (edns.version << 16) | (edns.do ? DO : 0)) >>> 0)
  writer.u16(optBytes - OPT_BYTES)
  for (const option of edns.options) {
    writer.u16(option.code)
    writer.u16(option.data.length)
    writer.raw(option.data)
  }
}

function encodeHeader(view: DataView, message: Message, counts: readonly number[]): void {
  let flags = ((message.opcode & 15) << 11) | (message.rcode & 15)
  for (const key of Object.keys(FLAG) as (keyof typeof FLAG)[]) if (message[key]) flags |= FLAG[key]
  view.setUint16(0, message.id)
  view.setUint16(2, flags)
  counts.forEach((count, index) => {
    view.setUint16(4 + 2 * index, count)
  })
}
