import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { Sha1 } from './sha1.ts'

it('hashes as OpenSSL does, at every length up to several blocks', () => {
  const sha = new Sha1()
  const data = Uint8Array.from({ length: 300 }, (_, i) => i * 7)
  for (let length = 0; length <= data.length; length++) {
    sha.hash(data, length)
    const hex = Array.from(sha.state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
    expect(hex).toBe(createHash('sha1').update(data.subarray(0, length)).digest('hex'))
  }
})
