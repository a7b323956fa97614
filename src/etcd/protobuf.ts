// Protocol Buffers as tables: a message is a list of named fields, and one pair of functions encodes and decodes them
// all. Bytes are not copied: a decoded field is a view of the buffer it came from. 64-bit numbers are bigint.

export type Scalar = 'bytes' | 'string' | 'bool' | 'int64' | 'uint64' | 'int32'

interface ScalarTypes {
  bytes: Uint8Array
  string: string
  bool: boolean
  int64: bigint
  uint64: bigint
  int32: number
}

/** `T`: what a decoded field is; `I`: what may be given for encoding. */
export interface Field<T, I = T> {
  readonly number: number
  readonly of: Scalar | MessageType<Fields>
  readonly repeated: boolean
  /** The value when the field is absent. */
  readonly absent: T
  readonly given?: I
}

// A table may hold fields of any type.
// oxlint-disable-next-line typescript/no-explicit-any
export type Fields = Readonly<Record<string, Field<any, any>>>

export interface MessageType<F extends Fields> {
  readonly fields: F
  readonly byNumber: readonly (NamedField | undefined)[]
  /** All fields absent. */
  readonly empty: Decoded<MessageType<F>>
}

interface NamedField extends Field<unknown, unknown> {
  readonly name: string
}

export type Decoded<M> =
  M extends MessageType<infer F> ? { readonly [K in keyof F]: F[K] extends Field<infer T, unknown> ? T : never } : never

export type Encodable<M> =
  M extends MessageType<infer F>
    ? { readonly [K in keyof F]?: F[K] extends Field<unknown, infer I> ? I | undefined : never }
    : never

export function message<F extends Fields>(fields: F): MessageType<F> {
  const byNumber: (NamedField | undefined)[] = []
  for (const [name, field] of Object.entries(fields)) byNumber[field.number] = { ...field, name }
  const empty = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.absent as unknown]))
  return { fields, byNumber, empty: empty as Decoded<MessageType<F>> }
}

const ABSENT: ScalarTypes = { bytes: new Uint8Array(0), string: '', bool: false, int64: 0n, uint64: 0n, int32: 0 }

export function one<S extends Scalar>(number: number, of: S): Field<ScalarTypes[S]> {
  return { number, of, repeated: false, absent: ABSENT[of] }
}

export function list<S extends Scalar>(number: number, of: S): Field<readonly ScalarTypes[S][]> {
  return { number, of, repeated: true, absent: [] }
}

/** A message inside another; when absent, it reads as one whose fields are all absent. */
export function inner<M extends MessageType<Fields>>(number: number, of: M): Field<Decoded<M>, Encodable<M>> {
  return { number, of, repeated: false, absent: of.empty as Decoded<M> }
}

/** A message inside another that tells by its presence, as one of several. */
export function choice<M extends MessageType<Fields>>(
  number: number,
  of: M,
): Field<Decoded<M> | undefined, Encodable<M>> {
  return { number, of, repeated: false, absent: undefined }
}

export function innerList<M extends MessageType<Fields>>(
  number: number,
  of: M,
): Field<readonly Decoded<M>[], readonly Encodable<M>[]> {
  return { number, of, repeated: true, absent: [] }
}

const VARINT = 0
const FIXED64 = 1
const LENGTH = 2
const FIXED32 = 5

export function encode<M extends MessageType<Fields>>(type: M, value: Encodable<M>): Uint8Array {
  return Buffer.concat(partsOf(type, value))
}

function partsOf(type: MessageType<Fields>, value: Readonly<Record<string, unknown>>): Uint8Array[] {
  const parts: Uint8Array[] = []
  for (const [name, field] of Object.entries(type.fields)) {
    const given = value[name]
    if (given === undefined) continue
    for (const item of field.repeated ? (given as readonly unknown[]) : [given]) encodeField(parts, field, item)
  }
  return parts
}

