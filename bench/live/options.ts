// The command line of `npm run bench:live`.

import { parseArgs } from 'node:util'
import { chosen, positive } from '../arguments.ts'

const PHASES = ['latency', 'queries', 'starts'] as const
export type Phase = (typeof PHASES)[number]

export const USAGE = `Usage: npm run bench:live -- [options]
  --phases LIST      of ${PHASES.join(',')} (default: all)
  --rounds N         measurements of each subject (default: 4)
  --changes N        changes of each subject and condition, over all rounds (default: 2000)
  --slow-changes N   the same for those who take seconds (default: 24)
  --rate N           questions per second when loaded (default: 2000)
  --seconds N        length of one measurement of questions (default: 3)
  --quick            1 round, few changes, little data; writes no document
  --json FILE        write every sample as JSON
  --document FILE    the page whose section is replaced (default: docs/benchmarks.md, unless --quick)`

export interface Options {
  readonly phases: readonly Phase[]
  readonly rounds: number
  readonly changes: number
  readonly slowChanges: number
  readonly rate: number
  readonly seconds: number
  readonly quick: boolean
  readonly json: string | undefined
  readonly document: string | undefined
}

export function parseOptions(args: string[]): Options {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args,
    options: {
      phases: text,
      rounds: text,
      changes: text,
      'slow-changes': text,
      rate: text,
      seconds: text,
      quick: { type: 'boolean', default: false },
      json: text,
      document: text,
    },
  })
  const { quick } = values
  return {
    phases: chosen('phases', values.phases, PHASES),
    rounds: positive('rounds', values.rounds, quick ? 1 : 4),
    changes: positive('changes', values.changes, quick ? 20 : 2000),
    slowChanges: positive('slow-changes', values['slow-changes'], quick ? 1 : 24),
    rate: positive('rate', values.rate, 2000),
    seconds: positive('seconds', values.seconds, quick ? 1 : 3),
    quick,
    json: values.json,
    document: values.document ?? (quick ? undefined : 'docs/benchmarks.md'),
  }
}
