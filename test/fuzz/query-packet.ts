// Well-formed queries as bytes, written out by hand so that the codec under test has no part in them.

export interface EdnsWish {
  readonly udpBytes: number
  readonly dnssecOk: boolean
  readonly options: Uint8Array
}

export interface QueryWish {
  readonly id: number
  readonly name: Uint8Array
  readonly type: number
  readonly klass: number
  readonly recursionDesired: boolean
  readonly edns?: EdnsWish
}

export function queryPacket(wish: QueryWish): Uint8Array {
  const { id, name, type, klass, edns } = wish
  const header = [id >> 8, id, wish.recursionDesired ? 1 : 0, 0, 0, 1, 0, 0, 0, 0, 0, edns === undefined ? 0 : 1]
  const question = [...name, type >> 8, type, klass >> 8, klass]
  if (edns === undefined) return Uint8Array.from([...header, ...question])
  const { udpBytes, dnssecOk, options } = edns
  const opt = [0, 0, 41, udpBytes >> 8, udpBytes, 0, 0, dnssecOk ? 0x80 : 0, 0, options.length >> 8, options.length]
  return Uint8Array.from([...header, ...question, ...opt, ...options])
}
