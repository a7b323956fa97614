// Sorting in steps: short runs first, then runs merged two by two. As stable as Array.sort, and hardly slower.

import type { Steps } from '../dns/steps.ts'

/** Sorted by the engine at once: some tenths of a millisecond. */
const RUN = 512
const MERGED_PER_STEP = 2048

/** Sorts the items in place. */
export function* sortSteps<Item>(items: Item[], compare: (a: Item, b: Item) => number): Steps<void> {
  for (let from = 0; from < items.length; from += RUN) {
    const run = items.slice(from, from + RUN).sort(compare)
    for (let i = 0; i < run.length; i++) items[from + i] = run[i]
    yield
  }
  const merged: Item[] = new Array<Item>(items.length > RUN ? items.length : 0)
  let [source, target] = [items, merged]
  for (let width = RUN; width < items.length; width *= 2) {
    for (let from = 0; from < items.length; from += 2 * width) {
      const middle = Math.min(from + width, items.length)
      const end = Math.min(from + 2 * width, items.length)
      let left = from
      let right = middle
      for (let at = from; at < end; at++) {
        if (at % MERGED_PER_STEP === 0) yield
        const takesLeft = left < middle && (right === end || compare(source[left], source[right]) <= 0)
        target[at] = takesLeft ? source[left++] : source[right++]
      }
    }
    ;[source, target] = [target, source]
  }
  if (source === items) return
  for (let i = 0; i < items.length; i++) items[i] = source[i]
}
