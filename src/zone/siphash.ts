// SipHash-2-4 (Aumasson, Bernstein) on 32-bit halves: the keyed hash of DNS server cookies (RFC 9018 section 4.4).
// State is four 64-bit words as (low, high) pairs in one reused array.

const V0 = 0
const V1 = 2
const V2 = 4
const V3 = 6

export class SipHash {
  readonly #key: Int32Array
  readonly #v = new Int32Array(8)

  /** A 16-byte key. */
  constructor(key: Uint8Array) {
    const view = new DataView(key.buffer, key.byteOffset, 16)
    this.#key = Int32Array.from([0, 4, 8, 12], (at) => view.getInt32(at, true))
  }

  /** Writes the 8-byte hash of data[0, length) to out at `at`. */
  hash(data: Uint8Array, length: number, out: Uint8Array, at: number): void {
    const v = this.#v
    const [k0, k1, k2, k3] = this.#key
    v[0] = k0 ^ 0x70736575
    v[1] = k1 ^ 0x736f6d65
    v[2] = k2 ^ 0x6e646f6d
    v[3] = k3 ^ 0x646f7261
    v[4] = k0 ^ 0x6e657261
    v[5] = k1 ^ 0x6c796765
    v[6] = k2 ^ 0x79746573
    v[7] = k3 ^ 0x74656462
    const whole = length & ~7
    for (let i = 0; i < whole; i += 8) this.#block(word(data, i), word(data, i + 4))
    let low = 0
    let high = (length & 0xff) << 24
    for (let i = whole; i < length; i++) {
      const shift = (i - whole) * 8
      if (shift < 32) low |= data[i] << shift
      else high |= data[i] << (shift - 32)
    }
    this.#block(low, high)
    v[V2] ^= 0xff
    for (let i = 0; i < 4; i++) this.#round()
    store(out, at, v[0] ^ v[2] ^ v[4] ^ v[6])
    store(out, at + 4, v[1] ^ v[3] ^ v[5] ^ v[7])
  }

  #block(low: number, high: number): void {
    const v = this.#v
    v[V3] ^= low
    v[V3 + 1] ^= high
    this.#round()
    this.#round()
    v[V0] ^= low
    v[V0 + 1] ^= high
  }

  #round(): void {
    this.#add(V0, V1)
    this.#rotate(V1, 13)
    this.#xor(V1, V0)
    this.#swap(V0)
    this.#add(V2, V3)
    this.#rotate(V3, 16)
    this.#xor(V3, V2)
    this.#add(V0, V3)
    this.#rotate(V3, 21)
    this.#xor(V3, V0)
    this.#add(V2, V1)
    this.#rotate(V1, 17)
    this.#xor(V1, V2)
    this.#swap(V2)
  }

  #add(a: number, b: number): void {
    const v = this.#v
    const low = (v[a] >>> 0) + (v[b] >>> 0)
    v[a] = low
    v[a + 1] = v[a + 1] + v[b + 1] + (low > 0xffff_ffff ? 1 : 0)
  }

  #rotate(a: number, bits: number): void {
    const v = this.#v
    const low = v[a]
    const high = v[a + 1]
    v[a] = (low << bits) | (high >>> (32 - bits))
    v[a + 1] = (high << bits) | (low >>> (32 - bits))
  }

  #xor(a: number, b: number): void {
    this.#v[a] ^= this.#v[b]
    this.#v[a + 1] ^= this.#v[b + 1]
  }

  #swap(a: number): void {
    const low = this.#v[a]
    this.#v[a] = this.#v[a + 1]
    this.#v[a + 1] = low
  }
}

function word(data: Uint8Array, at: number): number {
  return data[at] | (data[at + 1] << 8) | (data[at + 2] << 16) | (data[at + 3] << 24)
}

function store(out: Uint8Array, at: number, value: number): void {
  for (let i = 0; i < 4; i++) out[at + i] = value >>> (i * 8)
}
