// Runs cases of all targets in turn until there were enough of them or one fails.

import { CodecTarget } from './codec-target.ts'
import { MessagesTarget } from './messages-target.ts'
import type { Target } from './target.ts'
import { TextTarget } from './text-target.ts'
import { ZonesTarget } from './zones-target.ts'

/** Each target, and how many cases it gets of a thousand. */
const TARGETS = {
  messages: { share: 450, make: (seed: number): Target => new MessagesTarget(seed) },
  zones: { share: 200, make: (seed: number): Target => new ZonesTarget(seed) },
  text: { share: 100, make: (seed: number): Target => new TextTarget(seed) },
  codec: { share: 250, make: (seed: number): Target => new CodecTarget(seed) },
} as const
export type TargetName = keyof typeof TARGETS
export const TARGET_NAMES: readonly TargetName[] = ['messages', 'zones', 'text', 'codec']

export interface CampaignOptions {
  readonly seed: number
  readonly targets: readonly TargetName[]
  /** Cases over all targets; the last round is finished. */
  readonly cases: number
  /** Number of each target's first case. */
  readonly from?: number
  /** Asked between rounds. */
  readonly goOn?: (cases: number) => boolean
  /** Told before each case. */
  readonly onCase?: (target: TargetName, index: number) => void
}

export interface CampaignFailure {
  readonly target: TargetName
  readonly index: number
  readonly error: unknown
  readonly description: string
}

export interface CampaignResult {
  readonly cases: number
  readonly failure?: CampaignFailure
}

export function runCampaign(options: CampaignOptions): CampaignResult {
  const targets = options.targets.map((name) => ({ name, target: TARGETS[name].make(options.seed) }))
  const next = new Map(options.targets.map((name) => [name, options.from ?? 0]))
  let cases = 0
  while (cases < options.cases && (options.goOn?.(cases) ?? true)) {
    for (const { name, target } of targets) {
      const first = next.get(name)!
      const last = first + Math.min(TARGETS[name].share, options.cases)
      for (let index = first; index < last; index++) {
        options.onCase?.(name, index)
        try {
          target.run(index)
        } catch (error) {
          return { cases, failure: { target: name, index, error, description: target.describe(index) } }
        }
        cases++
      }
      next.set(name, last)
    }
  }
  return { cases }
}
