// SHA-1 (RFC 3174), as NSEC3 needs it: short inputs, many times, no allocation. Not for anything that must be secret.

const BLOCK = 64

export class Sha1 {
  /** The hash after `hash`: five words, to be compared as unsigned. */
  readonly state: Int32Array = new Int32Array(5)
  readonly #schedule = new Int32Array(80)
  readonly #block = new Uint8Array(BLOCK * 9)

  /** Hashes data[0, length), at most 512 bytes. */
  hash(data: Uint8Array, length: number): void {
    const block = this.#block
    const padded = (length + 9 + BLOCK - 1) & -BLOCK
    for (let i = 0; i < length; i++) block[i] = data[i]
    block[length] = 0x80
    block.fill(0, length + 1, padded)
    block[padded - 3] = length >> 13
    block[padded - 2] = length >> 5
    block[padded - 1] = length << 3
    const { state } = this
    state[0] = 0x67452301
    state[1] = 0xefcdab89 | 0
    state[2] = 0x98badcfe | 0
    state[3] = 0x10325476
    state[4] = 0xc3d2e1f0 | 0
    for (let at = 0; at < padded; at += BLOCK) this.#rounds(at)
  }

  #rounds(at: number): void {
    const w = this.#schedule
    const block = this.#block
    for (let i = 0, j = at; i < 16; i++, j += 4)
      w[i] = (block[j] << 24) | (block[j + 1] << 16) | (block[j + 2] << 8) | block[j + 3]
    for (let i = 16; i < 80; i++) {
      const x = w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16]
      w[i] = (x << 1) | (x >>> 31)
    }
    const { state } = this
    let a = state[0]
    let b = state[1]
    let c = state[2]
    let d = state[3]
    let e = state[4]
    for (let i = 0; i < 80; i++) {
      const mixed =
        i < 20
          ? ((b & c) | (~b & d)) + 0x5a827999
          : i < 40
            ? (b ^ c ^ d) + 0x6ed9eba1
            : i < 60
              ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
              : (b ^ c ^ d) + 0xca62c1d6
      const next = (((a << 5) | (a >>> 27)) + mixed + e + w[i]) | 0
      e = d
      d = c
      c = (b << 30) | (b >>> 2)
      b = a
      a = next
    }
    state[0] = (state[0] + a) | 0
    state[1] = (state[1] + b) | 0
    state[2] = (state[2] + c) | 0
    state[3] = (state[3] + d) | 0
    state[4] = (state[4] + e) | 0
  }
}
