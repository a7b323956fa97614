// Damage to bytes, of the kinds that parsers meet: flipped bits, cuts, repeats, pieces of another input, and for
// messages lies in the header's counts and pointers where names should be.

import type { Random } from './random.ts'

export function mutate(random: Random, bytes: Uint8Array, other: Uint8Array, times = random.between(1, 4)): Uint8Array {
  let result = bytes
  for (let i = 0; i < times; i++) result = damage(random, result, other)
  return result
}

function damage(random: Random, bytes: Uint8Array, other: Uint8Array): Uint8Array {
  const at = random.below(bytes.length + 1)
  const length = Math.min(random.between(1, 16), bytes.length - at)
  const [before, piece, after] = [bytes.subarray(0, at), bytes.subarray(at, at + length), bytes.subarray(at + length)]
  switch (random.below(7)) {
    case 0:
      return join(
        before,
        piece.map((byte) => byte ^ (1 << random.below(8))),
        after,
      )
    case 1:
      return before.slice()
    case 2:
      return join(before, after)
    case 3:
      return join(before, piece, piece, after)
    case 4:
      return join(before, random.bytes(random.between(1, 8)), after)
    case 5:
      return join(
        before,
        piece.map(() => random.below(256)),
        after,
      )
    default: {
      const from = random.below(other.length + 1)
      return join(before, other.subarray(from, from + random.between(1, 32)), after)
    }
  }
}

/** The same for something that starts like a DNS message. */
export function mutateMessage(random: Random, bytes: Uint8Array, other: Uint8Array): Uint8Array {
  const result = bytes.slice()
  switch (random.below(4)) {
    case 0:
      if (result.length >= 12) result[random.between(2, 11)] = random.pick([0, 1, 2, 255, 1 << random.below(8)])
      return result
    case 1: {
      if (result.length < 14) return result
      const at = random.between(12, result.length - 2)
      result[at] = 0xc0 | random.below(random.chance(0.8) ? 1 : 64)
      result[at + 1] = random.below(random.chance(0.8) ? result.length : 256)
      return result
    }
    default:
      return mutate(random, bytes, other)
  }
}

function join(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts))
}
