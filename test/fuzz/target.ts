// What the campaign runs: a target makes case N of a seed and throws when an invariant does not hold.

import { decodeMessage, type Message } from '../../src/dns/message.ts'

export interface Target {
  readonly name: string
  run(index: number): void
  /** Case N as text, for whoever looks into its failure. */
  describe(index: number): string
}

/** Every target with its own numbers, whatever the others draw. */
export const SALT = { messages: 1, zones: 2, text: 3, codec: 4, patches: 5 } as const

export function assert(holds: boolean, problem: string): asserts holds {
  if (!holds) throw new Error(problem)
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

/** The message, which must be one. */
export function decoded(bytes: Uint8Array): Message {
  const message = decodeMessage(bytes)
  if (typeof message === 'string') throw new Error(`does not decode: ${message}: ${hex(bytes)}`)
  return message
}
