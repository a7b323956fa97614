import { expect, it } from 'vitest'
import { SipHash } from './siphash.ts'

// Reference vectors of the SipHash paper: key 00..0f, data 00..(n-1).
const EXPECTED: readonly [number, string][] = [
  [0, '310e0edd47db6f72'],
  [1, 'fd67dc93c539f874'],
  [7, '37d1018bf50002ab'],
  [8, '6224939a79f5f593'],
  [15, 'e545be4961ca29a1'],
  [63, '724506eb4c328a95'],
]

it('hashes as the reference implementation does', () => {
  const key = Uint8Array.from({ length: 16 }, (_, i) => i)
  const data = Uint8Array.from({ length: 64 }, (_, i) => i)
  const sip = new SipHash(key)
  const out = new Uint8Array(8)
  for (const [length, hex] of EXPECTED) {
    sip.hash(data, length, out, 0)
    expect(Buffer.from(out).toString('hex')).toBe(hex)
  }
})
