// A listing compared with what was known before: keys by their modRevision, so unchanged values need not be kept.

import type { KeyValue } from './client.ts'

export interface MirrorChange {
  readonly key: Uint8Array
  /** Undefined: the key was deleted. */
  readonly value: KeyValue | undefined
  readonly revision: bigint
}

/** Keys as they are used in maps. */
export function keyText(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1')
}

export class Comparison {
  readonly #before: ReadonlyMap<string, bigint>
  readonly #isComparable: boolean
  readonly #changes: MirrorChange[] = []
  /** All keys taken so far and their modRevision. */
  readonly now = new Map<string, bigint>()

  /** Not comparable: revisions of another history, where equal ones do not mean equal values. */
  constructor(before: ReadonlyMap<string, bigint>, isComparable: boolean) {
    this.#before = before
    this.#isComparable = isComparable
  }

  take(kvs: readonly KeyValue[]): void {
    for (const kv of kvs) {
      const text = keyText(kv.key)
      this.now.set(text, kv.modRevision)
      if (this.#isComparable && this.#before.get(text) === kv.modRevision) continue
      this.#changes.push({ key: kv.key, value: kv, revision: kv.modRevision })
    }
  }

  /** Once all keys are taken: those that are missing have been deleted. */
  finish(revision: bigint): readonly MirrorChange[] {
    for (const text of this.#before.keys()) {
      if (!this.now.has(text)) this.#changes.push({ key: Buffer.from(text, 'latin1'), value: undefined, revision })
    }
    return this.#changes
  }
}
