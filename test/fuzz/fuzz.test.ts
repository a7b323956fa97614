// A short campaign with every test run: always the same cases, and some that are new each time.

import { describe, expect, it } from 'vitest'
import { runCampaign, TARGET_NAMES } from './campaign.ts'

const CASES = 1000
const FRESH_SEED = Date.now() % 2 ** 31

describe.each([1, FRESH_SEED])('a short fuzz campaign with seed %d', (seed) => {
  it.each(TARGET_NAMES)('finds nothing in %s', (target) => {
    const { cases, failure } = runCampaign({ seed, targets: [target], cases: CASES })
    const again = `npm run fuzz -- --seed ${seed} --target ${target} --from ${failure?.index} --cases 1`
    expect(failure, `${String(failure?.error)}\n${again}\n${failure?.description}`).toBeUndefined()
    expect(cases).toBeGreaterThanOrEqual(CASES)
  })
})
