// The command line of `npm run bench:vm`.

import { parseArgs } from 'node:util'
import { chosen, positive } from '../arguments.ts'

const PHASES = ['rendering', 'containers', 'machines'] as const
export type Phase = (typeof PHASES)[number]

export const USAGE = `Usage: npm run bench:vm -- [options]
  --phases LIST    of ${PHASES.join(',')} (default: all)
  --rounds N       how often a thousand machines are rendered (default: 5)
  --json FILE      write every sample as JSON
  --document FILE  the page whose section is replaced (default: docs/benchmarks.md)`

export interface Options {
  readonly phases: readonly Phase[]
  readonly rounds: number
  readonly json: string | undefined
  readonly document: string
}

export function parseOptions(args: string[]): Options {
  const text = { type: 'string' } as const
  const { values } = parseArgs({ args, options: { phases: text, rounds: text, json: text, document: text } })
  return {
    phases: chosen('phases', values.phases, PHASES),
    rounds: positive('rounds', values.rounds, 5),
    json: values.json,
    document: values.document ?? 'docs/benchmarks.md',
  }
}
