// Waiting for a condition instead of for a time: looked at again and again until it holds, with a deadline that
// only a failure reaches.

import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_MS = 10
/** What a quiet machine does in a second takes a busy one less than this. */
const LIMIT_MS = 90_000

/** The first value that is not undefined or false. `what` names the condition in the failure. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = LIMIT_MS,
): Promise<T> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const begun = performance.now()
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (Date.now() > deadline) throw new Error(`${what}: not within ${timeoutMs} ms`)
    // A look that starts a program leaves the processor to what it waits for.
    await sleep(Math.max(LOOK_MS, performance.now() - begun))
  }
}
