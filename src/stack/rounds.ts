// Work that takes several rounds, each a whole run of its own, until one of them is the last.

import { HoldfastError } from '../lib/errors.ts'

/** `round`, counted from 0, resolves to whether it was the last one. Rejects when none of `most` rounds was. */
export async function inRounds(most: number, stack: string, round: (index: number) => Promise<boolean>): Promise<void> {
  for (let count = 0; count < most; count++) if (await round(count)) return
  throw new HoldfastError(
    'NotSettled',
    `Cannot finish bringing up "${stack}": its certificate authority still changes after ${most} rounds; expected the last one to settle it`,
    { hint: 'run "holdfast up" again; "holdfast plan" shows what is left', retryable: true },
  )
}