function encodeField(parts: Uint8Array[], field: Field<unknown, unknown>, value: unknown): void {
  const { number, of } = field
  if (typeof of === 'object') {
    addBytes(parts, number, Buffer.concat(partsOf(of, value as Record<string, unknown>)))
  } else if (of === 'bytes') addBytes(parts, number, value as Uint8Array)
  else if (of === 'string') addBytes(parts, number, Buffer.from(value as string, 'utf8'))
  else parts.push(varint(BigInt((number << 3) | VARINT)), varint(BigInt(value as bigint | number | boolean)))
}

function addBytes(parts: Uint8Array[], number: number, bytes: Uint8Array): void {
  parts.push(varint(BigInt((number << 3) | LENGTH)), varint(BigInt(bytes.length)), bytes)
}

/** Negative numbers take ten bytes, as two's complement of 64 bits. */
function varint(value: bigint): Uint8Array {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, value)
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  }
  bytes.push(Number(rest))
  return Uint8Array.from(bytes)
}

export function decode<M extends MessageType<Fields>>(type: M, bytes: Uint8Array): Decoded<M> {
  return new Reader(bytes).message(type, bytes.length) as Decoded<M>
}

class Reader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  message(type: MessageType<Fields>, end: number): unknown {
    const result: Record<string, unknown> = { ...type.empty }
    while (this.#at < end) {
      const tag = this.#number()
      const field = type.byNumber[tag >>> 3]
      if (field === undefined) {
        this.#skip(tag & 7)
        continue
      }
      if (
        (tag & 7) !==
        (typeof field.of === 'object' || field.of === 'bytes' || field.of === 'string' ? LENGTH : VARINT)
      ) {
        throw malformed()
      }
      const value = this.#value(field.of)
      if (!field.repeated) result[field.name] = value
      else if (result[field.name] === field.absent) result[field.name] = [value]
      else (result[field.name] as unknown[]).push(value)
    }
    if (this.#at !== end) throw malformed()
    return result
  }

  #value(of: Scalar | MessageType<Fields>): unknown {
    if (typeof of === 'object') return this.message(of, this.#end())
    if (of === 'bytes') return this.#view()
    if (of === 'string') return Buffer.from(this.#view()).toString('utf8')
    const number = this.#long()
    if (of === 'bool') return number !== 0n
    if (of === 'int32') return Number(BigInt.asIntN(32, number))
    return of === 'int64' ? BigInt.asIntN(64, number) : BigInt.asUintN(64, number)
  }

  #view(): Uint8Array {
    const end = this.#end()
    const start = this.#at
    this.#at = end
    return this.#bytes.subarray(start, end)
  }

  /** Where the length-delimited field that begins here ends. */
  #end(): number {
    const length = this.#number()
    const end = this.#at + length
    if (end > this.#bytes.length) throw malformed()
    return end
  }

  #skip(wireType: number): void {
    if (wireType === VARINT) this.#long()
    else if (wireType === LENGTH) this.#at = this.#end()
    else if (wireType === FIXED64) this.#at += 8
    else if (wireType === FIXED32) this.#at += 4
    else throw malformed()
  }

  #number(): number {
    const value = this.#varint()
    if (typeof value === 'bigint') throw malformed()
    return value
  }

  #long(): bigint {
    return BigInt(this.#varint())
  }

  /** A number where seven bytes suffice, which is nearly always: bigint arithmetic is slow. */
  #varint(): number | bigint {
    let value = 0
    let factor = 1
    for (let count = 0; count < 7; count++) {
      const byte = this.#byte()
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
      factor *= 128
    }
    let long = BigInt(value)
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = this.#byte()
      long |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return long
    }
    throw malformed()
  }

  #byte(): number {
    if (this.#at >= this.#bytes.length) throw malformed()
    return this.#bytes[this.#at++]
  }
}

function malformed(): Error {
  return new Error('malformed Protocol Buffers message')
}
