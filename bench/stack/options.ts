// The command line of `npm run bench:stack`.

import { parseArgs } from 'node:util'
import { chosen, positive } from '../arguments.ts'

const PHASES = ['starts', 'failover', 'idle', 'plan'] as const
export type Phase = (typeof PHASES)[number]

export const USAGE = `Usage: npm run bench:stack -- [options]
  --phases LIST      of ${PHASES.join(',')} (default: all)
  --rounds N         how often each thing is measured (default: 5)
  --idle-seconds N   how long a running lab is looked at (default: 60)
  --quick            1 round, 10 seconds of idling; writes no document
  --json FILE        write every sample as JSON
  --document FILE    the page whose section is replaced (default: docs/benchmarks.md, unless --quick)`

export interface Options {
  readonly phases: readonly Phase[]
  readonly rounds: number
  readonly idleSeconds: number
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
      'idle-seconds': text,
      quick: { type: 'boolean', default: false },
      json: text,
      document: text,
    },
  })
  const { quick } = values
  return {
    phases: chosen('phases', values.phases, PHASES),
    rounds: positive('rounds', values.rounds, quick ? 1 : 5),
    idleSeconds: positive('idle-seconds', values['idle-seconds'], quick ? 10 : 60),
    json: values.json,
    document: values.document ?? (quick ? undefined : 'docs/benchmarks.md'),
  }
}
