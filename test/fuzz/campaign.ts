// Runs cases of all targets in turn until there were enough of them or one fails.

import { CodecTarget } from './codec-target.ts'
import { MessagesTarget } from './messages-target.ts'
import type { Target } from './target.ts'
import { TextTarget } from './text-target.ts'
import { ZonesTarget } from './zones-target.ts'

/** How many cases each target gets of a thousand. */
const SHARES = { messages: 450, zones: 200, text: 100, codec: 250 } as const
export type TargetName = keyof typeof SHARES
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
  const targets = options.targets.map((name) => ({ name, target: newTarget(name, options.seed) }))
  const next = new Map(options.targets.map((name) => [name, options.from ?? 0]))
  let cases = 0
  while (cases < options.cases && (options.goOn?.(cases) ?? true)) {
    for (const { name, target } of targets) {
      const first = next.get(name)!
      const last = first + Math.min(SHARES[name], options.cases)
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

function newTarget(name: TargetName, seed: number): Target {
  switch (name) {
    case 'messages':
      return new MessagesTarget(seed)
    case 'zones':
      return new ZonesTarget(seed)
    case 'text':
      return new TextTarget(seed)
    case 'codec':
      return new CodecTarget(seed)
  }
}
