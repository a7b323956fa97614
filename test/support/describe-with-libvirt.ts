// Suites that need a LibvirtLab. Where it cannot be started they are skipped, with a message; where HOLDFAST_REQUIRE_LIBVIRT=1
// says that it must be there, as in CI, they fail.

import { describe } from 'vitest'
import { whyNoLibvirt } from './libvirt-lab.ts'

/** As vitest's `describe`. */
export const describeWithLibvirt = describeWhere(whyNoLibvirt())

function describeWhere(problem: string | undefined) {
  if (problem === undefined) return describe
  if (process.env.HOLDFAST_REQUIRE_LIBVIRT === '1') throw new Error(problem)
  console.warn(`Skipped: ${problem}`)
  return describe.skip
}
